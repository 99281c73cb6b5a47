// SPDX-License-Identifier: Apache-2.0
#include "solve/gaussian.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/result.hpp"

namespace negawatt::solve {
namespace {

using Coefficients = std::array<double, 8>;

double polynomial(const Coefficients& coefficients, double x) {
  double value = 0.0;
  for (std::size_t power = coefficients.size(); power-- > 0;)
    value = value * x + coefficients[power];
  return value;
}

/// One rational approximation of Wichura's: numerator and denominator, lowest power first.
struct Rational {
  Coefficients numerator;
  Coefficients denominator;
  [[nodiscard]] double at(double x) const {
    return polynomial(numerator, x) / polynomial(denominator, x);
  }
};

constexpr Rational kCentre{
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3}};
constexpr Rational kTail{
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
constexpr Rational kFarTail{
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15U;

}  // namespace

// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988 (PPND16).
double normal_quantile(double probability) {
  NW_ASSERT(probability > 0.0 && probability < 1.0);
  const double centred = probability - 0.5;
  if (std::abs(centred) <= 0.425) return centred * kCentre.at(0.180625 - centred * centred);
  const double r = std::sqrt(-std::log(centred < 0.0 ? probability : 1.0 - probability));
  const double magnitude = r <= 5.0 ? kTail.at(r - 1.6) : kFarTail.at(r - 5.0);
  return std::copysign(magnitude, centred);
}

GaussianStream::GaussianStream(std::uint64_t seed, std::uint64_t stream)
    : key_(mix(mix(seed + kGoldenGamma) ^ mix(stream + 2 * kGoldenGamma))) {}

double GaussianStream::at(std::uint64_t n) const {
  // SplitMix64's n-th output; the half keeps the probability away from 0 and 1.
  const std::uint64_t bits = mix(key_ + (n + 1) * kGoldenGamma);
  return normal_quantile((static_cast<double>(bits >> 12U) + 0.5) * 0x1p-52);
}

// Cholesky. A component that the earlier ones determine is left with rounding on its diagonal:
// it gets a zero column instead.
CorrelatedGaussian::CorrelatedGaussian(std::vector<double> covariance, std::size_t size)
    : size_(size), factor_(std::move(covariance)) {
  constexpr double kRounding = 1e-12;
  NW_ASSERT(factor_.size() == size * size);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double rest = at(row, column);
      for (std::size_t k = 0; k < column; ++k) rest -= at(row, k) * at(column, k);
      if (row == column)
        at(row, row) = rest > kRounding * at(row, row) ? std::sqrt(rest) : 0.0;
      else
        at(row, column) = at(column, column) > 0.0 ? rest / at(column, column) : 0.0;
    }
  }
}

void CorrelatedGaussian::draw(const GaussianStream& source, std::uint64_t n,
                              std::vector<double>& into) const {
  into.assign(size_, 0.0);
  for (std::size_t column = 0; column < size_; ++column) {
    const double independent = source.at(n * size_ + column);
    for (std::size_t row = column; row < size_; ++row)
      into[row] += factor_[row * size_ + column] * independent;
  }
}

}  // namespace negawatt::solve
