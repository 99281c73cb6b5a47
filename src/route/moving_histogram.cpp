// SPDX-License-Identifier: Apache-2.0
#include "route/moving_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace negawatt::route {
namespace {

constexpr double kSlotSeconds = 10.0;

}  // namespace

MovingHistogram::MovingHistogram(std::uint64_t seed) : slots_(kSlots), random_(seed) {}

std::size_t MovingHistogram::size_of(double tokens) {
  // log2, rounded: up from sqrt(2) times a power of two.
  const double scaled = std::clamp(tokens * std::numbers::sqrt2, 1.0, 1e9);
  const auto whole = static_cast<std::uint32_t>(scaled);
  return std::min(static_cast<std::size_t>(std::bit_width(whole)) - 1, kSizes - 1);
}

void MovingHistogram::advance(Seconds now) {
  const auto slot = static_cast<std::int64_t>(std::floor(now.in_si() / kSlotSeconds));
  const std::int64_t passed = std::min<std::int64_t>(slot - slot_, kSlots);
  for (std::int64_t i = 1; i <= passed; ++i) {
    Counts& oldest = slots_[static_cast<std::size_t>(slot_ + i) % kSlots];
    for (std::size_t cell = 0; cell < oldest.size(); ++cell) total_[cell] -= oldest[cell];
    oldest.fill(0);
  }
  slot_ = std::max(slot_, slot);
}

void MovingHistogram::add(Seconds now, std::uint32_t input_tokens, std::uint32_t output_tokens) {
  advance(now);
  const std::size_t cell = size_of(input_tokens) * kSizes + size_of(output_tokens);
  ++slots_[static_cast<std::size_t>(slot_) % kSlots][cell];
  ++total_[cell];
}

std::uint32_t MovingHistogram::predict(Seconds now, std::uint32_t input_tokens) {
  advance(now);
  const std::size_t row = size_of(input_tokens) * kSizes;
  std::uint64_t sum = 0;
  for (std::size_t size = 0; size < kSizes; ++size) sum += total_[row + size];
  if (sum == 0) return 1;
  std::uint64_t at = random_.below(sum);
  std::size_t size = 0;
  while (at >= total_[row + size]) at -= total_[row + size++];
  return std::uint32_t{1} << size;
}

}  // namespace negawatt::route
