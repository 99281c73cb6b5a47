// SPDX-License-Identifier: Apache-2.0
#include "sweep/itinerary.hpp"

#include <algorithm>
#include <utility>

#include "core/result.hpp"
#include "sweep/statistics.hpp"

namespace negawatt::sweep {
namespace {

/// Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators" (SplitMix64).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

Itinerary::Itinerary(std::size_t kernels, std::vector<trace::ClockPair> pairs, StopRule rule,
                     std::uint64_t seed)
    : kernels_(kernels),
      pairs_(std::move(pairs)),
      rule_(rule),
      random_(seed),
      energies_(kernels_ * pairs_.size()),
      given_up_(energies_.size()) {}

void Itinerary::note(const Visit& visit) {
  const auto pair = std::ranges::find(pairs_, visit.clocks);
  if (pair == pairs_.end() || visit.kernel >= kernels_) return;  // of an earlier, wider sweep
  const auto at = index_of(visit.kernel, static_cast<std::size_t>(pair - pairs_.begin()));
  energies_[at].push_back(visit.energy.in_si());
  ++noted_;
}

void Itinerary::give_up(const Stop& stop) {
  const auto pair = std::ranges::find(pairs_, stop.clocks);
  NW_ASSERT(pair != pairs_.end() && stop.kernel < kernels_);
  given_up_[index_of(stop.kernel, static_cast<std::size_t>(pair - pairs_.begin()))] = true;
  std::erase_if(round_, [&stop](const Stop& other) {
    return other.kernel == stop.kernel && other.clocks == stop.clocks;
  });
}

void Itinerary::give_up(trace::ClockPair clocks) {
  for (std::uint32_t kernel = 0; kernel < kernels_; ++kernel) give_up(Stop{kernel, clocks});
}

std::size_t Itinerary::still_wanted(std::size_t kernel, std::size_t pair) const {
  if (given_up_[index_of(kernel, pair)]) return 0;
  const auto& seen = energies(kernel, pair);
  if (seen.size() < rule_.least_visits) return rule_.least_visits - seen.size();
  if (seen.size() >= rule_.most_visits) return 0;
  return relative_half_width(summarise(seen)) > rule_.half_width ? 1 : 0;
}

std::size_t Itinerary::left() const {
  std::size_t left = 0;
  for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
    for (std::size_t kernel = 0; kernel < kernels_; ++kernel) left += still_wanted(kernel, pair);
  return left;
}

void Itinerary::start_round() {
  std::vector<std::size_t> order(pairs_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i)  // Fisher and Yates
    std::swap(order[i - 1], order[next_random(random_) % i]);
  // Clocks change once a pair, not once a visit.
  for (const auto pair : order) {
    for (std::size_t kernel = 0; kernel < kernels_; ++kernel)
      if (still_wanted(kernel, pair) > 0)
        round_.push_back({static_cast<std::uint32_t>(kernel), pairs_[pair]});
  }
  std::ranges::reverse(round_);
}

std::optional<Stop> Itinerary::next() {
  if (round_.empty()) start_round();
  if (round_.empty()) return std::nullopt;
  const auto stop = round_.back();
  round_.pop_back();
  return stop;
}

}  // namespace negawatt::sweep
