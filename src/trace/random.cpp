// SPDX-License-Identifier: Apache-2.0
#include "trace/random.hpp"

#include <bit>
#include <cmath>

namespace negawatt::trace {
namespace {

/// SplitMix64 (Steele, Lea and Flood 2014), with the constants of Vigna's public-domain code.
std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Random::Random(RandomStream of) {
  // The stream is mixed first, so that (seed, stream) and (seed + 1, stream - 1) have no relation.
  std::uint64_t state = of.stream;
  state = of.seed ^ split_mix(state);
  for (std::uint64_t& word : state_) word = split_mix(state);
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5U, 7) * 9U;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() {
  constexpr double kUnit = 0x1.0p-52;
  return (static_cast<double>(bits() >> 12U) + 0.5) * kUnit;
}

std::uint64_t Random::below(std::uint64_t count) {
  // Rejects the incomplete last block of 2^64.
  const std::uint64_t spare = (0 - count) % count;
  std::uint64_t draw = bits();
  while (draw < spare) draw = bits();
  return draw % count;
}

double Random::exponential() { return -same_log(uniform()); }

double Random::normal() {
  while (true) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double square = x * x + y * y;
    // The second number of the pair is not kept: a draw depends on the state alone.
    if (square < 1.0 && square > 0.0) return x * std::sqrt(-2.0 * same_log(square) / square);
  }
}

double Random::gamma(double shape) {
  if (shape < 1.0) return gamma(shape + 1.0) * same_exp(same_log(uniform()) / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    if (same_log(uniform()) < 0.5 * x * x + d - d * v + d * same_log(v)) return d * v;
  }
}

}  // namespace negawatt::trace
