// SPDX-License-Identifier: Apache-2.0
//
// Sparse linear least squares: rows "sum of coefficient * step = wanted, within sigma", solved for
// the step by conjugate gradients on the damped normal equations (Hestenes and Stiefel 1952),
// preconditioned with their diagonal. Deterministic: no threads, a fixed order of summation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace negawatt::calibrate {

struct Term {
  std::uint32_t variable = 0;
  double coefficient = 0.0;
};

class Rows {
 public:
  /// Each term and what is wanted are divided by sigma > 0, the error that counts as one.
  void add(std::span<const Term> terms, double wanted, double sigma);

  [[nodiscard]] std::size_t size() const { return wanted_.size(); }
  [[nodiscard]] std::span<const Term> terms(std::size_t row) const {
    return std::span(terms_).subspan(first_[row], first_[row + 1] - first_[row]);
  }
  [[nodiscard]] double wanted(std::size_t row) const { return wanted_[row]; }
  /// Sum of squares of what is wanted: what there is to gain.
  [[nodiscard]] double squares() const;

 private:
  std::vector<Term> terms_;
  std::vector<std::size_t> first_ = {0};
  std::vector<double> wanted_;
};

struct Effort {
  double damping = 1e-9;  ///< added to the diagonal, relative to it and absolute
  int iterations = 200;
};

/// The step of `variables` numbers that makes the rows' squared errors small.
[[nodiscard]] std::vector<double> least_squares(const Rows& rows, std::size_t variables,
                                                Effort effort);

}  // namespace negawatt::calibrate
