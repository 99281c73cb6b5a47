// SPDX-License-Identifier: Apache-2.0
//
// Linear least squares with unknowns that have a least and a most, for fits of few parameters to
// many rows (Lawson and Hanson, Solving Least Squares Problems, 1974, algorithm NNLS; with upper
// ends, Stark and Parker, Bounded-Variable Least-Squares, 1995). Works on the normal equations
// with columns scaled to one, which is exact enough for physical models whose columns are not
// nearly dependent; a dependent column stays at its least. Nothing fails.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace negawatt::model {

/// Sum over rows of (row . x - target)^2, gathered row by row.
class LeastSquares {
 public:
  explicit LeastSquares(std::size_t unknowns);

  void add(std::span<const double> row, double target);
  /// The x of the least sum with least <= x <= most, both as long as there are unknowns; `most` may
  /// be infinite.
  [[nodiscard]] std::vector<double> within(std::span<const double> least,
                                           std::span<const double> most) const;
  /// Likewise with x >= 0.
  [[nodiscard]] std::vector<double> nonnegative() const;

 private:
  std::size_t n_;
  std::vector<double> squares_;  ///< n x n: sum of row row^T
  std::vector<double> product_;  ///< sum of row target
};

}  // namespace negawatt::model
