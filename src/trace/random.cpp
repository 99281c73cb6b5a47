// SPDX-License-Identifier: Apache-2.0
#include "trace/random.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

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

/// 1/n!
constexpr auto kInverseFactorial = [] {
  std::array<double, 15> inverse{};
  double factorial = 1.0;
  for (std::size_t n = 0; n < inverse.size(); ++n) {
    factorial *= n > 0 ? static_cast<double>(n) : 1.0;
    inverse[n] = 1.0 / factorial;
  }
  return inverse;
}();

/// 1/(2k + 1)
constexpr auto kInverseOdd = [] {
  std::array<double, 12> inverse{};
  for (std::size_t k = 0; k < inverse.size(); ++k) {
    inverse[k] = 1.0 / static_cast<double>(2 * k + 1);
  }
  return inverse;
}();

/// (-1)^k / (2k + 1)!
constexpr auto kSine = [] {
  std::array<double, 12> series{};
  double factorial = 1.0;
  for (std::size_t k = 0; k < series.size(); ++k) {
    factorial *= k > 0 ? -static_cast<double>(2 * k * (2 * k + 1)) : 1.0;
    series[k] = 1.0 / factorial;
  }
  return series;
}();

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

double same_log(double x) {
  // x = 2^k m with m around 1; log m = 2 artanh((m - 1) / (m + 1)), |argument| <= 0.172.
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52U) - 1;
  const auto raw = std::bit_cast<std::uint64_t>(x);
  int power = static_cast<int>(raw >> 52U) - 1023;
  auto m = std::bit_cast<double>((raw & kMantissa) | (std::uint64_t{1023} << 52U));
  if (m > std::numbers::sqrt2) {
    m *= 0.5;
    ++power;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  double series = 0.0;
  for (std::size_t k = kInverseOdd.size(); k-- > 0;) series = series * square + kInverseOdd[k];
  return power * std::numbers::ln2 + 2.0 * s * series;
}

double same_exp(double x) {
  const double power = std::floor(x * std::numbers::log2e + 0.5);
  // ln 2 in two parts, the first with room for an exact product (Cody and Waite 1980).
  constexpr double kHigh = 0x1.62e42fee00000p-1;
  constexpr double kLow = 0x1.a39ef35793c76p-33;
  const double rest = (x - power * kHigh) - power * kLow;
  double series = 0.0;
  for (std::size_t n = kInverseFactorial.size(); n-- > 0;) {
    series = series * rest + kInverseFactorial[n];
  }
  // 2^power straight into the exponent where it is a normal number.
  constexpr double kMostNormal = 1000.0;
  if (power > -kMostNormal && power < kMostNormal) {
    const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(power) + 1023);
    return series * std::bit_cast<double>(exponent << 52U);
  }
  return power < 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
}

double same_sine(double turn) {
  // The quarter in which the turn lies decides the sign and the direction.
  double quarter = turn * 4.0;
  double sign = 1.0;
  if (quarter > 2.0) {
    quarter -= 2.0;
    sign = -1.0;
  }
  if (quarter > 1.0) quarter = 2.0 - quarter;
  const double x = quarter * (0.5 * std::numbers::pi);
  const double square = x * x;
  double series = 0.0;
  for (std::size_t k = kSine.size(); k-- > 0;) series = series * square + kSine[k];
  return sign * x * series;
}

}  // namespace negawatt::trace
