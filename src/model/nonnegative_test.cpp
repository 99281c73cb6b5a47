// SPDX-License-Identifier: Apache-2.0
#include "model/nonnegative.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

namespace negawatt::model {
namespace {

struct Rows {
  std::vector<std::vector<double>> rows;
  std::vector<double> targets;
};

std::vector<double> solve(const Rows& problem) {
  LeastSquares squares(problem.rows.front().size());
  for (std::size_t i = 0; i < problem.rows.size(); ++i)
    squares.add(problem.rows[i], problem.targets[i]);
  return squares.nonnegative();
}

/// Half the slope of the sum of squares along each unknown.
std::vector<double> slopes(const Rows& problem, const std::vector<double>& x) {
  std::vector<double> slope(x.size(), 0.0);
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    double error = -problem.targets[i];
    for (std::size_t j = 0; j < x.size(); ++j) error += problem.rows[i][j] * x[j];
    for (std::size_t j = 0; j < x.size(); ++j) slope[j] += error * problem.rows[i][j];
  }
  return slope;
}

TEST(Nonnegative, AnExactSolutionIsFound) {
  const auto x = solve({{{1, 2}, {3, 1}, {0, 5}}, {8, 9, 15}});  // x = 2, 3
  EXPECT_NEAR(x[0], 2.0, 1e-12);
  EXPECT_NEAR(x[1], 3.0, 1e-12);
}

TEST(Nonnegative, WhatWouldBeNegativeIsZero) {
  // Unconstrained: x = -1, 2. With the first at 0: (1 * 1 + 1 * 2) / 2.
  const auto x = solve({{{1, 1}, {0, 1}}, {1, 2}});
  EXPECT_EQ(x[0], 0.0);
  EXPECT_NEAR(x[1], 1.5, 1e-12);
}

TEST(Nonnegative, ScalesThatDifferByFifteenOrdersAreNoTrouble) {
  const auto x = solve({{{1e-9, 2e6}, {3e-9, 1e6}, {0, 5e6}}, {8, 9, 15}});
  EXPECT_NEAR(x[0], 2e9, 1e-3);
  EXPECT_NEAR(x[1], 3e-6, 1e-18);
}

TEST(Nonnegative, AColumnOfZeroesAndATwinGetNothingMore) {
  const auto x = solve({{{1, 1, 0}, {2, 2, 0}}, {3, 6}});
  EXPECT_NEAR(x[0] + x[1], 3.0, 1e-9);
  EXPECT_EQ(x[2], 0.0);
}

TEST(Nonnegative, EndsThatBindAreKept) {
  // (x - 5)^2 + (x + y - 6)^2: free 5 and 1. With x at most 3, y is 3, and with both at most 2, 2.
  LeastSquares squares(2);
  squares.add(std::vector<double>{1, 0}, 5);
  squares.add(std::vector<double>{1, 1}, 6);
  const auto within = [&](std::vector<double> least, std::vector<double> most) {
    return squares.within(least, most);
  };
  EXPECT_EQ(within({0, 0}, {3, 10}), (std::vector<double>{3, 3}));
  EXPECT_EQ(within({0, 0}, {2, 2}), (std::vector<double>{2, 2}));
  // With y at least 3: 2 (x - 4)^2 + ... is least halfway between 5 and 3.
  EXPECT_NEAR(within({0, 3}, {9, 9})[0], 4.0, 1e-12);
  EXPECT_EQ(within({0, 3}, {9, 9})[1], 3.0);
}

RC_GTEST_PROP(Nonnegative, NoUnknownBetweenItsEndsCouldMoveAndLowerTheSum, ()) {
  const auto number = [] {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(-1000, 1000)) / 100.0;
  };
  const auto unknowns = *rc::gen::inRange<std::size_t>(1, 8);
  Rows problem;
  for (std::size_t i = 0; i < unknowns + 5; ++i) {
    std::vector<double> row(unknowns);
    for (double& value : row) value = number();
    problem.rows.push_back(row);
    problem.targets.push_back(number());
  }
  std::vector<double> least;
  std::vector<double> most;
  for (std::size_t j = 0; j < unknowns; ++j) {
    least.push_back(number() / 10.0);
    most.push_back(least.back() + std::abs(number()) / 10.0);
  }
  LeastSquares squares(unknowns);
  for (std::size_t i = 0; i < problem.rows.size(); ++i)
    squares.add(problem.rows[i], problem.targets[i]);
  // The conditions of Karush, Kuhn and Tucker: for a convex problem they are enough.
  const auto x = squares.within(least, most);
  const auto slope = slopes(problem, x);
  for (std::size_t j = 0; j < unknowns; ++j) {
    RC_ASSERT(x[j] >= least[j] && x[j] <= most[j]);
    if (x[j] < most[j]) RC_ASSERT(slope[j] >= -1e-6);
    if (x[j] > least[j]) RC_ASSERT(slope[j] <= 1e-6);
  }
}

}  // namespace
}  // namespace negawatt::model
