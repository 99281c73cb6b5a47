// SPDX-License-Identifier: Apache-2.0
//
// What no unprivileged client can do: change a GPU that it does not use, exceed limits, starve
// others, end the daemon. And what nobody can: leave a GPU altered by killing clients at random.
// daemon_bounds_test.cpp has what it cannot use up.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "lease/protocol.hpp"
#include "tests/daemon_world.hpp"
#include "tests/raw_client.hpp"

namespace negawatt::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(DaemonAbuse, AnyBytesEndTheConnectionAndNotTheDaemon) {
  DaemonWorld world;
  world.start();
  auto user = world.active_user();
  std::mt19937_64 random(7);
  const auto hello = lease::encode(lease::Hello{1, 1, "abuse"});
  for (int round = 0; round < 300; ++round) {
    const RawClient client(world.socket());
    ASSERT_TRUE(client.connected()) << "round " << round;
    std::string bytes(random() % 300, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    if (round % 3 == 0) bytes.insert(0, hello);
    if (round % 3 == 1) {  // a header that promises little, with a type that exists
      std::string header("\x08\0\0\0\0\0", 6);
      header[4] = static_cast<char>(random() % 12);
      bytes.insert(0, header);
    }
    client.send(bytes);
  }
  const RawClient huge(world.socket());
  huge.send(std::string("\xff\xff\xff\xff\x01\0", 6));
  (void)huge.read_to_the_end();
  const RawClient impolite(world.socket());
  impolite.send(lease::encode(lease::ListGpus{1}));
  EXPECT_EQ(impolite.read_to_the_end(), "") << "no hello";
  const RawClient forger(world.socket());
  forger.send(hello + lease::encode(lease::Released{1, true, ""}));
  (void)forger.read_to_the_end();
  // Who holds a lease has noticed nothing.
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_TRUE(world.daemon_lives());
}

/// Processes that connect and end, one after another, and nobody waits for them: they are gone
/// while the daemon looks who they were.
[[noreturn]] void connect_and_die(const std::string& path, std::chrono::seconds how_long) {
  ::signal(SIGCHLD, SIG_IGN);
  const auto end = std::chrono::steady_clock::now() + how_long;
  while (std::chrono::steady_clock::now() < end)
    if (::fork() == 0) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      path.copy(address.sun_path, sizeof address.sun_path - 1);
      const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      ::_exit(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address));
    }
  ::_exit(0);
}

TEST(DaemonAbuse, ProcessesThatConnectAndDieDoNotEndTheDaemon) {
  DaemonWorld world;
  world.start();
  const auto path = world.socket();
  const auto churn = ::fork();
  if (churn == 0) connect_and_die(path, std::chrono::seconds(3));
  ::waitpid(churn, nullptr, 0);
  EXPECT_TRUE(world.daemon_lives());
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
}

TEST(DaemonAbuse, AnotherVersionIsToldSo) {
  DaemonWorld world;
  world.start();
  const RawClient client(world.socket());
  client.send(lease::encode(lease::Hello{1, 2, "newer"}));
  EXPECT_THAT(client.read_to_the_end(), HasSubstr("this daemon speaks version 1"));
}

TEST(DaemonAbuse, WhoNeverSaysHelloIsDisconnected) {
  DaemonWorld world;
  world.start();
  const RawClient client(world.socket());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(client.read_to_the_end(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST(DaemonAbuse, AFloodOfRequestsStarvesNobodyAndIsCoalesced) {
  DaemonWorld world({.gpus = 2, .limits = "min_change_interval_s = 0.01"});
  world.start();
  auto flooder = world.active_user();
  auto other = world.user();
  EXPECT_EQ(other("connect"), "ok");
  EXPECT_EQ(other("use " + kGpu1), "ok");
  EXPECT_THAT(other("acquire " + kGpu1), StartsWith("granted"));
  EXPECT_EQ(other("active 10"), "active");
  const auto begin = std::chrono::steady_clock::now();
  int posts = 0;
  std::jthread flood([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); ++posts)
      EXPECT_EQ(flooder("post " + std::to_string(345 + 15 * (posts % 100)) + " 0"), "ok");
  });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(other("request 900 0"), "applied 900 0");
  flood.request_stop();
  flood.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  // 100 changes a second at most, however many were asked for.
  EXPECT_LE(world.gpu(0).writes.end, 100 * seconds.count() + 2);
  EXPECT_GT(posts, 100);
}

TEST(DaemonAbuse, ObserveOnlyNeverWrites) {
  DaemonWorld world({.arguments = {"--observe-only"}});
  world.start();
  auto user = world.user();
  EXPECT_EQ(user("connect"), "ok");
  EXPECT_EQ(user("use " + kGpu0), "ok");
  EXPECT_THAT(user("acquire " + kGpu0), HasSubstr("only observes and changes nothing"));
  EXPECT_THAT(user("list"), StartsWith(kGpu0));
  world.signal_daemon(SIGTERM);
  EXPECT_EQ(world.wait_for_daemon().exit_code, 0);
  EXPECT_THAT(world.writes(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(world.journal()));
}

TEST(DaemonAbuse, AUserWhoIsNotNamedMayLook) {
  if (::getuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  DaemonWorld world({.config = "users = [\"4242\"]\nsocket_mode = \"0666\""});
  world.start();
  std::filesystem::permissions(world.folder().path(""), std::filesystem::perms::all);
  auto user = world.user("exec setpriv --reuid=4243 --regid=4243 --clear-groups");
  EXPECT_EQ(user("connect"), "ok");
  EXPECT_EQ(user("acquire " + kGpu0),
            "error: negawattd: user 4243 may not lease GPUs (users and groups in negawattd.toml)");
  EXPECT_THAT(user("list"), StartsWith(kGpu0));
  auto named = world.user("exec setpriv --reuid=4242 --regid=4242 --clear-groups");
  EXPECT_EQ(named("connect"), "ok");
  EXPECT_THAT(named("acquire " + kGpu0), StartsWith("granted"));
}

/// Clients that come, change what they may, and are killed at a random moment; now and then the
/// daemon is. NEGAWATT_CYCLES sets how many.
TEST(DaemonAbuse, RandomKillsLeaveNoGpuAltered) {
  const char* asked = std::getenv("NEGAWATT_CYCLES");
  const int cycles = asked != nullptr ? std::atoi(asked) : 60;
  DaemonWorld world({.limits = "heartbeat_s = 5"});
  world.start();
  std::mt19937_64 random(11);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    auto user = world.user();
    ASSERT_EQ(user("connect"), "ok") << "cycle " << cycle;
    ASSERT_EQ(user("use " + kGpu0), "ok");
    ASSERT_THAT(user("acquire " + kGpu0 + " 1 65535 1 500 0"), StartsWith("granted"));
    if (random() % 4 != 0) {
      ASSERT_EQ(user("active 10"), "active");
    }
    const auto posts = random() % 4;
    for (std::uint64_t i = 0; i < posts; ++i)
      ASSERT_EQ(
          user(fmt::format("post {} {}", 600 + 15 * (random() % 80), random() % 2 == 0 ? 2201 : 0)),
          "ok");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    const bool kill_daemon = random() % 10 == 0;
    if (kill_daemon) {
      world.signal_daemon(SIGKILL);
      (void)world.wait_for_daemon();
    }
    user.signal(SIGKILL);
    (void)user.wait();
    if (kill_daemon) world.start();
    ASSERT_TRUE(world.becomes(kUntouched)) << "cycle " << cycle << ": " << world.settings();
  }
  fmt::print("{} kills\n", cycles);
}

}  // namespace
}  // namespace negawatt::testing
