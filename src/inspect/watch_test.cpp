// SPDX-License-Identifier: Apache-2.0
// A Watch on the scripted driver of room gpu: one GPU, so that one thread at a time asks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "inspect/top.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::inspect {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// NVML's return codes and fields, as its reference lists them.
constexpr int kNotSupported = 3;
constexpr int kGpuIsLost = 15;
constexpr unsigned kPowerAverage = 185;
constexpr unsigned kPowerInstant = 186;

class WatchOfOneGpu : public ::testing::Test {
 protected:
  WatchOfOneGpu() { tiny_.state().gpus.resize(1); }
  [[nodiscard]] Result<Watch> open() const {
    return Watch::open(
        {.library = tiny_.path(), .socket = folder_.path("no-daemon"), .patience = Seconds(5)});
  }
  void pass(double seconds) const {
    tiny_.state().now_ns += static_cast<std::int64_t>(seconds * 1e9);
  }

  testing::TinyLibrary tiny_;
  testing::TemporaryFolder folder_;
};

TEST_F(WatchOfOneGpu, ShowsWhatTheDriverSays) {
  auto watch = open();
  ASSERT_TRUE(watch) << watch.error().message;
  const auto gpu = watch->look().gpus.at(0);
  EXPECT_EQ(gpu.uuid, tiny_.card().uuid);
  EXPECT_EQ(gpu.power.watts, Watts(300));
  EXPECT_EQ(gpu.power.source, PowerSource::instant);
  EXPECT_EQ(gpu.clocks->core.count, 1980);
  EXPECT_EQ(gpu.temperature_c, 61);
  EXPECT_EQ(gpu.lease, std::nullopt);
  EXPECT_EQ(gpu.asked, std::nullopt);
  EXPECT_THAT(tiny_.state().writes, IsEmpty());
}

TEST_F(WatchOfOneGpu, CountsJoulesByTheDevicesClock) {
  auto watch = open();
  ASSERT_TRUE(watch);
  EXPECT_EQ(watch->look().gpus.at(0).energy, std::nullopt);
  pass(10);
  const auto snapshot = watch->look();
  EXPECT_NEAR(snapshot.since_start.in_si(), 10, 1e-9);
  EXPECT_NEAR(snapshot.gpus.at(0).energy->in_si(), 3000, 30.1);  // 300 W, to one counter step
}

TEST_F(WatchOfOneGpu, PowerComesFromTheCounterWhenNoSensorAnswers) {
  tiny_.state().field_always[kPowerInstant] = kNotSupported;
  tiny_.state().field_always[kPowerAverage] = kNotSupported;
  tiny_.state().always["nvmlDeviceGetPowerUsage"] = kNotSupported;
  auto watch = open();
  ASSERT_TRUE(watch);
  EXPECT_EQ(watch->look().gpus.at(0).power.watts, std::nullopt);
  pass(10);
  const auto power = watch->look().gpus.at(0).power;
  EXPECT_EQ(power.source, PowerSource::counter);
  EXPECT_NEAR(power.watts->in_si(), 300, 3.1);
}

TEST_F(WatchOfOneGpu, AGpuThatIsLostLaterKeepsItsLine) {
  auto watch = open();
  ASSERT_TRUE(watch);
  std::ignore = watch->look();
  tiny_.state().always["nvmlDeviceGetClockInfo"] = kGpuIsLost;
  const auto gpu = watch->look().gpus.at(0);
  EXPECT_EQ(gpu.power.watts, std::nullopt);
  EXPECT_EQ(gpu.clocks, std::nullopt);
  EXPECT_NE(gpu.trouble, "");
}

TEST_F(WatchOfOneGpu, WithoutADriverItSaysWhatIsMissing) {
  const auto watch = Watch::open({.library = folder_.path("nothing.so"),
                                  .socket = folder_.path("no-daemon"),
                                  .patience = Seconds(1)});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, Code::unavailable);
  EXPECT_THAT(watch.error().message, HasSubstr("nothing.so"));
}

}  // namespace
}  // namespace negawatt::inspect
