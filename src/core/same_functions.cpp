// SPDX-License-Identifier: Apache-2.0
#include "core/same_functions.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace negawatt {
namespace {

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

double same_log1p(double x) {
  // What 1 + x loses of x is made good by the quotient (Kahan, as in Goldberg 1991, theorem 4).
  const double sum = 1.0 + x;
  if (sum == 1.0) return x;
  if (sum == 0.0) return -std::numeric_limits<double>::infinity();
  return same_log(sum) * (x / (sum - 1.0));
}

double same_expm1(double x) {
  // Likewise (Kahan; Higham 2002, section 1.14.1).
  const double power = same_exp(x);
  if (power == 1.0) return x;
  if (power == 0.0 || std::isinf(power)) return power - 1.0;
  return (power - 1.0) * (x / same_log(power));
}

}  // namespace negawatt
