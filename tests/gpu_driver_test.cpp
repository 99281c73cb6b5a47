// SPDX-License-Identifier: Apache-2.0
//
// Room gpu over the simulated driver, loaded as any driver is. And, with label 'gpu', over the
// machine's own driver: observing only, skipped where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "gpu/capabilities.hpp"
#include "gpu/clock_guard.hpp"
#include "gpu/driver.hpp"
#include "gpu/energy_window.hpp"
#include "gpu/journal.hpp"
#include "gpu/refresh.hpp"
#include "gpu/visible_devices.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::gpu {
namespace {

using ::testing::IsEmpty;

/// A simulated machine in virtual time, of its own for each test.
class SimulatedDriver : public ::testing::Test {
 protected:
  /// The H200 with more lines for its description; a file name of data/gpusim for another one.
  void start_h200(const std::string& more) {
    start(
        folder_.file("machine.toml",
                     "[[gpu]]\nbase = \"" NEGAWATT_SOURCE_DIR "/data/gpusim/h200.toml\"\n" + more));
  }
  void start(const std::string& description) {
    ::setenv("NEGAWATT_GPUSIM", description.c_str(), 1);
    ::setenv("NEGAWATT_GPUSIM_STATE", folder_.path("state").c_str(), 1);
    ::setenv("NEGAWATT_GPUSIM_TIME", "virtual", 1);
    auto driver = Driver::open(Access::control, NEGAWATT_SIMULATED_NVML);
    ASSERT_TRUE(driver) << driver.error().message;
    driver_ = *std::move(driver);
    part_.emplace(driver_->clock().participate());
  }
  [[nodiscard]] Device device() const { return driver_->devices().front(); }
  [[nodiscard]] std::unique_ptr<Journal> journal() const {
    return std::make_unique<Journal>(Journal::open(folder_.path("journal")).value());
  }

  testing::TemporaryFolder folder_;
  std::optional<Driver> driver_;
  std::optional<Participation> part_;
};

TEST_F(SimulatedDriver, ListsEightGpusUnderDistinctUuids) {
  start(NEGAWATT_SOURCE_DIR "/data/gpusim/eight-h200.toml");
  std::set<GpuId> ids;
  for (const Device& device : driver_->devices()) ids.insert(device.id());
  EXPECT_EQ(ids.size(), 8U);
  EXPECT_EQ(visible_devices({.visible_devices = "7,0"}, physical_gpus(*driver_)).devices.size(),
            2U);
}

TEST_F(SimulatedDriver, AnswersEveryQueryOfAnH200) {
  start_h200("");
  EXPECT_THAT(driver_->missing_functions(), IsEmpty());
  for (const Capability& query : probe(device()).queries) {
    EXPECT_FALSE(query.error) << query.name << ": " << query.error->message;
  }
}

TEST_F(SimulatedDriver, RefreshesItsSensorsEvery100Milliseconds) {
  start_h200("");
  const auto refresh = measure_refresh(device(), Sensor::energy);
  ASSERT_TRUE(refresh) << refresh.error().message;
  EXPECT_NEAR(refresh->period.in_si(), 0.1, refresh->period_error.in_si() + 1e-9);
  EXPECT_LT(refresh->period_error.in_si(), 0.001);
}

TEST_F(SimulatedDriver, CountsWhatItsPowerSensorShows) {
  start_h200("");
  auto meter = EnergyMeter::open(device());
  ASSERT_TRUE(meter) << meter.error().message;
  const auto window = meter->begin_aligned();
  driver_->clock().sleep_for(Seconds(5));
  const auto use = meter->end(*window, WhenShort::refuse);
  ASSERT_TRUE(use) << use.error().message;
  const double power = to_si(device().power_average().value()).in_si();
  EXPECT_NEAR(use->power().in_si(), power, 0.01 * power);
  const auto check = cross_check(device(), {meter->refresh(), meter->refresh()});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->verdict, CrossCheck::Verdict::agrees);
}

TEST_F(SimulatedDriver, IsCaughtWithACounterAtTheWrongRate) {
  start_h200("[[gpu.faults.at]]\nat_s = 0\nkind = \"counter_rate\"\nrate = 0.5\n");
  const auto refresh = measure_refresh(device(), Sensor::energy);
  ASSERT_TRUE(refresh) << refresh.error().message;
  const auto check = cross_check(device(), {*refresh, *refresh});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->verdict, CrossCheck::Verdict::disagrees);
}

TEST_F(SimulatedDriver, VoidsAWindowOverACounterReset) {
  start_h200("[[gpu.faults.at]]\nat_s = 10\nkind = \"counter_reset\"\n");
  auto meter = EnergyMeter::open(device());
  ASSERT_TRUE(meter) << meter.error().message;
  driver_->clock().sleep_until(TimePoint() + Seconds(9));
  const auto window = meter->begin();
  driver_->clock().sleep_until(TimePoint() + Seconds(12));
  EXPECT_FALSE(meter->end(*window, WhenShort::refuse));
  EXPECT_EQ(meter->counts().resets, 1U);
}

TEST_F(SimulatedDriver, TakesAndGivesBackEverySetting) {
  start_h200("");
  const auto journal = SimulatedDriver::journal();
  ClockGuard guard(device(), *journal, {.limits = {.device = read_limits(device())}});
  const Request wanted{.core = CoreLock{ClockRange::exactly({1410})},
                       .memory = MemoryLock{ClockRange::exactly({2201})},
                       .power = PowerLimit{{500'000}}};
  ASSERT_EQ(guard.apply(wanted).value(), wanted);
  driver_->clock().sleep_for(Seconds(0.1));
  const auto seen = guard.observe();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_NE(seen->core, Enforcement::not_honoured);
  EXPECT_EQ(seen->power, Enforcement::honoured);
  EXPECT_EQ(seen->requested_limit, Milliwatts{500'000});
  ASSERT_TRUE(guard.restore());
  EXPECT_EQ(device().power_limits().value().requested, Milliwatts{700'000});
  EXPECT_THAT(journal->outstanding(), IsEmpty());
}

TEST_F(SimulatedDriver, LeavesNothingBehindWithoutAMemoryLock) {
  start_h200("[gpu.faults]\nnot_supported = [\"nvmlDeviceSetMemoryLockedClocks\"]\n");
  const auto journal = SimulatedDriver::journal();
  ClockGuard guard(device(), *journal, {.limits = {.device = read_limits(device())}});
  const auto applied = guard.apply({.core = CoreLock{ClockRange::exactly({1410})},
                                    .memory = MemoryLock{ClockRange::exactly({2201})}});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, Code::unavailable);
  EXPECT_FALSE(guard.armed());
  EXPECT_THAT(journal->outstanding(), IsEmpty());
}

TEST_F(SimulatedDriver, KeepsTheJournalOfAGpuThatIsLost) {
  start_h200("[[gpu.faults.at]]\nat_s = 5\nkind = \"gpu_lost\"\n");
  const auto journal = SimulatedDriver::journal();
  std::vector<RestoreFailure> failures;
  ClockGuard guard(device(), *journal,
                   {.limits = {.device = read_limits(device())},
                    .on_failure = [&](const auto& failure) { failures.push_back(failure); }});
  ASSERT_TRUE(guard.apply({.core = CoreLock{ClockRange::exactly({1410})}}));
  driver_->clock().sleep_until(TimePoint() + Seconds(6));
  EXPECT_FALSE(guard.restore());
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].error.obstacle, Obstacle::lost);
  EXPECT_EQ(journal->outstanding().size(), 1U);
}

/// The machine's own GPUs. Nothing is changed: the driver is opened without its setters.
class RealDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    auto driver = Driver::open(Access::observe, "libnvidia-ml.so.1");
    if (!driver) GTEST_SKIP() << "no GPU here: " << driver.error().message;
    driver_ = *std::move(driver);
    // What a test before this one loaded under that name stays loaded in this process.
    if (driver_->clock().is_simulated()) GTEST_SKIP() << "the driver is a simulated one";
    if (driver_->devices().empty()) GTEST_SKIP() << "no GPU here that answers";
  }
  std::optional<Driver> driver_;
};

TEST_F(RealDriver, TellsWhatItCanDo) {
  std::set<GpuId> ids;
  for (const Device& device : driver_->devices()) {
    std::printf("%s %s\n", device.id().text().c_str(), device.identity().name.c_str());
    EXPECT_TRUE(ids.insert(device.id()).second);
    EXPECT_EQ(device.id().text().substr(0, 4), "GPU-");
    const Capabilities capabilities = probe(device);
    for (const Capability& query : capabilities.queries) {
      std::printf("  %.*s: %s\n", static_cast<int>(query.name.size()), query.name.data(),
                  query.error ? query.error->message.c_str() : query.answer.c_str());
    }
    EXPECT_TRUE(capabilities.has("clocks"));
  }
}

TEST_F(RealDriver, HasACounterThatMovesAndAgreesWithItsPower) {
  const Device device = driver_->devices().front();
  const auto energy = measure_refresh(device, Sensor::energy);
  if (!energy) GTEST_SKIP() << energy.error().message;
  std::printf("energy counter every %.3f ms (+- %.3f), a read takes %.3f ms, last one +- %.3f ms\n",
              energy->period.in_si() * 1e3, energy->period_error.in_si() * 1e3,
              energy->read_cost.in_si() * 1e3, energy->last.half_width().in_si() * 1e3);
  EXPECT_GT(energy->period.in_si(), 0.001);
  EXPECT_LT(energy->period.in_si(), 1.5);
  const auto check = cross_check(device, {*energy, *energy});
  ASSERT_TRUE(check) << check.error().message;
  std::printf("counter %.2f J, integrated %.2f J in %.3f s, spread %.3f\n", check->counter.in_si(),
              check->integrated.in_si(), check->time.in_si(), check->spread);
  EXPECT_NE(check->verdict, CrossCheck::Verdict::disagrees);
}

}  // namespace
}  // namespace negawatt::gpu
