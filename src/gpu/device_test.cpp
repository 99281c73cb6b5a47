// SPDX-License-Identifier: Apache-2.0
#include "gpu/device.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "nvml/nvml.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using testing::TinyLibrary;

TEST(Device, ReadsEnergyWithItsOwnTimeAndCost) {
  const TinyLibrary library;
  library.state().now_ns = 2'000'000'000;
  library.state().read_cost_ns = 4'000'000;
  const auto reading = library.device().energy();
  ASSERT_TRUE(reading);
  // 300 W; the last refresh before 2.004 s was at 1.913 s.
  EXPECT_EQ(reading->counter, Millijoules{573'900});
  EXPECT_EQ(reading->at.nanoseconds(), 2'002'000'000);
  EXPECT_DOUBLE_EQ(reading->read_cost.in_si(), 0.004);
}

TEST(Device, FallsBackPerFunctionOnAnOldDriver) {
  const TinyLibrary library(NEGAWATT_TINY_NVML_OLD);
  library.card().reasons = nvmlClocksEventReasonSwPowerCap;
  library.card().pids = {17, 18};
  library.state().now_ns = 2'000'000'000;
  const Device device = library.device();
  EXPECT_EQ(device.energy().value().counter, Millijoules{573'900});  // by its field
  EXPECT_EQ(device.temperature_c().value_or(0), 60);
  EXPECT_TRUE(device.event_reasons().value().power_cap());
  ASSERT_EQ(device.compute_processes().value().size(), 2U);
  EXPECT_EQ(device.compute_processes()->back().pid, 18U);
}

TEST(Device, FallsBackWhereTheNewFunctionIsThereAndNotSupported) {
  const TinyLibrary library;
  library.state().always["nvmlDeviceGetTemperatureV"] = NVML_ERROR_NOT_SUPPORTED;
  library.state().always["nvmlDeviceGetTotalEnergyConsumption"] = NVML_ERROR_NOT_SUPPORTED;
  EXPECT_EQ(library.device().temperature_c().value_or(0), 60);
  EXPECT_TRUE(library.device().energy());
}

TEST(Device, AsksAgainWhileTheGpuIsNotReady) {
  const TinyLibrary library;
  library.state().next["nvmlDeviceGetTotalEnergyConsumption"] = {NVML_ERROR_NOT_READY,
                                                                 NVML_ERROR_NOT_READY};
  EXPECT_TRUE(library.device().energy());
  EXPECT_EQ(library.state().now_ns, 3'000'000);  // 1 ms, then 2 ms
}

TEST(Device, GivesUpOnAGpuThatIsNeverReady) {
  const TinyLibrary library;
  library.state().always["nvmlDeviceGetTotalEnergyConsumption"] = NVML_ERROR_NOT_READY;
  const auto reading = library.device().energy();
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().obstacle, Obstacle::not_ready);
  EXPECT_EQ(library.state().now_ns, 255'000'000);
  EXPECT_EQ(library.state().calls["nvmlDeviceGetTotalEnergyConsumption"], 9);
}

struct Outcome {
  int code;
  Obstacle obstacle;
};
class DeviceAnswer : public ::testing::TestWithParam<Outcome> {};

TEST_P(DeviceAnswer, TellsWhyThereIsNone) {
  const TinyLibrary library;
  const Device device = library.device();
  library.state().always["nvmlDeviceGetClockInfo"] = GetParam().code;
  const auto clocks = device.clocks();
  ASSERT_FALSE(clocks);
  EXPECT_EQ(clocks.error().obstacle, GetParam().obstacle);
  EXPECT_EQ(clocks.error().code, GetParam().code);
  EXPECT_NE(clocks.error().message.find("nvmlDeviceGetClockInfo on GPU-aaaa"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceAnswer,
                         ::testing::Values(Outcome{NVML_ERROR_NOT_SUPPORTED, Obstacle::absent},
                                           Outcome{NVML_ERROR_NO_PERMISSION, Obstacle::denied},
                                           Outcome{NVML_ERROR_GPU_IS_LOST, Obstacle::lost},
                                           Outcome{NVML_ERROR_UNINITIALIZED, Obstacle::lost},
                                           Outcome{NVML_ERROR_INVALID_ARGUMENT, Obstacle::refused},
                                           Outcome{NVML_ERROR_UNKNOWN, Obstacle::failed},
                                           Outcome{777, Obstacle::failed}),
                         [](const auto& test) { return std::to_string(test.param.code); });

TEST(Device, TakesZeroWattsForNoAnswer) {
  const TinyLibrary library;
  library.card().instant_mw = 0;
  const auto power = library.device().power_instant();
  ASSERT_FALSE(power);
  EXPECT_EQ(power.error().obstacle, Obstacle::absent);
}

TEST(Device, TakesAFieldThatIsNotSupportedForAbsent) {
  const TinyLibrary library;
  library.state().field_always[NVML_FI_DEV_POWER_INSTANT] = NVML_ERROR_NOT_SUPPORTED;
  EXPECT_EQ(library.device().power_instant().error().obstacle, Obstacle::absent);
  EXPECT_EQ(library.device().power_average().value(), Milliwatts{290'000});
}

TEST(Device, ReadsListsThatAreLongerThanExpected) {
  const TinyLibrary library;
  library.card().pids.resize(1000);
  std::iota(library.card().pids.begin(), library.card().pids.end(), 1U);
  const auto processes = library.device().compute_processes();
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 1000U);
  EXPECT_EQ(processes->back().pid, 1000U);
  EXPECT_FALSE(processes->back().memory_bytes);  // the driver said "not available"
}

TEST(Device, AsksTheInstancesWhereTheWholeMayNotAnswer) {
  const TinyLibrary library;
  library.card().mig = true;
  library.card().instances = {"MIG-1", "MIG-2"};
  library.card().pids = {17};
  library.state().next["nvmlDeviceGetComputeRunningProcesses_v3"] = {NVML_ERROR_NO_PERMISSION};
  const Device device = library.device();
  EXPECT_EQ(device.compute_processes().value().size(), 2U);  // 17 in each, the tiny driver says
  EXPECT_EQ(device.mig_instances().value().back().text(), "MIG-2");
}

TEST(Device, ListsClocksFromTheHighest) {
  const TinyLibrary library;
  library.card().core_clocks = {345, 1980, 1410};
  EXPECT_EQ(library.device().core_clocks({3201}).value(),
            (std::vector<Megahertz>{{1980}, {1410}, {345}}));
}

TEST(Device, TellsTheLimitsThatTheDriverTells) {
  const TinyLibrary library;
  library.card().limit_mw = 650'000;
  library.state().always["nvmlDeviceGetPowerManagementLimitConstraints"] = NVML_ERROR_NOT_SUPPORTED;
  const auto limits = library.device().power_limits();
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->requested, Milliwatts{650'000});
  EXPECT_FALSE(limits->most);
  EXPECT_FALSE(limits->factory);
}

TEST(Device, SetsEachKnobByItsOwnCall) {
  const TinyLibrary library;
  const Device device = library.device();
  ASSERT_TRUE(device.apply(CoreLock{ClockRange::between({345}, {1410})}));
  ASSERT_TRUE(device.apply(MemoryLock{ClockRange::exactly({2201})}));
  ASSERT_TRUE(device.apply(PowerLimit{{500'000}}));
  ASSERT_TRUE(device.apply(MemoryLock{}));
  ASSERT_TRUE(device.apply(CoreLock{}));
  EXPECT_EQ(library.state().writes,
            (std::vector<std::string>{"GPU-aaaa core 345 1410", "GPU-aaaa memory 2201 2201",
                                      "GPU-aaaa power 500000", "GPU-aaaa memory reset",
                                      "GPU-aaaa core reset"}));
}

TEST(Device, CannotLockMemoryWhereTheDriverHasNoSuchFunction) {
  const TinyLibrary library(NEGAWATT_TINY_NVML_OLD);
  const Done done = library.device().apply(MemoryLock{ClockRange::exactly({2201})});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().obstacle, Obstacle::absent);
}

TEST(EventReasons, AreNamed) {
  EXPECT_EQ(to_string(EventReasons{0}), "none");
  EXPECT_EQ(to_string(EventReasons{nvmlClocksEventReasonSwPowerCap |
                                   nvmlClocksEventReasonSwThermalSlowdown}),
            "power cap, thermal");
  EXPECT_EQ(to_string(EventReasons{0x8000'0001}), "idle, 0x80000000");
}

}  // namespace
}  // namespace negawatt::gpu
