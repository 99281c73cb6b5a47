// SPDX-License-Identifier: Apache-2.0
#include "model/nonnegative.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/result.hpp"

namespace negawatt::model {
namespace {

/// Normal equations with a unit diagonal, and those unknowns that are not held at 0 or at their
/// top.
class Problem {
 public:
  Problem(std::vector<double> squares, std::vector<double> product, std::vector<double> top)
      : n_(product.size()),
        squares_(std::move(squares)),
        product_(std::move(product)),
        top_(std::move(top)),
        x_(n_, 0.0) {}

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
  /// The unknown at one of its ends whose way inwards lowers the sum most.
  [[nodiscard]] std::optional<std::size_t> steepest() const {
    std::optional<std::size_t> best;
    double least = 1e-10;
    for (std::size_t i = 0; i < n_; ++i) {
      if (std::ranges::count(free_, i) + std::ranges::count(refused_, i) > 0) continue;
      double slope = product_[i];
      for (std::size_t j = 0; j < n_; ++j) slope -= squares_[i * n_ + j] * x_[j];
      if (x_[i] > 0.0) slope = -slope;
      if (slope > least) {
        least = slope;
        best = i;
      }
    }
    return best;
  }

  /// Moves to the least sum of the free unknowns, dropping those that meet an end on the way.
  /// False when the last one freed is dependent on the others.
  bool settle() {
    while (!free_.empty()) {
      const auto target = unconstrained();
      if (!target) return false;
      std::vector<Move> moves(free_.size());
      double step = 1.0;
      for (std::size_t k = 0; k < moves.size(); ++k) {
        moves[k] = {free_[k], (*target)[k], way(free_[k], (*target)[k])};
        step = std::min(step, moves[k].reach);
      }
      for (const auto& move : moves) x_[move.unknown] += step * (move.target - x_[move.unknown]);
      if (step >= 1.0) return true;
      drop(moves, step);
    }
    return true;
  }

  /// Of a free unknown to its target.
  struct Move {
    std::size_t unknown = 0;
    double target = 0.0;
    double reach = 1.0;  ///< share of the way after which it meets an end
  };

  /// The share of the way of unknown `i` to `target` after which it meets an end; 1: none.
  [[nodiscard]] double way(std::size_t i, double target) const {
    constexpr double kTiny = 1e-300;
    if (target <= 0.0) return x_[i] / std::max(x_[i] - target, kTiny);
    if (target >= top_[i]) return (top_[i] - x_[i]) / std::max(target - x_[i], kTiny);
    return 1.0;
  }

  /// Those that have met an end after `step` stay there; at least one has.
  void drop(const std::vector<Move>& moves, double step) {
    free_.clear();
    for (const auto& move : moves) {
      if (move.reach <= step)
        x_[move.unknown] = move.target <= 0.0 ? 0.0 : top_[move.unknown];
      else
        free_.push_back(move.unknown);
    }
  }

  /// What is asked of unknown `i`, less what the unknowns that are not free give.
  [[nodiscard]] double product_left(std::size_t i) const {
    double sum = product_[i];
    for (std::size_t j = 0; j < n_; ++j)
      if (x_[j] > 0.0 && std::ranges::count(free_, j) == 0) sum -= squares_[i * n_ + j] * x_[j];
    return sum;
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
      double sum = product_left(free_[i]);
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
  std::vector<double> top_;
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

std::vector<double> LeastSquares::within(std::span<const double> least,
                                         std::span<const double> most) const {
  std::vector<double> scale(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    NW_ASSERT(least[i] <= most[i]);
    const double square = squares_[i * n_ + i];
    scale[i] = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
  }
  std::vector<double> squares(n_ * n_);
  std::vector<double> product(n_);
  std::vector<double> top(n_, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < n_; ++i) {
    product[i] = product_[i];
    for (std::size_t j = 0; j < n_; ++j) {
      squares[i * n_ + j] = squares_[i * n_ + j] * scale[i] * scale[j];
      product[i] -= squares_[i * n_ + j] * least[j];
    }
    product[i] *= scale[i];
    if (scale[i] > 0.0) top[i] = (most[i] - least[i]) / scale[i];
  }
  std::vector<double> x = Problem(std::move(squares), std::move(product), top).solve();
  for (std::size_t i = 0; i < n_; ++i)  // what is at its top is there exactly
    x[i] = x[i] >= top[i] ? most[i] : std::min(least[i] + x[i] * scale[i], most[i]);
  return x;
}

std::vector<double> LeastSquares::nonnegative() const {
  return within(std::vector<double>(n_, 0.0),
                std::vector<double>(n_, std::numeric_limits<double>::infinity()));
}

}  // namespace negawatt::model
