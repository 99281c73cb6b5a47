// SPDX-License-Identifier: Apache-2.0
#include "gpu/clock_guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "nvml/nvml.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TinyLibrary;
namespace fs = std::filesystem;

const CoreLock kCore{ClockRange::exactly({1410})};
const MemoryLock kMemory{ClockRange::exactly({2201})};
const PowerLimit kPower{{500'000}};
const Request kAll{.core = kCore, .memory = kMemory, .power = kPower};

class ClockGuardTest : public ::testing::Test {
 protected:
  ClockGuardTest() { open_journal(); }

  void open_journal() {
    journal_.reset();  // one at a time
    journal_ = std::make_unique<Journal>(Journal::open(journal_path_).value());
  }
  [[nodiscard]] ClockGuard guard(GuardOptions options = {}) {
    const Device device = library_.device();
    options.limits.device = read_limits(device);
    options.on_failure = [this](const RestoreFailure& failure) { failures_.push_back(failure); };
    options.on_back = [this](const Setting& previous) { back_.push_back(previous); };
    options.on_left = [this](const Setting& previous) { left_.push_back(previous); };
    return {device, *journal_, std::move(options)};
  }
  /// As the daemon does it with what a crash left.
  [[nodiscard]] Restoration restore(Since since = Since::our_change) const {
    const Device device = library_.device();
    return restore_backups(device, *journal_, outstanding_of(*journal_, device.id()), since);
  }
  /// Nothing is set, nothing is outstanding.
  void expect_untouched() {
    EXPECT_FALSE(library_.card().core_lock);
    EXPECT_FALSE(library_.card().memory_lock);
    EXPECT_EQ(library_.card().limit_mw, 700'000U);
    EXPECT_THAT(journal_->outstanding(), IsEmpty());
  }
  [[nodiscard]] std::vector<std::string>& writes() const { return library_.state().writes; }
  void always(const char* function, nvmlReturn_t code) const {
    library_.state().always[function] = code;
  }

  TinyLibrary library_;
  testing::TemporaryFolder folder_;
  std::string journal_path_ = folder_.path("journal");
  std::unique_ptr<Journal> journal_;
  std::vector<RestoreFailure> failures_;
  std::vector<Setting> back_;
  std::vector<Setting> left_;
};

TEST_F(ClockGuardTest, TouchesNothingUntilAsked) {
  {
    const ClockGuard untouched = guard();
  }
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(ClockGuardTest, SetsAndPutsBackEveryKnob) {
  {
    ClockGuard guarded = guard();
    ASSERT_EQ(guarded.apply(kAll).value(), kAll);
    EXPECT_EQ(library_.card().core_lock, std::pair(1410U, 1410U));
    EXPECT_EQ(library_.card().memory_lock, std::pair(2201U, 2201U));
    EXPECT_EQ(library_.card().limit_mw, 500'000U);
    EXPECT_EQ(journal_->outstanding().size(), 3U);
    ASSERT_TRUE(guarded.restore());
    EXPECT_FALSE(guarded.armed());
    expect_untouched();
    EXPECT_EQ(back_.size(), 3U);
  }
  EXPECT_EQ(writes().size(), 6U);  // the destructor had nothing left to do
}

TEST_F(ClockGuardTest, RestoresWhenItGoesOutOfScope) {
  {
    ClockGuard first = guard();
    ASSERT_TRUE(first.apply(kAll));
    const ClockGuard moved = std::move(first);
  }
  expect_untouched();
  EXPECT_EQ(writes().size(), 6U);
}

TEST_F(ClockGuardTest, JournalsThePreviousStateBeforeTheFirstCall) {
  ClockGuard guarded = guard({.policy_core = CoreLock{ClockRange::at_most({1965})}});
  library_.card().limit_mw = 650'000;
  ASSERT_TRUE(guarded.apply(kAll));
  EXPECT_THAT(journal_->outstanding(),
              ElementsAre(Backup{guarded.device().id(), CoreLock{ClockRange::at_most({1965})}},
                          Backup{guarded.device().id(), MemoryLock{}},
                          Backup{guarded.device().id(), PowerLimit{{650'000}}, {{500'000}}}));
  ASSERT_TRUE(guarded.restore());
  EXPECT_EQ(library_.card().core_lock, std::pair(0U, 1965U));
  EXPECT_EQ(library_.card().limit_mw, 650'000U);
}

TEST_F(ClockGuardTest, LeavesNothingBehindWhenTheMemoryLockIsRefusedAfterTheCoreLock) {
  always("nvmlDeviceSetMemoryLockedClocks", NVML_ERROR_NOT_SUPPORTED);
  ClockGuard guarded = guard();
  const auto applied = guarded.apply({.core = kCore, .memory = kMemory});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, Code::unavailable);
  EXPECT_FALSE(guarded.armed());
  expect_untouched();
  EXPECT_THAT(writes(), ElementsAre("GPU-aaaa core 1410 1410", "GPU-aaaa memory 2201 2201",
                                    "GPU-aaaa core reset"));
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(ClockGuardTest, GoesBackToTheStateBeforeWhenALaterRequestFails) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply({.core = kCore}));
  always("nvmlDeviceSetMemoryLockedClocks", NVML_ERROR_NO_PERMISSION);
  EXPECT_FALSE(guarded.apply({.core = CoreLock{ClockRange::exactly({1980})}, .memory = kMemory}));
  EXPECT_EQ(library_.card().core_lock, std::pair(1410U, 1410U));
  EXPECT_EQ(guarded.asked(), (Request{.core = kCore}));
  ASSERT_TRUE(guarded.restore());
  expect_untouched();
}

TEST_F(ClockGuardTest, PutsBackAKnobWhoseCallBrokeHalfway) {
  library_.state().next["nvmlDeviceSetMemoryLockedClocks"] = {NVML_ERROR_UNKNOWN};
  library_.card().memory_lock = {1U, 1U};  // as if it had taken effect all the same
  ClockGuard guarded = guard();
  EXPECT_FALSE(guarded.apply({.memory = kMemory}));
  expect_untouched();
}

TEST_F(ClockGuardTest, TouchesNothingWhenTheJournalCannotBeWritten) {
  // A GPU without a proper id is the nearest that a test can come without filling a disk.
  library_.card().uuid = "GPU with blanks";
  ClockGuard guarded = guard();
  EXPECT_FALSE(guarded.apply(kAll));
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_FALSE(guarded.armed());
}

TEST_F(ClockGuardTest, TouchesNoPowerLimitThatItCouldNotRestore) {
  always("nvmlDeviceGetPowerManagementLimit", NVML_ERROR_NOT_SUPPORTED);
  ClockGuard guarded = guard();
  EXPECT_FALSE(guarded.apply({.core = kCore, .power = kPower}));
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_THAT(journal_->outstanding(), IsEmpty());
}

TEST_F(ClockGuardTest, RestoresTheOthersWhenOneKnobFails) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply(kAll));
  always("nvmlDeviceResetGpuLockedClocks", NVML_ERROR_UNKNOWN);
  EXPECT_FALSE(guarded.restore());
  EXPECT_TRUE(library_.card().core_lock);
  EXPECT_FALSE(library_.card().memory_lock);
  EXPECT_EQ(library_.card().limit_mw, 700'000U);
  EXPECT_TRUE(guarded.armed());
  EXPECT_THAT(journal_->outstanding(), ElementsAre(Backup{guarded.device().id(), CoreLock{}}));
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_EQ(failures_[0].previous, Setting(CoreLock{}));

  library_.state().always.clear();
  EXPECT_TRUE(guarded.restore());
  expect_untouched();
}

TEST_F(ClockGuardTest, TriesToRestoreAgainBeforeItFails) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply(kAll));
  library_.state().next["nvmlDeviceResetMemoryLockedClocks"] = {NVML_ERROR_UNKNOWN,
                                                                NVML_ERROR_TIMEOUT};
  EXPECT_TRUE(guarded.restore());
  expect_untouched();
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(ClockGuardTest, RestoresInTheOtherOrderWhereOneOrderFails) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply({.core = kCore, .memory = kMemory}));
  // The core resets only after the memory, and the memory not before the core was tried again.
  library_.state().next["nvmlDeviceResetGpuLockedClocks"] = {NVML_ERROR_INVALID_STATE};
  library_.state().next["nvmlDeviceResetMemoryLockedClocks"] = {NVML_ERROR_INVALID_STATE};
  writes().clear();
  EXPECT_TRUE(guarded.restore());
  EXPECT_THAT(writes(), ElementsAre("GPU-aaaa core reset", "GPU-aaaa memory reset",
                                    "GPU-aaaa memory reset", "GPU-aaaa core reset"));
}

TEST_F(ClockGuardTest, IsLoudWhenItsDestructorCannotRestore) {
  {
    ClockGuard guarded = guard();
    ASSERT_TRUE(guarded.apply({.core = kCore}));
    always("nvmlDeviceResetGpuLockedClocks", NVML_ERROR_GPU_IS_LOST);
  }
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_EQ(failures_[0].error.obstacle, Obstacle::lost);
  EXPECT_EQ(journal_->outstanding().size(), 1U);
}

TEST_F(ClockGuardTest, DoesNotBelieveAPowerLimitThatDoesNotReadBack) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply({.power = kPower}));
  library_.state().ignore_power_limit = true;
  EXPECT_FALSE(guarded.restore());
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_NE(failures_[0].error.message.find("accepted 700 W, but it is 500 W"), std::string::npos);
}

TEST_F(ClockGuardTest, LeavesALowerLimitThatAnAdministratorSetMeanwhile) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply({.core = kCore, .power = kPower}));
  library_.card().limit_mw = 400'000;
  EXPECT_TRUE(guarded.restore());
  EXPECT_EQ(library_.card().limit_mw, 400'000U);
  EXPECT_THAT(journal_->outstanding(), IsEmpty());
  EXPECT_THAT(left_, ElementsAre(Setting(PowerLimit{{700'000}}))) << "and it is told";
  EXPECT_THAT(back_, ElementsAre(Setting(CoreLock{}))) << "which is all that is back";
}

TEST_F(ClockGuardTest, ClampsToTheLimits) {
  ClockGuard guarded = guard({.limits = {.admin = {.core = ClockRange::at_most({1965})}}});
  const auto applied = guarded.apply({.core = CoreLock{ClockRange::exactly({5000})}});
  EXPECT_EQ(applied.value().core->range, ClockRange::exactly({1965}));
  EXPECT_EQ(library_.card().core_lock, std::pair(1965U, 1965U));
}

TEST_F(ClockGuardTest, ChangesClocksWithoutTheDiskOnceArmed) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply({.core = kCore}));
  const auto written = fs::last_write_time(journal_path_);
  const auto size = fs::file_size(journal_path_);
  ASSERT_TRUE(guarded.apply({.core = CoreLock{ClockRange::exactly({1980})}}));
  EXPECT_EQ(fs::last_write_time(journal_path_), written);
  EXPECT_EQ(fs::file_size(journal_path_), size);
}

TEST_F(ClockGuardTest, TellsAskedFromObserved) {
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply(kAll));
  library_.card().core_mhz = 1740;
  library_.card().memory_mhz = 2201;
  library_.card().limit_mw = 700'000;  // the stock value came back
  const auto seen = guarded.observe();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->asked, kAll);
  EXPECT_EQ(seen->clocks.core, Megahertz{1740});
  EXPECT_EQ(seen->core, Enforcement::not_honoured);
  EXPECT_EQ(seen->memory, Enforcement::honoured);
  EXPECT_EQ(seen->power, Enforcement::not_honoured);
  library_.card().limit_mw = 400'000;  // somebody else's
  EXPECT_EQ(guarded.observe()->power, Enforcement::limited);
}

TEST(Enforcement, KnowsWhyAClockIsLower) {
  const auto locked = ClockRange::exactly({1980});
  const auto judge = [&](std::uint32_t mhz, std::uint64_t reasons) {
    return enforcement_of(locked, {mhz}, EventReasons{reasons});
  };
  EXPECT_EQ(judge(1980, 0), Enforcement::honoured);
  EXPECT_EQ(judge(1965, 0), Enforcement::honoured);
  EXPECT_EQ(judge(1950, 0), Enforcement::not_honoured);
  EXPECT_EQ(judge(1510, nvmlClocksEventReasonSwPowerCap), Enforcement::limited);
  EXPECT_EQ(judge(1510, nvmlClocksThrottleReasonHwThermalSlowdown), Enforcement::limited);
  EXPECT_EQ(judge(345, nvmlClocksEventReasonGpuIdle), Enforcement::idle);
  EXPECT_EQ(judge(2100, nvmlClocksEventReasonSwPowerCap), Enforcement::not_honoured);
  EXPECT_EQ(enforcement_of(ClockRange::at_most({1980}), {345}, std::nullopt),
            Enforcement::honoured);
  EXPECT_EQ(enforcement_of(std::nullopt, {345}, std::nullopt), Enforcement::honoured);
}

TEST_F(ClockGuardTest, ACrashIsRepairedFromTheJournal) {
  auto lost = std::make_unique<ClockGuard>(guard());
  ASSERT_TRUE(lost->apply(kAll));
  // The process dies here, without destructors. Reachable for ever, so that it is no leak.
  [[maybe_unused]] static const ClockGuard* volatile dead = lost.release();
  open_journal();
  ASSERT_EQ(journal_->outstanding().size(), 3U);
  const auto restored = restore();
  EXPECT_EQ(restored.back.size(), 3U);
  EXPECT_THAT(restored.failures, IsEmpty());
  expect_untouched();
}

TEST_F(ClockGuardTest, AGpuThatDoesNotAnswerKeepsItsBackups) {
  const auto driver = library_.open();
  const Backup backup{GpuId("GPU-cccc"), CoreLock{}};
  ASSERT_TRUE(journal_->save(backup));
  const auto absent = driver.placeholder(backup.gpu);
  const auto restored =
      restore_backups(absent, *journal_, outstanding_of(*journal_, backup.gpu), Since::our_change);
  EXPECT_EQ(restored.failures.size(), 1U);
  EXPECT_THAT(journal_->outstanding(), ElementsAre(backup));
}

/// Our limits of 500 W and then 600 W, before that 700 W, and a crash.
class AfterACrash : public ClockGuardTest {
 protected:
  AfterACrash() {
    auto lost = std::make_unique<ClockGuard>(guard());
    EXPECT_TRUE(lost->apply({.power = PowerLimit{{500'000}}}));
    EXPECT_TRUE(lost->apply({.power = PowerLimit{{600'000}}}));
    lost->leave_to_journal();
    open_journal();
  }
  /// What the limit is after it was `found` and restored.
  [[nodiscard]] unsigned from(unsigned found, Since since = Since::our_change) {
    library_.card().limit_mw = found;
    EXPECT_THAT(restore(since).failures, IsEmpty());
    EXPECT_THAT(journal_->outstanding(), IsEmpty());
    return library_.card().limit_mw;
  }
};

TEST_F(AfterACrash, OurLimitIsTakenBack) { EXPECT_EQ(from(600'000), 700'000U); }
TEST_F(AfterACrash, OurLimitBeforeTheLastIsTakenBackToo) { EXPECT_EQ(from(500'000), 700'000U); }
TEST_F(AfterACrash, OurLimitAsTheDriverRoundedItIsTakenBack) { EXPECT_EQ(from(599'600), 700'000U); }
TEST_F(AfterACrash, AnAdministratorsLowerLimitStays) { EXPECT_EQ(from(400'000), 400'000U); }
TEST_F(AfterACrash, AnAdministratorsLimitBetweenStays) { EXPECT_EQ(from(650'000), 650'000U); }
TEST_F(AfterACrash, AHigherLimitThanBeforeComesDown) { EXPECT_EQ(from(720'000), 700'000U); }
TEST_F(AfterACrash, OfTheMachineNoLowerLimitIsOurs) {
  EXPECT_EQ(from(500'000, Since::machine_start), 500'000U);
}

TEST_F(AfterACrash, ALimitThatCannotBeReadIsTriedAgain) {
  library_.card().limit_mw = 400'000;
  for (const auto* getter :
       {"nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetPowerManagementLimitConstraints", "nvmlDeviceGetFieldValues"})
    always(getter, NVML_ERROR_UNKNOWN);
  EXPECT_EQ(restore().failures.size(), 1U);
  EXPECT_EQ(library_.card().limit_mw, 400'000U) << "not raised blindly";
  EXPECT_EQ(journal_->outstanding().size(), 1U);
  library_.state().always.clear();
  EXPECT_EQ(restore().left.size(), 1U);
  EXPECT_EQ(library_.card().limit_mw, 400'000U);
}

TEST_F(ClockGuardTest, AJournalThatDoesNotTellWhatWasOursRestoresAsItAlwaysDid) {
  ASSERT_TRUE(journal_->save({library_.device().id(), PowerLimit{{700'000}}}));
  library_.card().limit_mw = 500'000;
  EXPECT_EQ(restore().back.size(), 1U);
  EXPECT_EQ(library_.card().limit_mw, 700'000U);
}

TEST_F(ClockGuardTest, ALimitThatTheDriverRoundsIsStillOurs) {
  library_.state().whole_watts = true;
  {
    ClockGuard guarded = guard();
    ASSERT_TRUE(guarded.apply({.power = PowerLimit{{499'600}}}));
    EXPECT_EQ(library_.card().limit_mw, 500'000U);
    EXPECT_EQ(guarded.observe()->power, Enforcement::honoured);
    EXPECT_TRUE(guarded.restore());
  }
  expect_untouched();
}

TEST_F(ClockGuardTest, SetsNoPowerLimitThatCannotBeNoted) {
  // As many as fit are there already.
  ASSERT_TRUE(journal_->save({library_.device().id(), PowerLimit{{700'000}}}));
  for (std::uint32_t i = 0; i < kMostAsked; ++i)
    ASSERT_TRUE(journal_->asked(library_.device().id(), {300'000 + i}));
  ClockGuard guarded = guard();
  EXPECT_FALSE(guarded.apply({.core = kCore, .power = kPower}));
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(ClockGuardTest, WhatIsLeftToTheJournalIsNotTriedTwice) {
  {
    ClockGuard guarded = guard();
    ASSERT_TRUE(guarded.apply({.core = kCore}));
    always("nvmlDeviceResetGpuLockedClocks", NVML_ERROR_UNKNOWN);
    EXPECT_FALSE(guarded.restore());
    guarded.leave_to_journal();
    EXPECT_FALSE(guarded.armed());
    writes().clear();
  }
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_EQ(failures_.size(), 1U);
  EXPECT_EQ(journal_->outstanding().size(), 1U);
}

TEST_F(ClockGuardTest, AGuardAfterACrashRestoresTheStateBeforeTheCrash) {
  const auto before = CoreLock{ClockRange::exactly({1950})};
  ASSERT_TRUE(journal_->save({library_.device().id(), before}));
  ClockGuard guarded = guard();
  ASSERT_TRUE(guarded.apply({.core = kCore}));
  ASSERT_TRUE(guarded.restore());
  EXPECT_EQ(library_.card().core_lock, std::pair(1950U, 1950U));
}

}  // namespace
}  // namespace negawatt::gpu
