// SPDX-License-Identifier: Apache-2.0
//
// Mean, standard error and confidence interval of a few repeats. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace negawatt::sweep {

struct Repeats {
  std::size_t count = 0;
  double mean = 0.0;
  double standard_error = 0.0;  ///< of the mean; 0 for fewer than two repeats: unknown

  /// Of one repeat; 0 for fewer than two: unknown.
  [[nodiscard]] double variance() const {
    return standard_error * standard_error * static_cast<double>(count);
  }
};

[[nodiscard]] Repeats summarise(std::span<const double> values);

/// Standard deviation of one repeat over its mean, pooled over groups of repeats that may have
/// different means. Nothing without a group of two.
class PooledDeviation {
 public:
  void add(const Repeats& group);
  [[nodiscard]] std::optional<double> relative() const;

 private:
  double squares_ = 0.0;
  std::size_t degrees_ = 0;
};

/// The two-sided 95 % quantile of Student's t with `degrees` of freedom, at least 1.
[[nodiscard]] double student_95(std::size_t degrees);

/// Half the width of the 95 % confidence interval of the mean, over the mean; infinite for fewer
/// than two repeats.
[[nodiscard]] double relative_half_width(const Repeats& repeats);

}  // namespace negawatt::sweep
