// SPDX-License-Identifier: Apache-2.0
#include "inspect/energy_tally.hpp"

#include <gtest/gtest.h>

namespace negawatt::inspect {
namespace {

Reading counted(double at_s, gpu::Millijoules counter) {
  Reading reading;
  reading.at = gpu::TimePoint() + Seconds(at_s);
  reading.energy = gpu::EnergyReading{counter, reading.at, Seconds(0)};
  reading.most_power = gpu::Milliwatts{700'000};
  return reading;
}

Reading powered(double at_s, gpu::Milliwatts power) {
  Reading reading;
  reading.at = gpu::TimePoint() + Seconds(at_s);
  reading.power_average = power;
  return reading;
}

TEST(EnergyTally, OneReadingIsNoEnergy) {
  EnergyTally tally;
  tally.add(counted(0, {5'000'000}));
  EXPECT_EQ(tally.energy(), std::nullopt);
  EXPECT_EQ(tally.source(), EnergySource::counter);
}

TEST(EnergyTally, CountsFromTheFirstReading) {
  EnergyTally tally;
  tally.add(counted(0, {5'000'000}));
  tally.add(counted(10, {6'000'000}));
  EXPECT_DOUBLE_EQ(tally.energy()->in_si(), 1000);  // 100 W for 10 s
  EXPECT_DOUBLE_EQ(tally.counter_power()->in_si(), 100);
}

TEST(EnergyTally, AResetStartsAnEpochAndIsNeverNegative) {
  EnergyTally tally;
  tally.add(counted(0, {5'000'000}));
  tally.add(counted(1, {5'100'000}));
  tally.add(counted(2, {30'000}));
  EXPECT_DOUBLE_EQ(tally.energy()->in_si(), 100);
  EXPECT_EQ(tally.counter_power(), std::nullopt);
  tally.add(counted(3, {130'000}));
  EXPECT_DOUBLE_EQ(tally.energy()->in_si(), 200);
  EXPECT_EQ(tally.resets(), 1);
}

TEST(EnergyTally, WhatNoLimitAllowsIsLeftOutAndCounted) {
  EnergyTally tally;
  tally.add(counted(0, {0}));
  tally.add(counted(1, {100'000}));
  tally.add(counted(2, {3'690'000'000'000'000}));
  tally.add(counted(3, {3'690'000'000'100'000}));
  EXPECT_DOUBLE_EQ(tally.energy()->in_si(), 200);
  EXPECT_EQ(tally.implausible(), 1);
}

TEST(EnergyTally, AStepOfTheCounterAboveTheLimitIsPlausible) {
  EnergyTally tally;
  tally.add(counted(0, {0}));
  tally.add(counted(0.01, {95'000}));  // the 100 ms step of a 950 W transient
  EXPECT_DOUBLE_EQ(tally.energy()->in_si(), 95);
  EXPECT_EQ(tally.implausible(), 0);
}

TEST(EnergyTally, WithoutACounterPowerIsIntegrated) {
  EnergyTally tally;
  tally.add(powered(0, {100'000}));
  EXPECT_EQ(tally.energy(), std::nullopt);
  tally.add(powered(1, {200'000}));
  tally.add(powered(3, {0}));
  EXPECT_DOUBLE_EQ(tally.energy()->in_si(), 500);  // 100 W for 1 s, 200 W for 2 s
  EXPECT_EQ(tally.source(), EnergySource::integrated);
}

TEST(EnergyTally, ACounterThatFailsOnceIsNotReplaced) {
  EnergyTally tally;
  tally.add(counted(0, {0}));
  tally.add(counted(1, {100'000}));
  EXPECT_DOUBLE_EQ(tally.counter_power()->in_si(), 100);
  tally.add(powered(2, {100'000}));
  EXPECT_EQ(tally.counter_power(), std::nullopt) << "of a counter that does not answer";
  tally.add(counted(3, {300'000}));
  EXPECT_DOUBLE_EQ(tally.energy()->in_si(), 300);
  EXPECT_DOUBLE_EQ(tally.counter_power()->in_si(), 100);
  EXPECT_EQ(tally.source(), EnergySource::counter);
}

TEST(EnergyTally, NothingKnownIsNotZero) {
  EnergyTally tally;
  tally.add(Reading());
  tally.add(Reading());
  EXPECT_EQ(tally.energy(), std::nullopt);
  EXPECT_EQ(tally.source(), EnergySource::none);
}

}  // namespace
}  // namespace negawatt::inspect
