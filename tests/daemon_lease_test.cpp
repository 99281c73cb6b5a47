// SPDX-License-Identifier: Apache-2.0
//
// The life of a lease as a user sees it: negawattd, clients and the simulated GPU are real
// processes.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/daemon_world.hpp"
#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(DaemonLease, ARequestReachesTheGpuAndReleaseRestoresIt) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_EQ(world.settings(), "core 900, memory auto, limit 700 W");
  EXPECT_EQ(user("request 900 2201"), "applied 900 2201");
  EXPECT_EQ(user("request 0 2201"), "applied 0 2201");
  EXPECT_EQ(world.settings(), "core auto, memory 2201, limit 700 W");
  EXPECT_EQ(user("release"), "ok");
  EXPECT_EQ(world.settings(), kUntouched);
  EXPECT_TRUE(becomes(user, "ended: released"));
  EXPECT_THAT(user("request 900 0"), StartsWith("error: the lease of"));
}

TEST(DaemonLease, TheListSaysWhatIsAsked) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user();
  const auto listed = fmt::format("{} 2 {}", kGpu0, user.pid());
  EXPECT_EQ(user("list"), listed + " 0/0");
  EXPECT_EQ(user("request 903 3201"), "applied 900 3201");
  EXPECT_EQ(user("list"), listed + " 900/3201");
  EXPECT_EQ(user("release"), "ok");
  EXPECT_EQ(user("list"), kGpu0 + " 1 0");
}

TEST(DaemonLease, TopShowsTheClocksAskedAndWhoAsks) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  const auto finished = run_negawatt(world.folder(), "top --once --json");
  ASSERT_EQ(finished.exit_code, 0) << finished.error;
  const auto gpu = nlohmann::json::parse(finished.out).at("gpus").at(0);
  EXPECT_EQ(gpu.at("core_asked_mhz"), 900);
  EXPECT_EQ(gpu.at("memory_asked_mhz"), "auto");
  EXPECT_EQ(gpu.at("lease").at("pid"), user.pid());
}

TEST(DaemonLease, AKnobThatStandsAsAskedIsNotSetAgain) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_EQ(user("request 900 0"), "unchanged 900 0");
  EXPECT_EQ(user("request 900 3201"), "applied 900 3201");
  EXPECT_THAT(world.writes(), ElementsAre("lock core 900 900", "lock memory 3201 3201"));
}

TEST(DaemonLease, AClockThatTheGpuLacksBecomesItsNearest) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 903 0"), "applied 900 0");
}

TEST(DaemonLease, NothingIsTouchedBeforeAProcessOfTheClientUsesTheGpu) {
  DaemonWorld world({.limits = "grace_s = 30"});
  world.start();
  auto user = world.user();
  EXPECT_EQ(user("connect"), "ok");
  EXPECT_THAT(user("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_EQ(user("post 900 0"), "ok");
  EXPECT_THAT(user("active 0.5"), StartsWith("error"));
  EXPECT_EQ(user("state"), "pending");
  EXPECT_THAT(world.writes(), IsEmpty());
  EXPECT_EQ(user("use " + kGpu0), "ok");
  EXPECT_EQ(user("active 10"), "active");
  EXPECT_TRUE(world.becomes("core 900, memory auto, limit 700 W"));
}

TEST(DaemonLease, AClientThatDoesNotUseTheGpuNeverChangesIt) {
  DaemonWorld world({.gpus = 2});
  world.start();
  auto user = world.user();
  EXPECT_EQ(user("connect"), "ok");
  EXPECT_EQ(user("use " + kGpu1), "ok");  // another one
  EXPECT_THAT(user("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_EQ(user("post 900 0"), "ok");
  EXPECT_TRUE(eventually(
      [&] { return user("state") == "ended: no process of the client's tree uses the GPU"; }));
  EXPECT_THAT(world.writes(0), IsEmpty());
  EXPECT_THAT(world.writes(1), IsEmpty());
}

TEST(DaemonLease, AStrangersProcessOnTheGpuIsNoPermission) {
  DaemonWorld world;
  world.start();
  auto owner = world.user();
  EXPECT_EQ(owner("use " + kGpu0), "ok");
  auto stranger = world.user();
  EXPECT_EQ(stranger("connect"), "ok");
  EXPECT_THAT(stranger("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_THAT(stranger("active 5"), HasSubstr("no process of the client's tree uses the GPU"));
}

TEST(DaemonLease, AProcessThatLeavesTheGpuLosesItsLeaseAfterTheGracePeriod) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_EQ(user("leave"), "ok");
  EXPECT_TRUE(world.becomes(kUntouched));
  EXPECT_TRUE(becomes(user, "ended: no process of the client's tree uses the GPU"));
}

TEST(DaemonLease, TheSecondWriterIsToldWhoHoldsTheGpu) {
  DaemonWorld world;
  world.start();
  auto first = world.active_user();
  auto second = world.user();
  EXPECT_EQ(second("connect"), "ok");
  EXPECT_EQ(second("use " + kGpu0), "ok");
  EXPECT_EQ(second("acquire " + kGpu0), "error: negawattd: " + kGpu0 + " is leased by process " +
                                            std::to_string(first.pid()) +
                                            " (lease_user) of user 0");
  EXPECT_THAT(second("list"), HasSubstr("2 " + std::to_string(first.pid())));
  EXPECT_EQ(first("release"), "ok");
  EXPECT_THAT(second("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_EQ(second("active 10"), "active");
}

TEST(DaemonLease, TwoGpusHaveTwoWritersAtATime) {
  DaemonWorld world({.gpus = 2});
  world.start();
  auto first = world.active_user();
  auto second = world.user();
  EXPECT_EQ(second("connect"), "ok");
  EXPECT_EQ(second("use " + kGpu1), "ok");
  EXPECT_THAT(second("acquire " + kGpu1), StartsWith("granted"));
  EXPECT_EQ(second("active 10"), "active");
  EXPECT_EQ(first("request 600 0"), "applied 600 0");
  EXPECT_EQ(second("request 900 0"), "applied 900 0");
  EXPECT_EQ(world.settings(0), "core 600, memory auto, limit 700 W");
  EXPECT_EQ(world.settings(1), "core 900, memory auto, limit 700 W");
}

TEST(DaemonLease, RequestsBeyondWhatWasGrantedChangeNothing) {
  DaemonWorld world({.limits = "core_min_mhz = 600\ncore_max_mhz = 1500\nmemory = false"});
  world.start();
  auto user = world.active_user("300 1400 1 0 0");
  EXPECT_EQ(user("request 1455 0"), "outside the lease's limits 0 0");
  EXPECT_EQ(user("request 555 0"), "outside the lease's limits 0 0");
  EXPECT_EQ(user("request 900 3201"), "outside the lease's limits 0 0");
  EXPECT_EQ(user("request 65535 65535"), "outside the lease's limits 0 0");
  EXPECT_THAT(world.writes(), IsEmpty());
  EXPECT_EQ(user("request 1395 0"), "applied 1395 0");
}

TEST(DaemonLease, APowerLimitHoldsForTheLeaseAndIsNeverRaisedAboveTheAdministrators) {
  DaemonWorld world({.limits = "power_min_w = 300"});
  world.start();
  {
    auto user = world.active_user("1 65535 0 500 0");
    EXPECT_EQ(world.settings(), "core auto, memory auto, limit 500 W");
    EXPECT_EQ(user("release"), "ok");
    EXPECT_EQ(world.settings(), kUntouched);
  }
  {
    auto user = world.active_user("1 65535 0 5000 0");
    EXPECT_EQ(world.settings(), kUntouched) << "the ceiling is what was set before";
  }
  EXPECT_TRUE(world.becomes(kUntouched));
  auto user = world.active_user("1 65535 0 100 0");
  EXPECT_EQ(world.settings(), "core auto, memory auto, limit 300 W") << "the floor";
}

TEST(DaemonLease, APowerLimitThatGoesUpIsSetAgainAndOneThatIsLoweredStays) {
  DaemonWorld world;
  world.start();
  {
    auto user = world.active_user("1 65535 0 500 0");
    world.set_without_daemon(600);
    EXPECT_TRUE(world.logs("asked_limit_w=500 limit_w=600"));
    EXPECT_EQ(user("request 900 0"), "applied 900 0");
    EXPECT_EQ(world.settings(), "core 900, memory auto, limit 500 W");
    EXPECT_EQ(user("release"), "ok");
    EXPECT_EQ(world.settings(), kUntouched);
  }
  EXPECT_TRUE(world.becomes(kUntouched));
  auto user = world.active_user("1 65535 0 500 0");
  world.set_without_daemon(400);
  std::this_thread::sleep_for(std::chrono::seconds(3));  // seen twice
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_EQ(world.settings(), "core 900, memory auto, limit 400 W");
  EXPECT_EQ(user("release"), "ok");
  EXPECT_EQ(world.settings(), "core auto, memory auto, limit 400 W");
}

TEST(DaemonLease, AnExpiredLeaseRestoresWhileItsClientLives) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user("1 65535 1 0 0.8");
  EXPECT_EQ(user("request 900 2201"), "applied 900 2201");
  EXPECT_TRUE(world.becomes(kUntouched));
  EXPECT_TRUE(becomes(user, "ended: its duration is over"));
  // What became of it is not taken for the answer to the next question.
  EXPECT_EQ(user("drop"), "ok");
  EXPECT_THAT(user("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_EQ(user("active 10"), "active");
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
}

TEST(DaemonLease, AnAdministratorsRestingClocksComeBackInsteadOfNone) {
  DaemonWorld world({.limits = "unleased_core_mhz = [0, 1500]"});
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_EQ(user("release"), "ok");
  EXPECT_THAT(world.settings(), HasSubstr("1500,"));
}

TEST(DaemonLease, AReloadedConfigurationHoldsForTheNextLease) {
  DaemonWorld world;
  world.start();
  world.configure("", "core_max_mhz = 900");
  world.signal_daemon(SIGHUP);
  EXPECT_TRUE(world.logs("configuration read again"));
  auto user = world.active_user();
  EXPECT_EQ(user("request 1200 0"), "outside the lease's limits 0 0");
}

TEST(DaemonLease, AConfigurationThatIsWrongChangesNothingAndSaysWhy) {
  DaemonWorld world;
  world.start();
  world.configure("", "core_mx_mhz = 900");
  world.signal_daemon(SIGHUP);
  EXPECT_TRUE(world.logs("is 'core_max_mhz' meant?"));
  auto user = world.active_user();
  EXPECT_EQ(user("request 1200 0"), "applied 1200 0");
}

TEST(DaemonLease, AReloadBringsNoHalfOfObserveOnly) {
  DaemonWorld world;
  world.start();
  world.configure("observe_only = true", "");
  world.signal_daemon(SIGHUP);
  EXPECT_TRUE(world.logs("takes effect after a restart"));
  EXPECT_TRUE(world.logs("configuration read again"));
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
}

TEST(DaemonLease, AFolderAsConfigurationChangesNothing) {
  DaemonWorld world;
  world.start();
  const auto path = world.folder().path("negawattd.toml");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  world.signal_daemon(SIGHUP);
  EXPECT_TRUE(world.logs("configuration not changed"));
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
}

TEST(DaemonLease, RulesForAGpuThatIsNotThereAreSaidToBe) {
  DaemonWorld world({.limits = "[gpu.\"GPU-52000000-4e57-4a10-8200-000000000000\"]\n"
                               "leasable = false"});
  world.start();
  EXPECT_TRUE(world.logs("the configuration names a GPU that is not there"));
}

TEST(DaemonLease, AWrongConfigurationIsExitCodeTwo) {
  DaemonWorld world({.config = "soket = 1"});
  EXPECT_EQ(world.start_and_wait().exit_code, 2);
  EXPECT_THAT(world.log(), HasSubstr("is 'socket' meant?"));
}

TEST(DaemonLease, AMissingDriverIsExitCodeThree) {
  DaemonWorld world;
  EXPECT_EQ(world.start_and_wait("exec env NEGAWATT_NVML=/nonexistent/libnvidia-ml.so.1").exit_code,
            3);
  EXPECT_THAT(world.log(), HasSubstr("/nonexistent/libnvidia-ml.so.1"));
}

TEST(DaemonLease, ASecondDaemonGivesUpAndTheFirstGoesOn) {
  DaemonWorld world;
  world.start();
  EXPECT_EQ(world.start_and_wait().exit_code, 3);
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
}

}  // namespace
}  // namespace negawatt::testing
