// SPDX-License-Identifier: Apache-2.0
#include "route/output_lengths.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/result.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

constexpr std::size_t kBins = LengthGrid::kBins;
constexpr double kPriorOfClass = 1.0;  // ended answers
constexpr double kPriorOfSize = 8.0;

double mean_of_bin(std::size_t bin) {
  return LengthGrid::first_of(bin) + 0.5 * (LengthGrid::width_of(bin) - 1.0);
}

/// Log-normal with median 100 and sigma 1.2, as chat answers roughly are: mean 205.
LengthTable built_in_prior() {
  constexpr double kMedian = 100.0;
  constexpr double kSigma = 1.2;
  std::array<double, kBins> probability{};
  double sum = 0.0;
  for (std::size_t bin = 1; bin < kBins; ++bin) {
    const double z = trace::same_log(mean_of_bin(bin) / kMedian) / kSigma;
    probability[bin] = trace::same_exp(-0.5 * z * z) / mean_of_bin(bin) * LengthGrid::width_of(bin);
    sum += probability[bin];
  }
  for (double& p : probability) p /= sum;
  return LengthTable(probability);
}

}  // namespace

std::size_t LengthGrid::bin_of(std::uint32_t tokens) {
  if (tokens < 32) return tokens;
  if (tokens >= kMost) return kBins - 1;
  const auto octave = static_cast<std::size_t>(std::bit_width(tokens)) - 6;  // 0 from 32 on
  return 32 + octave * 16 + ((tokens >> (octave + 1)) - 16);
}

std::uint32_t LengthGrid::first_of(std::size_t bin) {
  if (bin < 32) return static_cast<std::uint32_t>(bin);
  const std::size_t octave = (bin - 32) / 16;
  return static_cast<std::uint32_t>((16 + (bin - 32) % 16) << (octave + 1));
}

std::uint32_t LengthGrid::width_of(std::size_t bin) {
  return bin < 32 || bin == kBins - 1 ? 1 : 2U << ((bin - 32) / 16);
}

LengthTable::LengthTable() = default;

LengthTable::LengthTable(std::span<const double, kBins> probability) {
  for (std::size_t bin = kBins; bin-- > 0;) {
    survival_[bin] = survival_[bin + 1] + probability[bin];
    tail_mean_[bin] = tail_mean_[bin + 1] + probability[bin] * mean_of_bin(bin);
  }
}

double LengthTable::share_from(std::uint32_t tokens) const {
  const std::size_t bin = LengthGrid::bin_of(tokens);
  const double below = std::min(tokens, LengthGrid::kMost) - LengthGrid::first_of(bin);
  return survival_[bin] - probability_of(bin) * below / LengthGrid::width_of(bin);
}

double LengthTable::mean_above(std::uint32_t produced) const {
  const std::uint32_t least = std::min(produced, LengthGrid::kMost - 1) + 1;
  const std::size_t bin = LengthGrid::bin_of(least);
  // The part of the bin from `least` on, and all the bins above.
  const double width = LengthGrid::width_of(bin);
  const double last = LengthGrid::first_of(bin) + width - 1.0;
  const double share = probability_of(bin) * (last - least + 1.0) / width;
  const double total = share + survival_[bin + 1];
  if (total <= 0.0) return least;
  return (share * 0.5 * (least + last) + tail_mean_[bin + 1]) / total;
}

std::uint32_t LengthTable::quantile(double probability) const {
  const double above = 1.0 - probability;  // the share that may be longer
  // The last bin that more than this share reaches.
  const auto after = std::partition_point(survival_.begin() + 1, survival_.end() - 1,
                                          [&](double share) { return share > above; });
  const auto bin = static_cast<std::size_t>(after - survival_.begin()) - 1;
  const double width = LengthGrid::width_of(bin);
  const double inside = probability_of(bin);
  if (inside <= 0.0) return LengthGrid::first_of(bin);
  const double steps = std::ceil((survival_[bin] - above) / inside * width - 1e-9);
  return LengthGrid::first_of(bin) + static_cast<std::uint32_t>(std::clamp(steps, 1.0, width)) - 1;
}

LengthEstimate::LengthEstimate(double half_life)
    : growth_(half_life > 0.0 ? std::exp2(1.0 / half_life) : 1.0),
      memory_(half_life > 0.0 ? half_life : std::numeric_limits<double>::infinity()) {}

bool LengthEstimate::is_stale() const {
  constexpr double kParts = 16.0;
  return kParts * static_cast<double>(unseen_) > std::min(static_cast<double>(observed_), memory_);
}

void LengthEstimate::observe(std::array<double, kBins>& counts, std::uint32_t tokens) {
  constexpr double kTooHeavy = 1e100;
  weight_ *= growth_;
  counts[LengthGrid::bin_of(tokens)] += weight_;
  ++observed_;
  ++unseen_;
  if (weight_ < kTooHeavy) return;
  for (double& count : ended_) count /= weight_;
  for (double& count : cancelled_) count /= weight_;
  weight_ = 1.0;
}

void LengthEstimate::ended(std::uint32_t tokens) { observe(ended_, tokens); }

void LengthEstimate::cancelled(std::uint32_t tokens) { observe(cancelled_, tokens); }

void LengthEstimate::moved(std::uint32_t from, std::uint32_t to) {
  if (from > 0) running_[LengthGrid::bin_of(from)] -= 1.0;
  if (to > 0) running_[LengthGrid::bin_of(to)] += 1.0;
  if (from == 0) ++observed_;
  ++unseen_;
}

void LengthEstimate::refresh(const LengthTable& prior, double prior_weight) {
  // From the longest on: how many are known to reach each bin.
  std::array<double, kBins> hazard;
  double at_risk = 0.0;
  double prior_at_risk = 0.0;
  for (std::size_t bin = kBins; bin-- > 0;) {
    const double expected = prior_weight * prior.probability_of(bin);
    const double ended = ended_[bin] / weight_;
    // Zero or more by contract; a caller that tells of a progress twice must not do harm.
    const double censored = cancelled_[bin] / weight_ + std::max(0.0, running_[bin]);
    at_risk += ended + censored;
    prior_at_risk += expected;
    // In a wide bin half of the censored were watched, on average, for half of it (actuarial).
    const double watched = at_risk - (LengthGrid::width_of(bin) > 1 ? 0.5 * censored : 0.0);
    const double total = prior_at_risk + watched;
    hazard[bin] = total > 0.0 ? (expected + ended) / total : 1.0;
  }
  hazard[kBins - 1] = 1.0;
  std::array<double, kBins> probability;
  double survival = 1.0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    probability[bin] = survival * hazard[bin];
    survival -= probability[bin];
  }
  table_ = LengthTable(probability);
  unseen_ = 0;
}

OutputLengths::OfClass::OfClass(double half_life)
    : all(half_life), by_size(kSizes, LengthEstimate(half_life)) {}

OutputLengths::OutputLengths(std::size_t classes, double half_life) : prior_(built_in_prior()) {
  NW_ASSERT(classes > 0);
  classes_.assign(classes, OfClass(half_life));
  for (OfClass& of_class : classes_) of_class.all.refresh(prior_, kPriorOfClass);
}

std::size_t OutputLengths::class_of(Key key) const {
  return std::min<std::size_t>(key.request_class, classes_.size() - 1);
}

std::size_t OutputLengths::size_of(Key key) {
  return std::min(static_cast<std::size_t>(std::bit_width(key.input_tokens)), kSizes - 1);
}

std::array<LengthEstimate*, 2> OutputLengths::both_of(Key key) {
  OfClass& of_class = classes_[class_of(key)];
  return {&of_class.all, &of_class.by_size[size_of(key)]};
}

void OutputLengths::ended(Key key, Reached reached) {
  for (LengthEstimate* estimate : both_of(key)) {
    if (reached.before > 0) estimate->moved(reached.before, 0);
    estimate->ended(reached.tokens);
  }
  refresh(key);
}

void OutputLengths::cancelled(Key key, Reached reached) {
  for (LengthEstimate* estimate : both_of(key)) {
    if (reached.before > 0) estimate->moved(reached.before, 0);
    estimate->cancelled(reached.tokens);
  }
  refresh(key);
}

void OutputLengths::progressed(Key key, Reached reached) {
  for (LengthEstimate* estimate : both_of(key)) estimate->moved(reached.before, reached.tokens);
  refresh(key);
}

void OutputLengths::refresh(Key key) {
  const auto [of_class, of_size] = both_of(key);
  if (of_class->is_stale()) of_class->refresh(prior_, kPriorOfClass);
  if (of_size->is_stale()) of_size->refresh(of_class->table(), kPriorOfSize);
}

const LengthTable& OutputLengths::of(Key key) const {
  const OfClass& of_class = classes_[class_of(key)];
  const LengthEstimate& of_size = of_class.by_size[size_of(key)];
  return of_size.is_empty() ? of_class.all.table() : of_size.table();
}

}  // namespace negawatt::route
