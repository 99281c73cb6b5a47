// SPDX-License-Identifier: Apache-2.0
#include "sweep/statistics.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace negawatt::sweep {

Repeats summarise(std::span<const double> values) {
  Repeats repeats{.count = values.size()};
  if (values.empty()) return repeats;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) repeats.mean += value / count;
  if (values.size() < 2) return repeats;
  double squares = 0.0;
  for (const double value : values) squares += (value - repeats.mean) * (value - repeats.mean);
  repeats.standard_error = std::sqrt(squares / (count - 1.0) / count);
  return repeats;
}

void PooledDeviation::add(const Repeats& group) {
  if (group.count < 2 || group.mean == 0.0) return;
  const auto degrees = group.count - 1;
  squares_ += static_cast<double>(degrees) * group.variance() / (group.mean * group.mean);
  degrees_ += degrees;
}

std::optional<double> PooledDeviation::relative() const {
  if (degrees_ == 0) return std::nullopt;
  return std::sqrt(squares_ / static_cast<double>(degrees_));
}

double student_95(std::size_t degrees) {
  // Fisher and Yates, Statistical Tables, table III.
  constexpr std::array kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees <= kTable.size()) return kTable.at(degrees == 0 ? 0 : degrees - 1);
  // Abramowitz and Stegun 1964, 26.7.5: within 0.0005 from 31 degrees on.
  constexpr double kNormal = 1.959964;
  constexpr double kCube = kNormal * kNormal * kNormal;
  constexpr double kFirst = (kCube + kNormal) / 4.0;
  constexpr double kSecond =
      (5.0 * kCube * kNormal * kNormal + 16.0 * kCube + 3.0 * kNormal) / 96.0;
  const auto n = static_cast<double>(degrees);
  return kNormal + kFirst / n + kSecond / (n * n);
}

double relative_half_width(const Repeats& repeats) {
  if (repeats.count < 2 || repeats.mean == 0.0) return std::numeric_limits<double>::infinity();
  return student_95(repeats.count - 1) * repeats.standard_error / std::abs(repeats.mean);
}

}  // namespace negawatt::sweep
