// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna, "Scrambled
// linear pseudorandom number generators", 2018), seeded by SplitMix64 as its authors ask, and our
// own transforms. The distributions and elementary functions of the standard library differ between
// libraries in their last digits; those here use only IEEE 754 addition, multiplication, division
// and square root, without contraction into fused operations (see trace/CMakeLists.txt). Relative
// error of log and exp: a few units in the last place. Nothing here fails.
#pragma once

#include <array>
#include <cstdint>

#include "core/same_functions.hpp"

namespace negawatt::trace {

/// Streams of one seed are independent of each other.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

class Random {
 public:
  explicit Random(RandomStream of);
  /// The first stream of a seed.
  explicit Random(std::uint64_t seed) : Random(RandomStream{.seed = seed}) {}

  [[nodiscard]] std::uint64_t bits();
  /// Uniform in (0, 1): never 0, never 1.
  [[nodiscard]] double uniform();
  /// Uniform in 0 ... count - 1, without bias; count > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t count);
  /// Exponential with mean 1.
  [[nodiscard]] double exponential();
  /// Normal with mean 0 and variance 1, by the polar method of Marsaglia and Bray (1964).
  [[nodiscard]] double normal();
  /// Gamma with this shape and scale 1, by Marsaglia and Tsang (2000).
  [[nodiscard]] double gamma(double shape);

 private:
  std::array<std::uint64_t, 4> state_;
};

using negawatt::same_exp;
using negawatt::same_log;
using negawatt::same_sine;

}  // namespace negawatt::trace
