// SPDX-License-Identifier: Apache-2.0
#include "gpusim/governor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpusim/gpu_for_test.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {
namespace {

GpuModel with_feedback() {
  auto model = small_gpu();
  model.clocks.core_mhz.clear();
  for (std::uint32_t mhz = 100; mhz <= 1000; mhz += 10) model.clocks.core_mhz.push_back(mhz);
  model.governor = {.kind = Governor::Kind::feedback,
                    .period_ns = 20 * kMs,
                    .filter = Seconds(0.016),
                    .gain = 0.75,
                    .slack = Watts(5),
                    .rise_mhz = 50};
  model.limits.initial = Watts(120);
  return model;
}

TEST(Governor, EquilibriumRunsAtTheClockWhosePowerIsTheLimit) {
  DeviceForTest gpu(small_gpu(), {steep_kernel()});
  gpu.submit_calls(0, 1'000'000);
  EXPECT_EQ(gpu.readings().event_reasons, 0);
  set_power_limit(gpu.device(), 120'000, 1);
  EXPECT_NEAR(gpu.state().conditions.power_w, 120, 1e-9);
  // 50 W * (f / 100 MHz)^log10(4) = 120 W.
  EXPECT_NEAR(gpu.state().conditions.core_mhz, 100 * std::pow(2.4, 1 / std::log10(4.0)), 1e-6);
  EXPECT_EQ(gpu.readings().event_reasons, nvmlClocksEventReasonSwPowerCap);
}

TEST(Governor, EquilibriumIsTheNextKernelsAtOnce) {
  auto hungry = flat_kernel(0.001, 290);
  DeviceForTest gpu(small_gpu(), {steep_kernel(), hungry});
  set_power_limit(gpu.device(), 295'000, 1);
  gpu.submit_calls(0, 10);
  gpu.submit_calls(1, 10);
  EXPECT_EQ(gpu.readings().event_reasons, 0);
  gpu.advance_to(11 * kMs);
  // The card is at its limit by itself: that is the reason the driver gives.
  EXPECT_EQ(gpu.readings().event_reasons, nvmlClocksEventReasonSwPowerCap);
}

TEST(Governor, FeedbackBringsPowerBelowTheLimitAndHoldsItThere) {
  DeviceForTest gpu(with_feedback(), {steep_kernel()});
  gpu.submit_calls(0, 1'000'000);
  EXPECT_DOUBLE_EQ(gpu.state().conditions.power_w, 200);
  gpu.advance_to(19 * kMs);
  EXPECT_EQ(gpu.readings().core_mhz, 1000);  // the governor has not looked yet
  gpu.advance_to(200 * kMs);
  for (int n = 0; n < 50; ++n) {
    gpu.advance_to(gpu.state().now_ns + 20 * kMs);
    EXPECT_LT(gpu.state().conditions.power_w, 122);
    EXPECT_GT(gpu.state().conditions.power_w, 112);
  }
  EXPECT_EQ(gpu.readings().event_reasons, nvmlClocksEventReasonSwPowerCap);
}

TEST(Governor, FeedbackRestsWhilePowerIsWithinTheBand) {
  auto model = with_feedback();
  model.governor.slack = Watts(15);
  DeviceForTest gpu(model, {steep_kernel()});
  gpu.submit_calls(0, 1'000'000'000);
  gpu.advance_to(10 * kSecond);
  EXPECT_EQ(gpu.state().governor_tick_ns, kNever);
}

TEST(Governor, FeedbackGivesTheClockBackWhenTheLoadEnds) {
  DeviceForTest gpu(with_feedback(), {steep_kernel()});
  gpu.submit_calls(0, 1000);
  gpu.advance_to(500 * kMs);
  const auto capped = gpu.readings().core_mhz;
  EXPECT_LT(capped, 500);
  cancel(gpu.device(), gpu.context());
  gpu.advance_to(540 * kMs);
  EXPECT_GT(gpu.readings().core_mhz, capped);
  EXPECT_LE(gpu.readings().core_mhz, capped + 3 * 50);  // three ticks at most
  gpu.advance_to(2 * kSecond);
  EXPECT_EQ(gpu.readings().core_mhz, 1000);
  EXPECT_EQ(next_event(gpu.state()), kNever);
}

TEST(Governor, FeedbackWakesWhenHeatBringsPowerOverTheLimit) {
  auto model = with_feedback();
  model.power.leakage_w_per_k = 2;
  model.limits.initial = Watts(180);
  DeviceForTest gpu(model, {steep_kernel()});
  gpu.submit_calls(0, 1'000'000);
  // 200 W at 50 C: 150 W on the cold board, 187.5 W at 43.75 C if nothing were done.
  gpu.advance_to(kSecond);
  EXPECT_EQ(gpu.readings().core_mhz, 1000);
  gpu.advance_to(200 * kSecond);
  EXPECT_LT(gpu.readings().core_mhz, 1000);
  EXPECT_LE(truth_at(model, gpu.state(), 200 * kSecond).power, Watts(181));
}

TEST(Governor, HeatLowersTheClockUntilTheBoardIsCoolEnough) {
  auto model = small_gpu();
  model.thermal.kelvin_per_watt = 0.5;  // 200 W would be 125 C
  model.thermal.shutdown_c = 120;
  DeviceForTest gpu(model, {steep_kernel()});
  gpu.submit_calls(0, 1'000'000);
  gpu.advance_to(300 * kSecond);
  const auto readings = gpu.readings();
  EXPECT_LT(readings.core_mhz, 1000);
  EXPECT_NEAR(readings.temperature_c, 90, 4);
  EXPECT_EQ(readings.event_reasons, nvmlClocksEventReasonSwThermalSlowdown);
}

TEST(Governor, AGpuThatGetsTooHotIsLost) {
  auto model = small_gpu();
  model.thermal.kelvin_per_watt = 0.5;
  DeviceForTest gpu(model, {flat_kernel(0.001, 200)});  // no clock helps
  gpu.submit_calls(0, 1'000'000);
  gpu.advance_to(300 * kSecond);
  EXPECT_EQ(gpu.state().lost, 1);
  EXPECT_EQ(gpu.state().queue.size(), 0);
  EXPECT_FALSE(gpu.submit_calls(0, 1));
  EXPECT_EQ(lock_core(gpu.device(), {100, 100}, 1), NVML_ERROR_GPU_IS_LOST);
}

}  // namespace
}  // namespace negawatt::gpusim
