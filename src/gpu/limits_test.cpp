// SPDX-License-Identifier: Apache-2.0
#include "gpu/limits.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "nvml/nvml.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using testing::TinyLibrary;

Limits sample() {
  return {.device = {.core_clocks = {{210}, {420}, {630}, {840}},
                     .memory_clocks = {{405}, {5001}, {9501}},
                     .least_power = Milliwatts{100'000},
                     .most_power = Milliwatts{350'000}}};
}

TEST(Clamp, TakesTheNearestClockThatTheDeviceHas) {
  const auto lock = [](std::uint32_t mhz) {
    return clamp({.core = CoreLock{ClockRange::exactly({mhz})}}, sample()).value().core->range;
  };
  EXPECT_EQ(lock(500), ClockRange::exactly({420}));
  EXPECT_EQ(lock(525), ClockRange::exactly({420}));  // equally near: the lower
  EXPECT_EQ(lock(526), ClockRange::exactly({630}));
  EXPECT_EQ(lock(5000), ClockRange::exactly({840}));
  EXPECT_EQ(lock(1), ClockRange::exactly({210}));
}

TEST(Clamp, KeepsMemoryUnlockedApartFromLockedAtItsHighest) {
  EXPECT_EQ(clamp({.memory = MemoryLock{}}, sample()).value().memory, MemoryLock{});
  EXPECT_EQ(
      clamp({.memory = MemoryLock{ClockRange::exactly({9501})}}, sample()).value().memory->range,
      ClockRange::exactly({9501}));
}

TEST(Clamp, KeepsAnUnlockedCoreWithinTheAdministratorsRange) {
  Limits limits = sample();
  EXPECT_EQ(clamp({.core = CoreLock{}}, limits).value().core, CoreLock{});
  limits.admin.core = ClockRange::at_most({700});
  EXPECT_EQ(clamp({.core = CoreLock{}}, limits).value().core->range,
            ClockRange::between({210}, {630}));
  limits.admin.core = ClockRange::at_most({3000});  // allows all there is
  EXPECT_EQ(clamp({.core = CoreLock{}}, limits).value().core, CoreLock{});
}

TEST(Clamp, RefusesWhatLeavesNoChoice) {
  Limits limits = sample();
  limits.admin.core = ClockRange::between({500}, {600});
  EXPECT_FALSE(clamp({.core = CoreLock{ClockRange::exactly({500})}}, limits));
  limits = sample();
  limits.admin.memory_lock = false;
  EXPECT_FALSE(clamp({.memory = MemoryLock{ClockRange::exactly({5001})}}, limits));
  EXPECT_TRUE(clamp({.memory = MemoryLock{}}, limits));
  limits.admin.least_power = Milliwatts{400'000};
  EXPECT_FALSE(clamp({.power = PowerLimit{{350'000}}}, limits));
  limits.device.core_clocks.clear();
  EXPECT_FALSE(clamp({.core = CoreLock{ClockRange::exactly({500})}}, limits));
  EXPECT_TRUE(clamp({.core = CoreLock{}}, limits));
}

TEST(Clamp, NeverRaisesTheLimitThatAnAdministratorHadSet) {
  const TinyLibrary library;
  library.card().limit_mw = 650'000;  // of 700 W
  const Limits limits{.device = read_limits(library.device())};
  EXPECT_EQ(clamp({.power = PowerLimit{{700'000}}}, limits).value().power->limit,
            Milliwatts{650'000});
}

TEST(ReadLimits, LeavesEmptyWhatTheDeviceDoesNotTell) {
  const TinyLibrary library;
  library.state().always["nvmlDeviceGetSupportedMemoryClocks"] = NVML_ERROR_NOT_SUPPORTED;
  library.state().always["nvmlDeviceGetPowerManagementLimitConstraints"] = NVML_ERROR_NOT_SUPPORTED;
  const DeviceLimits limits = read_limits(library.device());
  EXPECT_TRUE(limits.memory_clocks.empty());
  EXPECT_TRUE(limits.core_clocks.empty());
  EXPECT_FALSE(limits.most_power);
}

TEST(ReadLimits, ReadsClocksAscendingAtTheHighestMemoryClock) {
  const TinyLibrary library;
  const DeviceLimits limits = read_limits(library.device());
  EXPECT_EQ(limits.memory_clocks, (std::vector<Megahertz>{{2201}, {3201}}));
  EXPECT_EQ(limits.core_clocks.front(), Megahertz{345});
}

RC_GTEST_PROP(Clamp, StaysWithinDeviceAndAdministrator, ()) {
  const auto mhz = [] { return Megahertz{*rc::gen::inRange(0U, 3000U)}; };
  Limits limits = sample();
  limits.admin = {.core = ClockRange::between(mhz(), mhz()),
                  .most_power = Milliwatts{*rc::gen::inRange(0U, 500'000U)}};
  const Request wanted{.core = CoreLock{ClockRange::between(mhz(), mhz())},
                       .power = PowerLimit{{*rc::gen::inRange(0U, 500'000U)}}};
  const auto clamped = clamp(wanted, limits);
  if (!clamped) return;
  const auto& clocks = limits.device.core_clocks;
  for (const Megahertz bound : {clamped->core->range->least(), clamped->core->range->most()}) {
    RC_ASSERT(std::ranges::find(clocks, bound) != clocks.end());
    RC_ASSERT(bound >= limits.admin.core->least() && bound <= limits.admin.core->most());
  }
  RC_ASSERT(clamped->power->limit <= *limits.device.most_power);
  RC_ASSERT(clamped->power->limit <= *limits.admin.most_power);
  RC_ASSERT(clamped->power->limit >= *limits.device.least_power);
  RC_ASSERT(clamp(*clamped, limits).value() == *clamped);
}

}  // namespace
}  // namespace negawatt::gpu
