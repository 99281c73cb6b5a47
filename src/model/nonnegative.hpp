// SPDX-License-Identifier: Apache-2.0
//
// Linear least squares with non-negative unknowns, for fits of few parameters to many rows (Lawson
// and Hanson, Solving Least Squares Problems, 1974, algorithm NNLS). Works on the normal equations
// with columns scaled to one, which is exact enough for physical models whose columns are not
// nearly dependent; a dependent column gets 0. Nothing fails.
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
  /// The least x >= 0.
  [[nodiscard]] std::vector<double> nonnegative() const;

 private:
  std::size_t n_;
  std::vector<double> squares_;  ///< n x n: sum of row row^T
  std::vector<double> product_;  ///< sum of row target
};

}  // namespace negawatt::model
