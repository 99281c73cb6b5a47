// SPDX-License-Identifier: Apache-2.0
//
// Every way to die, each test named after it: whatever fails, the end state of every knob is the
// one that was there before. docs/daemon.md has the table.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gpu/journal.hpp"
#include "tests/daemon_world.hpp"

namespace negawatt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kAltered = "core 900, memory 2201, limit 500 W";

using SteadyClock = std::chrono::steady_clock;

/// What a daemon that has ended leaves to be restored.
std::vector<gpu::Backup> backups(const DaemonWorld& world) {
  // A copy: one that still runs holds the journal itself.
  const auto copy = world.folder().path("copy-of-journal");
  std::filesystem::copy_file(world.journal(), copy,
                             std::filesystem::copy_options::overwrite_existing);
  return gpu::Journal::open(copy).value().outstanding();
}

/// An active lease under which all three knobs are altered.
User altering_user(DaemonWorld& world) {
  auto user = world.active_user("1 65535 1 500 0");
  EXPECT_EQ(user("request 900 2201"), "applied 900 2201");
  EXPECT_EQ(world.settings(), kAltered);
  return user;
}

TEST(DaemonDeath, ClientSigterm) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);
  user.signal(SIGTERM);
  EXPECT_TRUE(world.becomes(kUntouched));
}

TEST(DaemonDeath, ClientSigkill) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);
  user.signal(SIGKILL);
  EXPECT_TRUE(world.becomes(kUntouched));
  EXPECT_TRUE(world.logs("restored=yes"));
}

TEST(DaemonDeath, ClientSigstop) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);
  user.signal(SIGSTOP);
  EXPECT_TRUE(world.becomes(kUntouched));
  user.signal(SIGCONT);
  EXPECT_TRUE(becomes(user, "ended: no heartbeat of the client"));
  EXPECT_THAT(user("request 600 0"), StartsWith("error"));
  EXPECT_EQ(world.settings(), kUntouched);
}

TEST(DaemonDeath, ClientHangsWithoutHeartbeats) {
  DaemonWorld world;
  world.start();
  auto user = world.user();
  EXPECT_EQ(user("connect manual"), "ok");
  EXPECT_EQ(user("use " + kGpu0), "ok");
  EXPECT_THAT(user("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_EQ(user("active 10"), "active");
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_TRUE(world.becomes(kUntouched));
}

TEST(DaemonDeath, ClientDisconnects) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);
  EXPECT_EQ(user("disconnect"), "ok");
  EXPECT_TRUE(world.becomes(kUntouched));
}

TEST(DaemonDeath, DaemonSigterm) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);
  world.signal_daemon(SIGTERM);
  EXPECT_EQ(world.wait_for_daemon().exit_code, 0);
  EXPECT_EQ(world.settings(), kUntouched);
  EXPECT_TRUE(becomes(user, "ended: negawattd stops"));
}

TEST(DaemonDeath, DaemonSigkillThenRestart) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);
  world.signal_daemon(SIGKILL);
  (void)world.wait_for_daemon();
  EXPECT_EQ(world.settings(), kAltered) << "nobody is there to restore it";
  EXPECT_THAT(user("request 600 0"), HasSubstr("is lost with negawattd"));
  world.start();
  // Restored before the socket is served.
  EXPECT_EQ(world.settings(), kUntouched);
  EXPECT_THAT(user("request 600 0"), StartsWith("error"));
  EXPECT_EQ(world.settings(), kUntouched);
}

TEST(DaemonDeath, DaemonSigkillThenRestartTwice) {
  // A backup that is there already is not overwritten by the state that a crash left.
  const auto end_of_fault = SteadyClock::now() + std::chrono::seconds(11);
  DaemonWorld world({.faults = "at = [{at_s = 0, for_s = 10, kind = \"hang\", seconds = 600, "
                               "call = \"nvmlDeviceResetGpuLockedClocks\"}]",
                     .config = "driver_timeout_s = 0.5"});
  world.start();
  auto first = altering_user(world);
  world.signal_daemon(SIGKILL);
  (void)world.wait_for_daemon();
  world.start();
  ASSERT_TRUE(world.logs("driver does not answer")) << "it has begun to restore";
  world.signal_daemon(SIGKILL);
  (void)world.wait_for_daemon();
  EXPECT_EQ(world.settings(), "core 900, memory 2201, limit 700 W") << "it was half way";
  EXPECT_EQ(backups(world).size(), 3U);
  std::this_thread::sleep_until(end_of_fault);
  world.start();
  EXPECT_EQ(world.settings(), kUntouched);
  EXPECT_THAT(backups(world), IsEmpty());
}

TEST(DaemonDeath, DaemonSigkillAndAnAdministratorsNewLimit) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);  // 500 W
  world.signal_daemon(SIGKILL);
  (void)world.wait_for_daemon();
  world.set_without_daemon(400);
  world.start();
  EXPECT_EQ(world.settings(), "core auto, memory auto, limit 400 W") << "not raised to 700 W";
  EXPECT_TRUE(world.logs("left, as somebody else has lowered it"));
}

TEST(DaemonDeath, GpuDoesNotAnswerWhenTheDaemonStarts) {
  const auto begin = SteadyClock::now();
  DaemonWorld world({.gpus = 2, .faults = "at = [{at_s = 6, for_s = 8, kind = \"not_ready\"}]"});
  world.start();
  auto user = altering_user(world);
  world.signal_daemon(SIGKILL);
  (void)world.wait_for_daemon();
  std::this_thread::sleep_until(begin + std::chrono::milliseconds(6500));
  world.start();
  EXPECT_THAT(world.log(), HasSubstr("a GPU that is to be restored does not answer"));
  auto other = world.user();
  EXPECT_EQ(other("connect"), "ok");
  EXPECT_THAT(other("acquire " + kGpu0), HasSubstr("the driver does not answer for"));
  world.signal_daemon(SIGTERM);
  EXPECT_EQ(world.wait_for_daemon().exit_code, 1) << "not everything is back";
  EXPECT_EQ(world.settings(), kAltered);
  world.start();
  EXPECT_TRUE(world.becomes(kUntouched, Seconds(30)));
  EXPECT_TRUE(world.logs("GPU found that had not answered"));
  auto next = world.active_user();
  EXPECT_EQ(next("request 600 0"), "applied 600 0");
}

TEST(DaemonDeath, MachineRestart) {
  DaemonWorld world;
  world.start();
  auto user = altering_user(world);
  world.signal_daemon(SIGKILL);
  (void)world.wait_for_daemon();
  // The machine comes up with nothing locked, and an administrator's new limit.
  world.set_without_daemon(400);
  world.folder().file("journal.boot", "of the boot before\n");
  world.start();
  EXPECT_EQ(world.settings(), "core auto, memory auto, limit 400 W") << "not raised to 700 W";
  // Without a restart, the same journal means that the lease's limit is what holds.
  auto next = world.active_user("1 65535 1 300 0");
  world.signal_daemon(SIGKILL);
  (void)world.wait_for_daemon();
  world.start();
  EXPECT_EQ(world.settings(), "core auto, memory auto, limit 400 W");
}

TEST(DaemonDeath, JournalDiskFull) {
  DaemonWorld world;
  {
    auto journal = gpu::Journal::open(world.journal());
    ASSERT_TRUE(journal);
    constexpr std::size_t kPage = 4096;  // a mailbox must still fit
    // Long names, and every knob: a few GPUs fill it, each of which the daemon looks for.
    for (int i = 0; std::filesystem::file_size(world.journal()) < kPage; ++i)
      for (const gpu::Setting& setting :
           std::vector<gpu::Setting>{gpu::CoreLock{}, gpu::MemoryLock{}, gpu::PowerLimit{{1}}})
        ASSERT_TRUE(journal->save({gpu::GpuId(fmt::format("GPU-elsewhere-{:080}", i)), setting}));
  }
  // Files may not grow any more: a full disk, for this process alone.
  world.start("exec prlimit --fsize=" +
              std::to_string(std::filesystem::file_size(world.journal())));
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 2201"), "failed 0 0");
  // What cannot be noted is not touched.
  EXPECT_THAT(world.writes(), IsEmpty());
  EXPECT_EQ(user("state"), "active");
  EXPECT_TRUE(world.daemon_lives());
}

TEST(DaemonDeath, GpuLost) {
  DaemonWorld world({.gpus = 2, .faults = "at = [{at_s = 4, kind = \"gpu_lost\"}]"});
  world.start();
  auto user = altering_user(world);
  EXPECT_TRUE(eventually([&] { return user("state").starts_with("ended"); }));
  EXPECT_TRUE(becomes(user, "ended: the GPU or the restore journal failed"));
  EXPECT_TRUE(world.logs("knob not restored")) << "loud";
  // The other GPU is served as before.
  auto other = world.user();
  EXPECT_EQ(other("connect"), "ok");
  EXPECT_EQ(other("use " + kGpu1), "ok");
  EXPECT_THAT(other("acquire " + kGpu1), StartsWith("granted"));
  EXPECT_EQ(other("active 10"), "active");
  EXPECT_EQ(other("request 900 0"), "applied 900 0");
  EXPECT_THAT(other("list"), HasSubstr(kGpu0 + " 3"));  // restoring
  world.signal_daemon(SIGTERM);
  EXPECT_EQ(world.wait_for_daemon().exit_code, 1) << "not everything is back";
  EXPECT_EQ(world.settings(1), kUntouched);
}

TEST(DaemonDeath, DriverReload) {
  DaemonWorld world({.faults = "at = [{at_s = 4, kind = \"driver_reload\", for_s = 1}]"});
  world.start();
  auto user = altering_user(world);
  EXPECT_TRUE(eventually([&] { return user("state").starts_with("ended"); }));
  EXPECT_TRUE(world.becomes(kUntouched));
  EXPECT_TRUE(world.logs("previous state restored", Seconds(20)));
  user.signal(SIGKILL);
  (void)user.wait();
  auto next = world.active_user();
  EXPECT_EQ(next("request 600 0"), "applied 600 0");
}

TEST(DaemonDeath, DriverReloadWhileNobodyHasALease) {
  // The handle of before is of no use any more; a new one is.
  DaemonWorld world({.faults = R"(calls = [
    {call = "nvmlDeviceGetComputeRunningProcesses", from = 1, to = 3, returns = "GPU_IS_LOST"},
    {call = "nvmlDeviceGetClockInfo", from = 1, to = 1, returns = "GPU_IS_LOST"}])",
                     .limits = "grace_s = 60"});
  world.start();
  auto user = world.active_user();  // not after grace_s
  EXPECT_TRUE(world.logs("GPU found again after it was lost"));
  EXPECT_EQ(user("request 600 0"), "applied 600 0");
}

TEST(DaemonDeath, MigCannotBeTold) {
  DaemonWorld world({.faults = R"(calls = [
    {call = "nvmlDeviceGetMigMode", from = 1, to = 100000, returns = "UNKNOWN"}])"});
  world.start();
  auto user = world.user();
  EXPECT_EQ(user("connect"), "ok");
  EXPECT_EQ(user("use " + kGpu0), "ok");
  EXPECT_THAT(user("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_THAT(user("active 10"), HasSubstr("split between tenants"));
  EXPECT_THAT(world.writes(), IsEmpty());
}

TEST(DaemonDeath, MemoryLockUnsupported) {
  DaemonWorld world({.faults = "not_supported = [\"nvmlDeviceSetMemoryLockedClocks\"]"});
  world.start();
  auto user = world.active_user();
  // The core lock that succeeded before is taken back: nothing is left behind.
  EXPECT_EQ(user("request 900 2201"), "not supported by the driver 0 0");
  EXPECT_EQ(world.settings(), kUntouched);
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_EQ(user("request 900 2201"), "not supported by the driver 900 0");
  EXPECT_EQ(world.settings(), "core 900, memory auto, limit 700 W");
  EXPECT_EQ(user("release"), "ok");
  EXPECT_EQ(world.settings(), kUntouched);
}

TEST(DaemonDeath, PermissionLostForAWhile) {
  DaemonWorld world({.faults = R"(calls = [
    {call = "nvmlDeviceSetGpuLockedClocks", from = 2, to = 100, returns = "NO_PERMISSION"},
    {call = "nvmlDeviceResetGpuLockedClocks", from = 1, to = 10, returns = "NO_PERMISSION"}])"});
  world.start();
  auto user = altering_user(world);
  EXPECT_EQ(user("request 600 2201"), "not supported by the driver 900 2201");
  EXPECT_EQ(world.settings(), kAltered);
  EXPECT_THAT(user("release"), HasSubstr("the previous state is not back"));
  EXPECT_TRUE(world.logs("knob not restored")) << "loud";
  EXPECT_THAT(world.settings(), HasSubstr("memory auto, limit 700 W")) << "each by itself";
  // Another lease that comes and goes has restored nothing.
  EXPECT_THAT(user("acquire " + kGpu0), StartsWith("granted"));
  EXPECT_EQ(user("release"), "ok");
  EXPECT_THAT(user("list"), HasSubstr(kGpu0 + " 3")) << "restoring";
  // Tried again until it is.
  EXPECT_TRUE(world.becomes(kUntouched, Seconds(20)));
  EXPECT_TRUE(world.logs("previous state restored"));
}

TEST(DaemonDeath, LockOverridden) {
  DaemonWorld world({.faults = "at = [{at_s = 0, kind = \"override_lock\", mhz = 1980}]"});
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_TRUE(world.logs("lock not honoured"));
  EXPECT_EQ(user("release"), "ok");
  EXPECT_EQ(world.settings(), kUntouched);
}

TEST(DaemonDeath, LockOverriddenOfALeaseWithoutTheOtherKnobs) {
  DaemonWorld world({.faults = "at = [{at_s = 0, kind = \"override_lock\", mhz = 1980}]"});
  world.start();
  auto user = world.active_user("1 65535 0 0 0");
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_TRUE(world.logs("lock not honoured"));
  EXPECT_EQ(user("request 900 0"), "applied 900 0") << "set again";
  EXPECT_THAT(world.writes(), ElementsAre("lock core 900 900", "lock core 900 900"))
      << "and nothing that the lease may not touch";
}

TEST(DaemonDeath, DriverCallHangs) {
  DaemonWorld world({.gpus = 2,
                     .faults = "at = [{at_s = 4, for_s = 1, kind = \"hang\", seconds = 6, "
                               "call = \"nvmlDeviceSetGpuLockedClocks\"}]",
                     .config = "driver_timeout_s = 1"});
  world.start();
  auto user = altering_user(world);
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(user("post 600 2201"), "ok");
    EXPECT_EQ(user("post 900 2201"), "ok");
    return world.log().find("driver does not answer") != std::string::npos;
  }));
  // Only that GPU waits.
  auto other = world.user();
  EXPECT_EQ(other("connect"), "ok");
  EXPECT_EQ(other("use " + kGpu1), "ok");
  EXPECT_THAT(other("acquire " + kGpu1), StartsWith("granted"));
  EXPECT_EQ(other("active 10"), "active");
  EXPECT_EQ(other("request 900 0"), "applied 900 0");
  EXPECT_THAT(other("list"), HasSubstr(kGpu0 + " 4"));  // unavailable
  user.signal(SIGKILL);
  EXPECT_TRUE(world.becomes(kUntouched, Seconds(20)));
  EXPECT_TRUE(world.logs("driver answers again"));
}

TEST(DaemonDeath, DaemonSigtermWhileADriverCallHangs) {
  DaemonWorld world({.faults = "at = [{at_s = 4, kind = \"hang\", seconds = 600, "
                               "call = \"nvmlDeviceSetGpuLockedClocks\"}]",
                     .config = "driver_timeout_s = 1"});
  world.start();
  auto user = altering_user(world);
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(user("post 600 2201"), "ok");
    EXPECT_EQ(user("post 900 2201"), "ok");
    return world.log().find("driver does not answer") != std::string::npos;
  }));
  world.signal_daemon(SIGTERM);
  EXPECT_EQ(world.wait_for_daemon().exit_code, 1) << "it ends all the same";
  EXPECT_THAT(world.log(), HasSubstr("the journal keeps what is to be restored"));
  EXPECT_EQ(backups(world).size(), 3U);
  EXPECT_NE(world.settings(), kUntouched);
  world.start();
  EXPECT_EQ(world.settings(), kUntouched);
}

}  // namespace
}  // namespace negawatt::testing
