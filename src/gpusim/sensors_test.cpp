// SPDX-License-Identifier: Apache-2.0
#include "gpusim/sensors.hpp"

#include <gtest/gtest.h>

#include "gpusim/gpu_for_test.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {
namespace {

/// Busy at 100 W from the start.
DeviceForTest busy_gpu(GpuModel model = small_gpu()) {
  DeviceForTest gpu(std::move(model), {flat_kernel(0.001, 100), flat_kernel(0.001, 300)});
  gpu.submit_calls(0, 100'000);
  return gpu;
}

TEST(Sensors, TheCounterStandsStillBetweenRefreshes) {
  auto gpu = busy_gpu();
  gpu.advance_to(99 * kMs);
  EXPECT_EQ(gpu.readings().energy_mj, 0);
  gpu.advance_to(100 * kMs);
  EXPECT_EQ(gpu.readings().energy_mj, 10'000);
  gpu.advance_to(199 * kMs);
  EXPECT_EQ(gpu.readings().energy_mj, 10'000);
  gpu.advance_to(200 * kMs);
  EXPECT_EQ(gpu.readings().energy_mj, 20'000);
}

TEST(Sensors, ThePhaseMovesTheRefreshes) {
  auto model = small_gpu();
  model.sensors.phase_ns = 30 * kMs;
  auto gpu = busy_gpu(model);
  gpu.advance_to(129 * kMs);
  EXPECT_EQ(gpu.readings().energy_mj, 3'000);
  gpu.advance_to(130 * kMs);
  EXPECT_EQ(gpu.readings().energy_mj, 13'000);
}

TEST(Sensors, InstantPowerIsTheMeanOfThePeriodsLastWindow) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(0.010, 100), flat_kernel(0.085, 300)});
  gpu.submit_calls(1, 1);   // 300 W until 85 ms
  gpu.submit_calls(0, 10);  // then 100 W
  gpu.advance_to(150 * kMs);
  // The window is 75..100 ms: 10 ms at 300 W, 15 ms at 100 W.
  EXPECT_EQ(gpu.readings().instant_power_mw, 180'000);
}

TEST(Sensors, AveragePowerLooksBackOneSecond) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(2.5, 100), flat_kernel(0.5, 300)});
  gpu.submit_calls(0, 1);
  gpu.submit_calls(1, 1);
  gpu.advance_to(3 * kSecond);
  EXPECT_EQ(gpu.readings().average_power_mw, 200'000);
  EXPECT_EQ(gpu.readings().instant_power_mw, 300'000);
}

TEST(Sensors, TheAverageOfAYoungGpuCoversWhatThereIs) {
  auto gpu = busy_gpu();
  gpu.advance_to(300 * kMs);
  EXPECT_EQ(gpu.readings().average_power_mw, 100'000);
}

TEST(Sensors, UtilisationIsTheBusyShareOfTheLastPeriod) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(0.130, 100)});
  gpu.submit_calls(0, 1);
  gpu.advance_to(150 * kMs);
  EXPECT_EQ(gpu.readings().busy_pct, 100);
  gpu.advance_to(250 * kMs);
  EXPECT_EQ(gpu.readings().busy_pct, 30);
  gpu.advance_to(350 * kMs);
  EXPECT_EQ(gpu.readings().busy_pct, 0);
}

TEST(Sensors, AReadBeforeTheNextEventNeedsNoAdvance) {
  auto gpu = busy_gpu();
  gpu.advance_to(10 * kMs);
  EXPECT_EQ(read_sensors(gpu.model(), gpu.state(), 5 * kSecond).energy_mj, 500'000);
  EXPECT_EQ(read_sensors(gpu.model(), gpu.state(), 5 * kSecond).busy_pct, 100);
  EXPECT_EQ(gpu.state().now_ns, 10 * kMs);
}

/// Readings of a GPU at a time, with one timed fault.
Readings with_fault(TimedFault fault, std::int64_t at_ns) {
  auto model = small_gpu();
  model.faults.timed = {fault};
  auto gpu = busy_gpu(model);
  gpu.advance_to(at_ns);
  return gpu.readings();
}

TEST(Sensors, AResetCounterStartsAgainFromZero) {
  const TimedFault reset{TimedFault::Kind::counter_reset, 1050 * kMs, kNever};
  EXPECT_EQ(with_fault(reset, 1049 * kMs).energy_mj, 100'000);
  EXPECT_EQ(with_fault(reset, 1050 * kMs).energy_mj, 0);
  EXPECT_EQ(with_fault(reset, 1100 * kMs).energy_mj, 5'000);
}

TEST(Sensors, ACounterThatRunsWrongDoesSoOnlyWhileItLasts) {
  const TimedFault wrong{TimedFault::Kind::counter_rate, 1050 * kMs, 2050 * kMs, 2.0};
  EXPECT_EQ(with_fault(wrong, 1050 * kMs).energy_mj, 100'000);
  EXPECT_EQ(with_fault(wrong, 1100 * kMs).energy_mj, 120'000);
  EXPECT_EQ(with_fault(wrong, 2000 * kMs).energy_mj, 300'000);
  EXPECT_EQ(with_fault(wrong, 2100 * kMs).energy_mj, 310'000);
}

TEST(Sensors, AStuckSensorShowsWhatItLastShowed) {
  const TimedFault stuck{TimedFault::Kind::stuck_sensor, 1050 * kMs, 3 * kSecond};
  EXPECT_EQ(with_fault(stuck, 2900 * kMs).energy_mj, 100'000);
  EXPECT_EQ(with_fault(stuck, 2900 * kMs).instant_power_mw, 100'000);
  EXPECT_EQ(with_fault(stuck, 3 * kSecond).energy_mj, 300'000);
}

TEST(Sensors, ALongIdleTimeLeavesTheLastSecondsExact) {
  auto gpu = busy_gpu();  // 100 s at 100 W
  gpu.advance_to(10'000 * kSecond);
  const auto before = gpu.readings().energy_mj;
  EXPECT_EQ(before, 10'000'000 + 40'000 + (10'000 - 101) * 20'000ULL);
  gpu.submit_calls(1, 1);
  gpu.advance_to(10'000 * kSecond + 100 * kMs);
  EXPECT_EQ(gpu.readings().energy_mj - before, 300 + 99 * 40);
  EXPECT_EQ(gpu.readings().average_power_mw, (900 * 20'000 + 300'000 + 99 * 40'000) / 1000);
}

}  // namespace
}  // namespace negawatt::gpusim
