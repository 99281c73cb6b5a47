// SPDX-License-Identifier: Apache-2.0
#include "gpu/energy_window.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "nvml/nvml.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using testing::TinyLibrary;

class EnergyMeterTest : public ::testing::Test {
 protected:
  [[nodiscard]] EnergyMeter meter() const {
    auto opened = EnergyMeter::open(device_);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  void pass(double seconds) const { device_.clock().sleep_for(Seconds(seconds)); }

  TinyLibrary library_;
  Device device_ = library_.device();
};

TEST_F(EnergyMeterTest, Counts300WattsAs300Watts) {
  EnergyMeter energy = meter();
  const auto window = energy.begin_aligned();
  ASSERT_TRUE(window);
  EXPECT_TRUE(window->aligned);
  pass(5.0);
  const auto use = energy.end(*window, WhenShort::refuse);
  ASSERT_TRUE(use) << use.error().message;
  EXPECT_NEAR(use->power().in_si(), 300, 0.5);
  EXPECT_LT(use->deviation.in_si(), 0.5);  // of 1500 J
  EXPECT_NEAR(use->periods, use->time.in_si() / 0.1, 0.01);
  EXPECT_GE(use->periods, 50);
}

TEST_F(EnergyMeterTest, RefusesAWindowThatIsTooShort) {
  EnergyMeter energy = meter();
  const auto window = energy.begin();
  pass(0.01);
  const auto use = energy.end(*window, WhenShort::refuse);
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, Code::infeasible);
  EXPECT_EQ(energy.counts().too_short, 1U);
}

TEST_F(EnergyMeterTest, ExtendsAWindowThatIsTooShort) {
  EnergyMeter energy = meter();
  for (const bool aligned : {false, true}) {
    const auto window = aligned ? energy.begin_aligned() : energy.begin();
    pass(0.01);
    const auto use = energy.end(*window, WhenShort::extend);
    ASSERT_TRUE(use) << use.error().message;
    EXPECT_GE(use->time, energy.shortest());
    EXPECT_LT(use->time.in_si(), 1.5);
    EXPECT_NEAR(use->energy.in_si(), 300 * use->time.in_si(), 3 * use->deviation.in_si());
  }
}

TEST_F(EnergyMeterTest, ACounterThatGoesBackVoidsTheWindowAndStartsAnEpoch) {
  EnergyMeter energy = meter();
  const auto window = energy.begin();
  pass(2.0);
  const double reset = static_cast<double>(library_.state().now_ns) * 1e-9;
  library_.card().counter_mj = [reset](double time) { return 300'000 * (time - reset); };
  pass(2.0);
  const auto use = energy.end(*window, WhenShort::refuse);
  ASSERT_FALSE(use);
  EXPECT_NE(use.error().message.find("went back"), std::string::npos);
  EXPECT_EQ(energy.counts().resets, 1U);

  const auto next = energy.begin();
  EXPECT_EQ(next->epoch, window->epoch + 1);
  pass(2.0);
  EXPECT_NEAR(energy.end(*next, WhenShort::refuse).value().power().in_si(), 300, 20);
}

TEST_F(EnergyMeterTest, NoticesAResetThatTheCounterHasMadeUpFor) {
  EnergyMeter energy = meter();
  const auto window = energy.begin();
  pass(2.0);
  library_.card().counter_mj = [](double) { return 10.0; };
  (void)energy.begin();
  library_.card().counter_mj = [](double time) { return 400'000 * time; };
  pass(2.0);
  EXPECT_FALSE(energy.end(*window, WhenShort::refuse));
}

TEST_F(EnergyMeterTest, QuarantinesWhatNoPowerLimitAllows) {
  EnergyMeter energy = meter();
  const auto window = energy.begin();
  pass(2.0);
  library_.card().counter_mj = [](double time) { return 300'000 * time + 5e9; };
  const auto use = energy.end(*window, WhenShort::refuse);
  ASSERT_FALSE(use);
  EXPECT_NE(use.error().message.find("more than any power limit allows"), std::string::npos);
  EXPECT_EQ(energy.counts().quarantined, 1U);
}

TEST_F(EnergyMeterTest, DoesNotTakeACounterThatStandsStillForZeroJoules) {
  EnergyMeter energy = meter();
  const auto window = energy.begin();
  library_.card().counter_mj = [counter = window->counter](double) {
    return static_cast<double>(counter.count);
  };
  pass(2.0);
  EXPECT_FALSE(energy.end(*window, WhenShort::refuse));
  EXPECT_EQ(energy.counts().quarantined, 1U);
}

TEST_F(EnergyMeterTest, PassesOnThatTheGpuIsLost) {
  EnergyMeter energy = meter();
  const auto window = energy.begin();
  pass(2.0);
  library_.state().always["nvmlDeviceGetTotalEnergyConsumption"] = NVML_ERROR_GPU_IS_LOST;
  EXPECT_EQ(energy.end(*window, WhenShort::refuse).error().code, Code::unavailable);
}

TEST_F(EnergyMeterTest, AlignsWhateverTheLengthBetweenWindows) {
  EnergyMeter energy = meter();
  for (const double rest : {0.05, 0.37, 3.0, 61.3, 1000.0}) {
    pass(rest);
    const auto window = energy.begin_aligned();
    ASSERT_TRUE(window);
    EXPECT_TRUE(window->aligned) << rest;
    pass(1.0);
    const auto use = energy.end(*window, WhenShort::refuse);
    ASSERT_TRUE(use) << use.error().message;
    EXPECT_NEAR(use->power().in_si(), 300, 3) << rest;
  }
}

// Power that changes: the energy between the moments at which the counts were true is right.
RC_GTEST_PROP(EnergyMeterProperty, TellsTheTrueEnergyWithinItsUncertainty, ()) {
  const TinyLibrary library;
  const double base = *rc::gen::inRange(80, 600);
  const double swing = *rc::gen::inRange(0, 75);
  const double rate = *rc::gen::inRange(1, 40);  // 1/s
  const auto true_joules = [=](double time) {
    return base * time + swing / rate * (1 - std::cos(rate * time));
  };
  library.card().counter_mj = [=](double time) { return 1e3 * true_joules(time); };
  const Device device = library.device();
  auto meter = EnergyMeter::open(device);
  RC_ASSERT(meter.has_value());
  const bool aligned = *rc::gen::arbitrary<bool>();
  const auto window = aligned ? meter->begin_aligned() : meter->begin();
  device.clock().sleep_for(Seconds(*rc::gen::inRange(1100, 9000) * 1e-3));
  const auto use = meter->end(*window, WhenShort::refuse);
  RC_ASSERT(use.has_value());
  const double begin = static_cast<double>(window->counted_at.nanoseconds()) * 1e-9;
  const double error =
      use->energy.in_si() - (true_joules(begin + use->time.in_si()) - true_joules(begin));
  // What may be wrong is when the counts were true: uniform errors of two ends stay within sqrt(6)
  // deviations, and each second that they are off by is worth the true power at that end.
  const double seconds_off = 2.45 * (use->deviation / use->power()).in_si();
  const double worst = seconds_off * (base + swing) + 0.01;
  RC_ASSERT(std::abs(error) <= worst);
}

TEST(PowerIntegral, HoldsEachSampleUntilTheNext) {
  const auto integrate = [](int step_ms) {
    PowerIntegral integral(Seconds(0.5));
    for (int ms = 0; ms <= 10'000; ms += step_ms) {
      integral.add(TimePoint::at_nanoseconds(std::int64_t{ms} * 1'000'000), Watts(100));
    }
    return integral;
  };
  // 100 W x 10 s, whatever the step.
  EXPECT_NEAR(integrate(50).energy().in_si(), 1000, 1e-6);
  EXPECT_NEAR(integrate(200).energy().in_si(), 1000, 1e-6);
  EXPECT_NEAR(integrate(50).covered().in_si(), 10, 1e-9);
}

TEST(PowerIntegral, LeavesOutGapsAndTheFirstSample) {
  PowerIntegral integral(Seconds(0.5));
  const auto at = [](double seconds) { return TimePoint() + Seconds(seconds); };
  integral.add(at(7), Watts(1e6));
  EXPECT_EQ(integral.energy(), Joules(0));
  integral.add(at(8), Watts(100));    // a gap of 1 s
  integral.add(at(8.25), Watts(50));  // 25 J
  integral.add(at(8.0), Watts(50));   // a clock that goes back
  EXPECT_DOUBLE_EQ(integral.energy().in_si(), 25);
  EXPECT_DOUBLE_EQ(integral.covered().in_si(), 0.25);
}

}  // namespace
}  // namespace negawatt::gpu
