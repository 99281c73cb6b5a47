// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "gpusim/gpu_for_test.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {
namespace {

GpuModel slow_to_switch() {
  auto model = small_gpu();
  model.clocks.core_latency = {10 * kMs, 30 * kMs, {{500, 20 * kMs}}};
  model.clocks.memory_latency = {50 * kMs, 60 * kMs, {}};
  return model;
}

std::uint32_t core_at(DeviceForTest& gpu, std::int64_t at_ns) {
  gpu.advance_to(at_ns);
  return gpu.readings().core_mhz;
}

TEST(Setters, AClockChangesAfterTheLatencyToItsTarget) {
  DeviceForTest gpu(slow_to_switch());
  EXPECT_EQ(lock_core(gpu.device(), {300, 300}, 1), NVML_SUCCESS);
  EXPECT_EQ(core_at(gpu, 10 * kMs - 1), 1000);
  EXPECT_EQ(core_at(gpu, 10 * kMs), 300);
  lock_core(gpu.device(), {500, 500}, 1);  // a target of its own
  EXPECT_EQ(core_at(gpu, 30 * kMs - 1), 300);
  EXPECT_EQ(core_at(gpu, 30 * kMs), 500);
  reset_core(gpu.device(), 1);
  EXPECT_EQ(core_at(gpu, 60 * kMs - 1), 500);
  EXPECT_EQ(core_at(gpu, 60 * kMs), 1000);
}

TEST(Setters, WithoutLatencyAClockChangesAtOnce) {
  DeviceForTest gpu(small_gpu());
  lock_core(gpu.device(), {300, 300}, 1);
  EXPECT_EQ(gpu.readings().core_mhz, 300);
}

TEST(Setters, ANewerRequestReplacesOneOnItsWay) {
  DeviceForTest gpu(slow_to_switch());
  lock_core(gpu.device(), {300, 300}, 1);
  gpu.advance_to(6 * kMs);
  lock_core(gpu.device(), {400, 400}, 1);
  EXPECT_EQ(core_at(gpu, 16 * kMs - 1), 1000);
  EXPECT_EQ(core_at(gpu, 16 * kMs), 400);
}

TEST(Setters, AskingForTheSameAgainDoesNotDelayIt) {
  DeviceForTest gpu(slow_to_switch());
  lock_core(gpu.device(), {300, 300}, 1);
  gpu.advance_to(6 * kMs);
  lock_core(gpu.device(), {300, 300}, 1);
  EXPECT_EQ(core_at(gpu, 10 * kMs), 300);
}

TEST(Setters, GoingBackBeforeTheEffectChangesNothing) {
  DeviceForTest gpu(slow_to_switch());
  lock_core(gpu.device(), {300, 300}, 1);
  gpu.advance_to(6 * kMs);
  reset_core(gpu.device(), 1);
  EXPECT_EQ(next_event(gpu.state()), kNever);
  EXPECT_EQ(core_at(gpu, kSecond), 1000);
}

TEST(Setters, DomainsChangeIndependently) {
  DeviceForTest gpu(slow_to_switch());
  lock_memory(gpu.device(), {500, 500}, 1);
  lock_core(gpu.device(), {300, 300}, 1);
  gpu.advance_to(10 * kMs);
  EXPECT_EQ(gpu.readings().core_mhz, 300);
  EXPECT_EQ(gpu.readings().memory_mhz, 1000);
  gpu.advance_to(50 * kMs);
  EXPECT_EQ(gpu.readings().memory_mhz, 500);
}

TEST(Setters, AskedClocksAreRoundedToSupportedOnes) {
  DeviceForTest gpu(small_gpu());
  const auto in_force = [&](ClockSetting asked) {
    EXPECT_EQ(lock_core(gpu.device(), asked, 1), NVML_SUCCESS);
    return gpu.state().core.in_force;
  };
  EXPECT_EQ(in_force({250, 899}), (ClockSetting{300, 800}));
  EXPECT_EQ(in_force({0, 50'000}), (ClockSetting{100, 1000}));
  EXPECT_EQ(in_force({10, 20}), (ClockSetting{100, 100}));
  EXPECT_EQ(in_force({410, 490}), (ClockSetting{400, 400}));  // none within: the one below
}

TEST(Setters, NonsenseIsRefusedAndChangesNothing) {
  DeviceForTest gpu(small_gpu());
  EXPECT_EQ(lock_core(gpu.device(), {500, 400}, 1), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lock_memory(gpu.device(), {0, 0}, 1), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(set_power_limit(gpu.device(), 99'999, 1), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(set_power_limit(gpu.device(), 400'001, 1), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(gpu.state().core.in_force.is_automatic());
  EXPECT_TRUE(gpu.state().memory.in_force.is_automatic());
  EXPECT_EQ(gpu.readings().power_limit_mw, 300'000);
  EXPECT_EQ(set_power_limit(gpu.device(), 100'000, 1), NVML_SUCCESS);
  EXPECT_EQ(gpu.readings().power_limit_mw, 100'000);
}

TEST(Setters, TheLogHasEveryCallInOrder) {
  DeviceForTest gpu(small_gpu());
  gpu.advance_to(5 * kMs);
  lock_core(gpu.device(), {300, 400}, 11);
  lock_memory(gpu.device(), {9, 8}, 12);
  reset_core(gpu.device(), 13);
  set_power_limit(gpu.device(), 200'000, 14);
  const auto& log = gpu.state().writes;
  ASSERT_EQ(log.size(), 4);
  EXPECT_EQ(function_name(log[0].function), "nvmlDeviceSetGpuLockedClocks");
  EXPECT_EQ(log[0].first, 300);
  EXPECT_EQ(log[0].second, 400);
  EXPECT_EQ(log[0].at_ns, 5 * kMs);
  EXPECT_EQ(function_name(log[1].function), "nvmlDeviceSetMemoryLockedClocks");
  EXPECT_EQ(log[1].result, NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(function_name(log[2].function), "nvmlDeviceResetGpuLockedClocks");
  EXPECT_EQ(log[2].pid, 13);
  EXPECT_EQ(log[3].first, 200'000);
  for (int n = 0; n < 300; ++n) reset_memory(gpu.device(), 15);
  EXPECT_EQ(log.oldest(), 304 - kWriteLog);  // a log forgets its oldest records
}

TEST(Setters, MemoryAutomaticAndLockedAtItsHighestAreTwoStates) {
  auto surface = steep_kernel();
  surface.count = 3;
  surface.settings[2] = {1000, 1, {{{1000, 0.001, 180}}}};
  DeviceForTest gpu(small_gpu(), {surface});
  gpu.submit_calls(0, 1'000'000);
  EXPECT_DOUBLE_EQ(gpu.state().conditions.power_w, 200);
  lock_memory(gpu.device(), {1000, 1000}, 1);
  EXPECT_DOUBLE_EQ(gpu.state().conditions.power_w, 180);
  EXPECT_EQ(gpu.readings().memory_mhz, 1000);
}

TEST(Setters, ALockAboveTheAutomaticClockBehavesAsNone) {
  auto model = small_gpu();
  model.clocks.auto_core_mhz = 700;
  DeviceForTest gpu(model);
  EXPECT_EQ(gpu.readings().core_mhz, 700);
  lock_core(gpu.device(), {900, 900}, 1);
  EXPECT_EQ(gpu.readings().core_mhz, 700);
}

TEST(Setters, AMemoryClockThatTheCardDoesNotHoldFallsToAnother) {
  auto model = small_gpu();
  model.clocks.memory_mhz = {250, 500, 1000};
  model.clocks.memory_holds = {{250, 300, 500}};
  DeviceForTest gpu(model);
  lock_memory(gpu.device(), {250, 250}, 1);
  EXPECT_EQ(gpu.readings().memory_mhz, 500);
  lock_core(gpu.device(), {300, 300}, 1);
  EXPECT_EQ(gpu.readings().memory_mhz, 250);
}

TEST(Setters, AnIdleGpuWithoutAContextGoesToItsIdleClocksWithinTheLock) {
  DeviceForTest gpu(small_gpu());
  EXPECT_EQ(gpu.readings().performance_state, 0);
  remove_context(gpu.device(), gpu.context());
  EXPECT_EQ(gpu.readings().core_mhz, 100);
  EXPECT_EQ(gpu.readings().memory_mhz, 500);
  EXPECT_EQ(gpu.readings().performance_state, 8);
  lock_core(gpu.device(), {600, 800}, 1);
  EXPECT_EQ(gpu.readings().core_mhz, 600);
}

}  // namespace
}  // namespace negawatt::gpusim
