// SPDX-License-Identifier: Apache-2.0
#include "route/moving_histogram.hpp"

#include <gtest/gtest.h>

#include <map>

namespace negawatt::route {
namespace {

TEST(MovingHistogram, RoundsLengthsToTheNearestPowerOfTwo) {
  EXPECT_EQ(MovingHistogram::size_of(1), 0U);
  EXPECT_EQ(MovingHistogram::size_of(3), 2U);
  EXPECT_EQ(MovingHistogram::size_of(5), 2U);
  EXPECT_EQ(MovingHistogram::size_of(6), 3U);
  EXPECT_EQ(MovingHistogram::size_of(1024), 10U);
  EXPECT_EQ(MovingHistogram::size_of(4e9), MovingHistogram::kSizes - 1);
}

TEST(MovingHistogram, ExpectsOneTokenWithoutHistory) {
  MovingHistogram histogram(1);
  histogram.add(Seconds(0), 1000, 500);
  EXPECT_EQ(histogram.predict(Seconds(0), 100), 1U) << "another size";
  EXPECT_EQ(histogram.predict(Seconds(0), 1000), 512U);
}

TEST(MovingHistogram, DrawsByWeight) {
  MovingHistogram histogram(1);
  for (int i = 0; i < 30; ++i) histogram.add(Seconds(1), 100, i < 20 ? 16 : 64);
  std::map<std::uint32_t, int> drawn;
  for (int i = 0; i < 3000; ++i) ++drawn[histogram.predict(Seconds(1), 100)];
  EXPECT_EQ(drawn.size(), 2U);
  EXPECT_NEAR(drawn[16], 2000, 100);
}

TEST(MovingHistogram, ForgetsAfterFourMinutes) {
  MovingHistogram histogram(1);
  histogram.add(Seconds(5), 100, 16);
  histogram.add(Seconds(100), 100, 64);
  EXPECT_EQ(histogram.predict(Seconds(245), 100), 64U);
  EXPECT_EQ(histogram.predict(Seconds(339), 100), 64U);
  EXPECT_EQ(histogram.predict(Seconds(341), 100), 1U);
  histogram.add(Seconds(1e6), 100, 32);
  EXPECT_EQ(histogram.predict(Seconds(1e6), 100), 32U);
}

}  // namespace
}  // namespace negawatt::route
