// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensors.hpp"

#include <gtest/gtest.h>

namespace negawatt::daemon {
namespace {

constexpr Watts kCeiling{700};

TEST(EnergySum, CountsFromTheFirstReadingOn) {
  EnergySum energy;
  energy.add({5'000'000}, Seconds(10), kCeiling);
  EXPECT_EQ(energy.sum(), Joules(0));
  energy.add({5'600'000}, Seconds(11), kCeiling);  // 600 W for a second
  EXPECT_DOUBLE_EQ(energy.sum().in_si(), 600);
}

TEST(EnergySum, ACounterThatGoesBackStartsAnEpochAndTheSumNeverFalls) {
  EnergySum energy;
  energy.add({5'000'000}, Seconds(10), kCeiling);
  energy.add({5'600'000}, Seconds(11), kCeiling);
  energy.add({100'000}, Seconds(12), kCeiling);
  EXPECT_EQ(energy.epochs(), 1U);
  EXPECT_DOUBLE_EQ(energy.sum().in_si(), 600);
  energy.add({400'000}, Seconds(13), kCeiling);
  EXPECT_DOUBLE_EQ(energy.sum().in_si(), 900);
}

TEST(EnergySum, AStepThatNoGpuCouldUseIsLeftOutAndCounted) {
  EnergySum energy;
  energy.add({0}, Seconds(0), kCeiling);
  energy.add({10'000'000}, Seconds(1), kCeiling);  // 10 kW
  EXPECT_EQ(energy.implausible(), 1U);
  EXPECT_EQ(energy.sum(), Joules(0));
  energy.add({10'500'000}, Seconds(2), kCeiling);
  EXPECT_DOUBLE_EQ(energy.sum().in_si(), 500);
}

}  // namespace
}  // namespace negawatt::daemon
