// SPDX-License-Identifier: Apache-2.0
//
// Mean, standard error and confidence interval of a few repeats. Pure.
#pragma once

#include <cstddef>
#include <span>

namespace negawatt::sweep {

struct Repeats {
  std::size_t count = 0;
  double mean = 0.0;
  double standard_error = 0.0;  ///< of the mean; 0 for fewer than two repeats: unknown
};

[[nodiscard]] Repeats summarise(std::span<const double> values);

/// The two-sided 95 % quantile of Student's t with `degrees` of freedom, at least 1.
[[nodiscard]] double student_95(std::size_t degrees);

/// Half the width of the 95 % confidence interval of the mean, over the mean; infinite for fewer
/// than two repeats.
[[nodiscard]] double relative_half_width(const Repeats& repeats);

}  // namespace negawatt::sweep
