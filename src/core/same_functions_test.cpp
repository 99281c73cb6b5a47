// SPDX-License-Identifier: Apache-2.0
#include "core/same_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace negawatt {
namespace {

TEST(SameFunctions, AgreeWithTheStandardOnesToAFewUnits) {
  std::mt19937_64 random(9);
  const auto uniform = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::exp(100.0 * uniform() - 50.0);
    EXPECT_NEAR(same_log(x), std::log(x), 1e-15 * std::max(1.0, std::abs(std::log(x))));
    const double y = 1380.0 * uniform() - 690.0;
    EXPECT_NEAR(same_exp(y) / std::exp(y), 1.0, 2e-15) << y;
    const double turn = uniform();
    EXPECT_NEAR(same_sine(turn), std::sin(2.0 * std::numbers::pi * turn), 2e-15) << turn;
  }
  EXPECT_EQ(same_log(1.0), 0.0);
  EXPECT_EQ(same_exp(0.0), 1.0);
  EXPECT_EQ(same_sine(0.5), 0.0);
  EXPECT_EQ(same_exp(-1e5), 0.0);
}

TEST(SameFunctions, KeepTheirDigitsNearZero) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 100'000; ++i) {
    const double size = std::exp2(-60.0 * static_cast<double>(random() >> 11U) * 0x1p-53);
    for (const double x : {-0.999 * size, size, 3.0 * size, -40.0 * size}) {
      EXPECT_NEAR(same_expm1(x) / std::expm1(x), 1.0, 3e-15) << x;
      if (x <= -1.0) continue;
      EXPECT_NEAR(same_log1p(x) / std::log1p(x), 1.0, 3e-15) << x;
    }
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(same_log1p(0.0), 0.0);
  EXPECT_EQ(same_expm1(0.0), 0.0);
  EXPECT_EQ(same_log1p(-1.0), -kInfinity);
  EXPECT_EQ(same_expm1(-kInfinity), -1.0);
  EXPECT_EQ(same_expm1(-1e5), -1.0);
  EXPECT_EQ(same_expm1(kInfinity), kInfinity);
}

}  // namespace
}  // namespace negawatt
