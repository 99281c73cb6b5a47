// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/least_squares.hpp"

#include <gtest/gtest.h>

#include <array>

namespace negawatt::calibrate {
namespace {

TEST(LeastSquares, WeighsRowsByTheirSigma) {
  Rows rows;
  rows.add(std::array{Term{0, 1.0}}, 1.0, 0.5);  // four times the weight of the next
  rows.add(std::array{Term{0, 1.0}}, 6.0, 1.0);
  EXPECT_DOUBLE_EQ(rows.squares(), 4.0 + 36.0);
  EXPECT_NEAR(least_squares(rows, 1, {1e-12, 10}).at(0), 2.0, 1e-9);
}

TEST(LeastSquares, SolvesAFullSystemExactly) {
  Rows rows;  // x + 2y = 5, 3x - y = 1: x = 1, y = 2
  rows.add(std::array{Term{0, 1.0}, Term{1, 2.0}}, 5.0, 1.0);
  rows.add(std::array{Term{0, 3.0}, Term{1, -1.0}}, 1.0, 1.0);
  const auto step = least_squares(rows, 2, {1e-12, 20});
  EXPECT_NEAR(step.at(0), 1.0, 1e-8);
  EXPECT_NEAR(step.at(1), 2.0, 1e-8);
}

TEST(LeastSquares, LeavesAVariableAloneThatNoRowNames) {
  Rows rows;
  rows.add(std::array{Term{1, 2.0}}, 4.0, 1.0);
  EXPECT_DOUBLE_EQ(least_squares(rows, 2, {1e-12, 10}).at(0), 0.0);
}

}  // namespace
}  // namespace negawatt::calibrate
