// SPDX-License-Identifier: Apache-2.0
#include "route/demand.hpp"

#include <gtest/gtest.h>

#include "trace/random.hpp"

namespace negawatt::route {
namespace {

/// `rate` requests a second in equal steps until `end`.
void come(Demand& demand, double& now, double end, double rate) {
  for (; now < end; now += 1.0 / rate) {
    demand.advance(Seconds(now));
    demand.arrived({100, 50});
  }
}

TEST(Demand, CountsByWindow) {
  Demand demand;
  EXPECT_TRUE(demand.rates().empty());
  double now = 0.0;
  come(demand, now, 30.0, 2.0);
  come(demand, now, 60.0, 4.0);
  EXPECT_TRUE(demand.advance(Seconds(60)));
  EXPECT_FALSE(demand.advance(Seconds(61)));
  ASSERT_EQ(demand.rates().size(), 2U);
  EXPECT_NEAR(demand.rates()[0], 2.0, 1e-9);
  EXPECT_NEAR(demand.rates()[1], 4.0, 1e-9);
}

TEST(Demand, StartsWithItsFirstMomentWhateverTheClockSays) {
  Demand demand;
  double now = 1e9;
  come(demand, now, 1e9 + 31.0, 1.0);
  ASSERT_EQ(demand.rates().size(), 1U);
  EXPECT_NEAR(demand.rates()[0], 1.0, 1e-9);
}

TEST(Demand, RemembersTenMinutes) {
  Demand demand;
  double now = 0.0;
  come(demand, now, 300.0, 5.0);
  come(demand, now, 900.0, 1.0);
  demand.advance(Seconds(900));
  ASSERT_EQ(demand.rates().size(), Demand::kWindows);
  EXPECT_NEAR(demand.rates().back(), 1.0, 1e-9);
}

TEST(Demand, ALongSilenceIsNoDemandButTheSameSizes) {
  Demand demand;
  double now = 0.0;
  come(demand, now, 60.0, 5.0);
  demand.advance(Seconds(60));
  ASSERT_TRUE(demand.advance(Seconds(1e7)));
  EXPECT_EQ(demand.rates().size(), Demand::kWindows);
  EXPECT_EQ(demand.rates().back(), 0.0);
  EXPECT_EQ(demand.peak(), 0.0);
  ASSERT_EQ(demand.parts().size(), 1U);
  EXPECT_DOUBLE_EQ(demand.parts()[0].input_tokens, 100.0);
}

TEST(Demand, ChanceAloneIsNoPeak) {
  trace::Random random(3);
  double chance = 0.0;
  double fullest = 0.0;
  constexpr int kTrials = 50;
  for (int trial = 0; trial < kTrials; ++trial) {
    Demand demand;
    double now = 0.0;
    while (now < 600.0) {
      now += random.exponential();
      demand.advance(Seconds(now));
      demand.arrived({100, 50});
    }
    demand.advance(Seconds(600));
    chance += demand.peak() / kTrials;
    fullest += demand.rates().back() / kTrials;
  }
  EXPECT_GT(fullest, 1.3);  // of a mean of 1
  EXPECT_LT(chance, 1.12);
}

TEST(Demand, ABurstIsAPeak) {
  Demand demand;
  double now = 0.0;
  come(demand, now, 300.0, 1.0);
  come(demand, now, 330.0, 10.0);
  come(demand, now, 600.0, 1.0);
  demand.advance(Seconds(600));
  EXPECT_GT(demand.peak(), 9.5);
  EXPECT_LE(demand.peak(), 10.0);
}

TEST(Demand, SharesOfSizesAddUpToOne) {
  Demand demand;
  trace::Random random(1);
  demand.advance(Seconds(0));
  for (int i = 0; i < 5000; ++i) {
    demand.arrived({1.0 + double(random.below(1U << random.below(20))), 10.0});
  }
  demand.advance(Seconds(30));
  double sum = 0.0;
  for (const FlowPart& part : demand.parts()) sum += part.share;
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_GT(demand.parts().size(), 15U);
  EXPECT_LE(demand.parts().size(), Demand::kSizes);
}

}  // namespace
}  // namespace negawatt::route
