// SPDX-License-Identifier: Apache-2.0
//
// What no client can use up: the daemon's memory, its descriptors, its processor time, its log.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>  // clock_getcpuclockid is not in <ctime>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lease/protocol.hpp"
#include "tests/daemon_world.hpp"
#include "tests/raw_client.hpp"

namespace negawatt::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Peak resident memory of a process in KiB.
long peak_memory_kib(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  std::string word;
  long kib = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> kib;
  return kib;
}

// AddressSanitizer holds what was freed back for a while, up to 256 MiB.
#ifdef NEGAWATT_SANITIZED
constexpr long kMostGrowthKib = 300L * 1024;
#else
constexpr long kMostGrowthKib = 16L * 1024;
#endif

TEST(DaemonBounds, WhoSaysHelloTwiceIsDisconnected) {
  DaemonWorld world;
  world.start();
  const auto before = peak_memory_kib(world.daemon_pid());
  for (const auto version : {std::uint16_t{1}, std::uint16_t{2}}) {
    const RawClient client(world.socket());
    client.send(lease::encode(lease::Hello{1, 1, "twice"}));
    EXPECT_THAT(client.read_once(), HasSubstr("negawattd"));
    // Until the daemon keeps what this client does not read.
    const auto list = lease::encode(lease::ListGpus{2});
    for (int i = 0; i < 1200; ++i) {
      client.send(list);
      if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    client.send(lease::encode(lease::Hello{3, version, "twice"}));
    const std::string more(std::size_t{1} << 16U, '\xff');
    EXPECT_TRUE(eventually([&] { return client.send(more) == 0 && errno == EPIPE; }));
  }
  EXPECT_LT(peak_memory_kib(world.daemon_pid()), before + kMostGrowthKib);
  EXPECT_TRUE(world.logs("it says hello twice"));
}

TEST(DaemonBounds, WhoDoesNotReadIsDisconnectedBeforeMemoryFills) {
  DaemonWorld world({.gpus = 2});
  world.start();
  const auto before = peak_memory_kib(world.daemon_pid());
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += lease::encode(lease::ListGpus{2});
  for (int i = 0; i < 8; ++i) {
    const RawClient client(world.socket());
    client.send(lease::encode(lease::Hello{1, 1, "flood"}));
    std::size_t sent = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (std::chrono::steady_clock::now() < end)
      sent += client.send(std::string_view(flood).substr(sent % flood.size()));
    EXPECT_GT(sent, 0U);
  }
  EXPECT_TRUE(world.logs("the client does not read what it asked for"));
  EXPECT_LT(peak_memory_kib(world.daemon_pid()), before + kMostGrowthKib);
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
}

std::size_t descriptors_of(int pid) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid)))
    ++count;
  return count;
}

TEST(DaemonBounds, LeasesThatAreEndingAreBounded) {
  DaemonWorld world({.faults = "at = [{at_s = 0, kind = \"hang\", seconds = 600, "
                               "call = \"nvmlDeviceGetComputeRunningProcesses\"}]",
                     .config = "driver_timeout_s = 60"});
  world.start();
  const RawClient client(world.socket());
  client.send(lease::encode(lease::Hello{1, 1, "greedy"}));
  EXPECT_THAT(client.read_once(), HasSubstr("negawattd"));
  const auto before = descriptors_of(world.daemon_pid());
  std::string replies;
  // Until the daemon looks for processes, leases end as fast as they come.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto is_refused = [&] { return replies.find("are ending already") != std::string::npos; };
  for (std::uint64_t id = 1; !is_refused() && std::chrono::steady_clock::now() < deadline; ++id) {
    client.send(lease::encode(lease::Acquire{.id = 2, .gpu = kGpu0, .terms = {}}) +
                lease::encode(lease::Release{3, id}));
    replies = client.read_once();
  }
  EXPECT_TRUE(is_refused());
  EXPECT_LE(descriptors_of(world.daemon_pid()), before + std::size_t{2} * 5);
}

TEST(DaemonBounds, ConnectionsAreBoundedAndRootStillComesIn) {
  DaemonWorld world({.config = "max_clients = 8"});
  world.start();
  std::vector<std::unique_ptr<RawClient>> crowd;
  const auto hello = lease::encode(lease::Hello{1, 1, "crowd"});
  for (int i = 0; i < 16; ++i) {
    crowd.push_back(std::make_unique<RawClient>(world.socket()));
    crowd.back()->send(hello);
    EXPECT_THAT(crowd.back()->read_once(), HasSubstr("negawattd")) << i;
  }
  const RawClient one_more(world.socket());
  EXPECT_THAT(one_more.read_to_the_end(), HasSubstr("too many connections"));
  crowd.clear();
  EXPECT_TRUE(eventually([&] {
    const RawClient client(world.socket());
    client.send(hello);
    return client.read_once().find("too many") == std::string::npos;
  }));
}

TEST(DaemonBounds, AUserMayNotHaveLeasesFasterThanTheLogCanBeRead) {
  if (::getuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  DaemonWorld world({.config = "socket_mode = \"0666\"", .limits = "grace_s = 30"});
  world.start();
  std::filesystem::permissions(world.folder().path(""), std::filesystem::perms::all);
  auto user = world.user("exec setpriv --reuid=4242 --regid=4242 --clear-groups");
  EXPECT_EQ(user("connect"), "ok");
  int granted = 0;
  std::string answer = "granted";
  const auto begin = std::chrono::steady_clock::now();
  for (; granted < 200 && answer.starts_with("granted"); ++granted) {
    answer = user("acquire " + kGpu0);
    if (answer.starts_with("granted")) {
      EXPECT_EQ(user("release"), "ok");
    }
  }
  EXPECT_THAT(answer, HasSubstr("too many leases in too short a time"));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(granted, 34 + seconds.count());
  // Root is served all the while.
  auto root = world.active_user();
  EXPECT_EQ(root("request 900 0"), "applied 900 0");
}

TEST(DaemonBounds, AUserHasOneWaitingLeaseAndAFewConnections) {
  if (::getuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  DaemonWorld world(
      {.config = "socket_mode = \"0666\"\nmax_clients_per_user = 2", .limits = "grace_s = 30"});
  world.start();
  std::filesystem::permissions(world.folder().path(""), std::filesystem::perms::all);
  const std::string as_user = "exec setpriv --reuid=4242 --regid=4242 --clear-groups";
  auto first = world.user(as_user);
  EXPECT_EQ(first("connect"), "ok");
  EXPECT_THAT(first("acquire " + kGpu0), StartsWith("granted"));
  auto second = world.user(as_user);
  EXPECT_EQ(second("connect"), "ok");
  EXPECT_THAT(second("acquire " + kGpu0), HasSubstr("waits for"));
  auto third = world.user(as_user);
  EXPECT_THAT(third("connect"), HasSubstr("too many connections"));
  // A waiting lease keeps nobody from the GPU.
  auto root = world.active_user();
  EXPECT_EQ(root("request 900 0"), "applied 900 0");
  EXPECT_TRUE(becomes(first, "ended: another client holds the GPU"));
}

/// Processor time of all threads of a process so far, in seconds.
double processor_seconds(int pid) {
  clockid_t clock{};
  EXPECT_EQ(::clock_getcpuclockid(pid, &clock), 0);
  timespec ran{};
  EXPECT_EQ(::clock_gettime(clock, &ran), 0);
  return static_cast<double>(ran.tv_sec) + static_cast<double>(ran.tv_nsec) * 1e-9;
}

TEST(DaemonBounds, ADoorbellThatRingsForNothingCostsNothing) {
  DaemonWorld world({.limits = "min_change_interval_s = 0.02"});
  world.start();
  const RawClient client(world.socket());
  client.send(lease::encode(lease::Hello{1, 1, "ringer"}));
  EXPECT_THAT(client.read_once(), HasSubstr("negawattd"));
  client.send(lease::encode(lease::Acquire{.id = 2, .gpu = kGpu0, .terms = {}}));
  const auto descriptors = client.read_descriptors();
  ASSERT_EQ(descriptors.size(), 2U);
  auto child = world.user();  // of this process's tree: the lease is active
  EXPECT_EQ(child("use " + kGpu0), "ok");
  EXPECT_TRUE(world.logs("lease active"));
  const auto before = processor_seconds(world.daemon_pid());
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  for (const std::uint64_t one = 1; std::chrono::steady_clock::now() < end;)
    ASSERT_EQ(::write(descriptors[1].number(), &one, sizeof one), ssize_t{sizeof one});
  // It wakes 50 times a second, not as often as it is rung for.
  EXPECT_LT(processor_seconds(world.daemon_pid()) - before, 0.05);
}

}  // namespace
}  // namespace negawatt::testing
