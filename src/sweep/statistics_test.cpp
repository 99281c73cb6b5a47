// SPDX-License-Identifier: Apache-2.0
#include "sweep/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace negawatt::sweep {
namespace {

TEST(Statistics, MeanAndStandardErrorByHand) {
  // Deviations -2, 0, 2: variance 8 / 2, of the mean 4 / 3.
  const std::array values = {8.0, 10.0, 12.0};
  const auto repeats = summarise(values);
  EXPECT_EQ(repeats.count, 3U);
  EXPECT_DOUBLE_EQ(repeats.mean, 10.0);
  EXPECT_DOUBLE_EQ(repeats.standard_error, std::sqrt(4.0 / 3.0));
  EXPECT_DOUBLE_EQ(relative_half_width(repeats), 4.303 * std::sqrt(4.0 / 3.0) / 10.0);
}

TEST(Statistics, OneRepeatKnowsNoError) {
  const std::array values = {8.0};
  EXPECT_EQ(summarise(values).standard_error, 0.0);
  EXPECT_TRUE(std::isinf(relative_half_width(summarise(values))));
  EXPECT_TRUE(std::isinf(relative_half_width(summarise({}))));
}

TEST(Statistics, PoolsRelativeDeviationsOfGroupsOfDifferentMeans) {
  PooledDeviation pooled;
  EXPECT_EQ(pooled.relative(), std::nullopt);
  pooled.add(summarise(std::array{5.0}));
  EXPECT_EQ(pooled.relative(), std::nullopt);
  // (0.8, 1, 1.2) of its mean: squares 0.08 over 2 degrees; (0.9, 1.1): 0.02 over one.
  pooled.add(summarise(std::array{8.0, 10.0, 12.0}));
  pooled.add(summarise(std::array{90.0, 110.0}));
  EXPECT_NEAR(pooled.relative().value_or(0), std::sqrt(0.10 / 3.0), 1e-12);
}

TEST(Statistics, StudentsQuantileFallsToTheNormalOne) {
  EXPECT_DOUBLE_EQ(student_95(1), 12.706);
  EXPECT_DOUBLE_EQ(student_95(30), 2.042);
  EXPECT_NEAR(student_95(40), 2.021, 0.001);  // Fisher and Yates
  EXPECT_NEAR(student_95(120), 1.980, 0.001);
  EXPECT_NEAR(student_95(1'000'000), 1.960, 0.0001);
  for (std::size_t n = 1; n < 200; ++n) EXPECT_GT(student_95(n), student_95(n + 1)) << n;
}

}  // namespace
}  // namespace negawatt::sweep
