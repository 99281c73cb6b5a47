// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_clock.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "nvml/nvml.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using testing::TinyLibrary;

TEST(TimePoint, DifferencesAreSeconds) {
  const auto early = TimePoint::at_nanoseconds(1'000'000'000);
  const auto late = early + Seconds(0.25);
  EXPECT_EQ(late.nanoseconds(), 1'250'000'000);
  EXPECT_DOUBLE_EQ((early - late).in_si(), -0.25);
}

TEST(DeviceClock, IsTheSimulatedOneWhereTheDriverHasOne) {
  const TinyLibrary library;
  const DeviceClock clock = library.open().clock();
  EXPECT_TRUE(clock.is_simulated());
  clock.sleep_until(TimePoint::at_nanoseconds(3'600'000'000'000));
  EXPECT_EQ(clock.now().nanoseconds(), 3'600'000'000'000);
  clock.notify();
  EXPECT_EQ(library.state().notified, 1);
}

TEST(DeviceClock, IsTheMachinesElsewhere) {
  const TinyLibrary library(NEGAWATT_TINY_NVML_OLD);
  const DeviceClock clock = library.open().clock();
  EXPECT_FALSE(clock.is_simulated());
  const TimePoint began = clock.now();
  clock.sleep_for(Seconds(0.005));
  EXPECT_GE((clock.now() - began).in_si(), 0.005);
  clock.notify();
  const Participation part = clock.participate();
}

TEST(DeviceClock, GoesOnAtTheMachinesPaceWhenTheSimulatedWorldBreaks) {
  const TinyLibrary library;
  const DeviceClock clock = library.open().clock();
  library.state().now_ns = 5'000'000'000;
  ASSERT_EQ(clock.now().nanoseconds(), 5'000'000'000);
  library.state().always["negawattSimNow"] = NVML_ERROR_UNKNOWN;
  const TimePoint broken = clock.now();
  EXPECT_GE(broken.nanoseconds(), 5'000'000'000);
  clock.sleep_for(Seconds(0.002));
  EXPECT_GE((clock.now() - broken).in_si(), 0.002);
}

TEST(Participation, JoinsOnceAndLeavesOnce) {
  const TinyLibrary library;
  const DeviceClock clock = library.open().clock();
  {
    Participation part = clock.participate();
    const Participation moved = std::move(part);
    EXPECT_EQ(library.state().joined, 1);
  }
  EXPECT_EQ(library.state().joined, 0);
}

TEST(Participation, DoesNotLeaveWhatItCouldNotJoin) {
  const TinyLibrary library;
  library.state().always["negawattSimJoin"] = NVML_ERROR_INSUFFICIENT_RESOURCES;
  {
    const Participation part = library.open().clock().participate();
  }
  EXPECT_EQ(library.state().calls["negawattSimLeave"], 0);
}

}  // namespace
}  // namespace negawatt::gpu
