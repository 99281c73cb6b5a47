// SPDX-License-Identifier: Apache-2.0
#include "model/nonnegative.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/result.hpp"

namespace negawatt::model {
namespace {

/// Normal equations with a unit diagonal, and those unknowns that are not held at 0.
class Problem {
 public:
  Problem(std::size_t n, std::vector<double> squares, std::vector<double> product)
      : n_(n), squares_(std::move(squares)), product_(std::move(product)), x_(n, 0.0) {}

  [[nodiscard]] const std::vector<double>& solve() {
    // Each pass frees one unknown; a cycle is impossible in theory, and cut off in rounding.
    for (std::size_t pass = 0; pass < 10 * n_ + 10; ++pass) {
      const auto entering = steepest();
      if (!entering) break;
      free_.push_back(*entering);
      if (!settle()) {
        refused_.push_back(*entering);
        std::erase(free_, *entering);
      }
    }
    return x_;
  }

 private:
  /// The unknown at 0 whose growth lowers the sum most.
  [[nodiscard]] std::optional<std::size_t> steepest() const {
    std::optional<std::size_t> best;
    double least = 1e-10;
    for (std::size_t i = 0; i < n_; ++i) {
      if (std::ranges::count(free_, i) + std::ranges::count(refused_, i) > 0) continue;
      double slope = product_[i];
      for (std::size_t j = 0; j < n_; ++j) slope -= squares_[i * n_ + j] * x_[j];
      if (slope > least) {
        least = slope;
        best = i;
      }
    }
    return best;
  }

  /// Moves to the least sum of the free unknowns, dropping those that would become negative.
  /// False when the last one freed is dependent on the others.
  bool settle() {
    while (!free_.empty()) {
      const auto target = unconstrained();
      if (!target) return false;
      double step = 1.0;
      for (std::size_t k = 0; k < free_.size(); ++k) {
        const double from = x_[free_[k]];
        const double to = (*target)[k];
        if (to <= 0.0) step = std::min(step, from / std::max(from - to, 1e-300));
      }
      for (std::size_t k = 0; k < free_.size(); ++k)
        x_[free_[k]] += step * ((*target)[k] - x_[free_[k]]);
      if (step >= 1.0) return true;
      drop_zeros(*target);
    }
    return true;
  }

  void drop_zeros(const std::vector<double>& target) {
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const std::size_t i = free_[k];
      if (target[k] <= 0.0 && x_[i] <= 1e-14)
        x_[i] = 0.0;
      else
        kept.push_back(i);
    }
    free_ = std::move(kept);
  }

  /// Cholesky on the free unknowns; none when they are dependent.
  [[nodiscard]] std::optional<std::vector<double>> unconstrained() const {
    const std::size_t m = free_.size();
    std::vector<double> factor(m * m, 0.0);
    std::vector<double> solution(m);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = squares_[free_[i] * n_ + free_[j]];
        for (std::size_t k = 0; k < j; ++k) sum -= factor[i * m + k] * factor[j * m + k];
        if (i == j && sum < 1e-12) return std::nullopt;
        factor[i * m + j] = i == j ? std::sqrt(sum) : sum / factor[j * m + j];
      }
      double sum = product_[free_[i]];
      for (std::size_t k = 0; k < i; ++k) sum -= factor[i * m + k] * solution[k];
      solution[i] = sum / factor[i * m + i];
    }
    for (std::size_t i = m; i-- > 0;) {
      for (std::size_t k = i + 1; k < m; ++k) solution[i] -= factor[k * m + i] * solution[k];
      solution[i] /= factor[i * m + i];
    }
    return solution;
  }

  std::size_t n_;
  std::vector<double> squares_;
  std::vector<double> product_;
  std::vector<double> x_;
  std::vector<std::size_t> free_;
  std::vector<std::size_t> refused_;
};

}  // namespace

LeastSquares::LeastSquares(std::size_t unknowns)
    : n_(unknowns), squares_(unknowns * unknowns, 0.0), product_(unknowns, 0.0) {}

void LeastSquares::add(std::span<const double> row, double target) {
  NW_ASSERT(row.size() == n_);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j) squares_[i * n_ + j] += row[i] * row[j];
    product_[i] += row[i] * target;
  }
}

std::vector<double> LeastSquares::nonnegative() const {
  std::vector<double> scale(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    const double square = squares_[i * n_ + i];
    scale[i] = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
  }
  std::vector<double> squares(n_ * n_);
  std::vector<double> product(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j)
      squares[i * n_ + j] = squares_[i * n_ + j] * scale[i] * scale[j];
    product[i] = product_[i] * scale[i];
  }
  std::vector<double> x = Problem(n_, std::move(squares), std::move(product)).solve();
  for (std::size_t i = 0; i < n_; ++i) x[i] *= scale[i];
  return x;
}

}  // namespace negawatt::model
