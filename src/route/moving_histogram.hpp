// SPDX-License-Identifier: Apache-2.0
//
// The output predictor of AIBrix (pkg/cache/output_predictor.go), as a baseline: counts of requests
// by size class (the nearest power of two) of prompt and answer over the last four minutes, in
// slots of ten seconds. A prediction is a power of two drawn by weight; 1 without history. Fixed
// memory; O(1) an observation, and what a slot held is taken away when it ends. Nothing here fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.hpp"
#include "trace/random.hpp"

namespace negawatt::route {

class MovingHistogram {
 public:
  static constexpr std::size_t kSizes = 24;

  explicit MovingHistogram(std::uint64_t seed);

  /// The size class of `tokens`: log2, rounded.
  [[nodiscard]] static std::size_t size_of(double tokens);

  void add(Seconds now, std::uint32_t input_tokens, std::uint32_t output_tokens);
  /// Draws a prediction; forgets first what is too old at `now`.
  [[nodiscard]] std::uint32_t predict(Seconds now, std::uint32_t input_tokens);

 private:
  static constexpr std::size_t kSlots = 24;
  using Counts = std::array<std::uint32_t, kSizes * kSizes>;

  void advance(Seconds now);

  std::vector<Counts> slots_;
  Counts total_{};
  std::int64_t slot_ = 0;  ///< the current one, counted from time 0
  trace::Random random_;
};

}  // namespace negawatt::route
