// SPDX-License-Identifier: Apache-2.0
//
// What negawattd says about itself, and what it costs while nobody needs it.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>  // clock_getcpuclockid is not in <ctime>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include "gpu/journal.hpp"
#include "gpusim/fault_script.hpp"
#include "lease/file_descriptor.hpp"
#include "tests/daemon_world.hpp"

namespace negawatt::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

sockaddr_in local(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A port that nobody had a moment ago.
std::uint16_t free_port() {
  const lease::FileDescriptor probe(::socket(AF_INET, SOCK_STREAM, 0));
  auto address = local(0);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(probe.number(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(probe.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

std::string scrape(std::uint16_t port) {
  const lease::FileDescriptor connection(::socket(AF_INET, SOCK_STREAM, 0));
  const auto address = local(port);
  if (::connect(connection.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0)
    return "cannot connect";
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  EXPECT_EQ(::send(connection.number(), request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  std::string page;
  std::array<char, 4096> part;
  for (ssize_t size = 0; (size = ::recv(connection.number(), part.data(), part.size(), 0)) > 0;)
    page.append(part.data(), static_cast<std::size_t>(size));
  return page;
}

std::string line(const std::string& metric, const std::string& gpu, const std::string& value) {
  return fmt::format("negawatt_gpu_{}{{gpu=\"{}\",model=\"NVIDIA H200\"}} {}\n", metric, gpu,
                     value);
}

/// Processor time of all threads of a process so far, in seconds.
double processor_seconds(int pid) {
  clockid_t clock{};
  EXPECT_EQ(::clock_getcpuclockid(pid, &clock), 0);
  timespec ran{};
  EXPECT_EQ(::clock_gettime(clock, &ran), 0);
  return static_cast<double>(ran.tv_sec) + static_cast<double>(ran.tv_nsec) * 1e-9;
}

TEST(DaemonMetrics, ScrapesDoNotWearTheDriverOut) {
  const auto port = free_port();
  DaemonWorld world({.config = fmt::format("metrics = \"127.0.0.1:{}\"", port)});
  world.start();
  const auto reads = [&] {
    return world.gpu().calls.at(gpusim::function_index("nvmlDeviceGetTemperatureV"));
  };
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kScrapes = 50;
  for (int i = 0; i < kScrapes; ++i) EXPECT_THAT(scrape(port), HasSubstr("negawatt_gpu_up"));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(reads(), 1U);
  EXPECT_LE(static_cast<double>(reads()), 2 + seconds.count() / 0.1);
}

TEST(DaemonMetrics, APageSaysWhatIsAskedWhatIsAndWhatHappened) {
  const auto port = free_port();
  DaemonWorld world({.gpus = 2, .config = fmt::format("metrics = \"127.0.0.1:{}\"", port)});
  world.start();
  auto user = world.active_user();
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  EXPECT_EQ(user("request 600 0"), "applied 600 0");
  const auto page = scrape(port);
  EXPECT_THAT(page, HasSubstr(line("up", kGpu0, "1")));
  EXPECT_THAT(page, HasSubstr(line("leased", kGpu0, "1")));
  EXPECT_THAT(page, HasSubstr(line("leased", kGpu1, "0")));
  EXPECT_THAT(page, HasSubstr(line("core_clock_asked_hertz", kGpu0, "600000000")));
  EXPECT_THAT(page, Not(HasSubstr("core_clock_asked_hertz{gpu=\"" + kGpu1))) << "absent, not 0";
  EXPECT_THAT(page, HasSubstr(line("clock_changes_total", kGpu0, "2")));
  EXPECT_THAT(page, HasSubstr(line("power_limit_watts", kGpu0, "700")));
  EXPECT_THAT(page, HasSubstr("negawatt_gpu_power_watts{gpu=\"" + kGpu0));
  EXPECT_THAT(page, HasSubstr("negawatt_gpu_energy_joules_total{gpu=\"" + kGpu1));
  EXPECT_THAT(page, HasSubstr("negawatt_daemon_clients 1\n"));
  EXPECT_EQ(user("release"), "ok");
  EXPECT_THAT(scrape(port), HasSubstr(line("restores_total", kGpu0, "1")));
}

TEST(DaemonMetrics, APowerLimitThatIsLeftOnPurposeIsNoRestore) {
  const auto port = free_port();
  DaemonWorld world({.config = fmt::format("metrics = \"127.0.0.1:{}\"", port)});
  world.start();
  auto user = world.active_user("1 65535 1 500 0");
  EXPECT_EQ(user("request 900 0"), "applied 900 0");
  world.set_without_daemon(400);  // by an administrator, while the lease holds 500 W
  EXPECT_EQ(user("release"), "ok");
  EXPECT_EQ(world.settings(), "core auto, memory auto, limit 400 W");
  const auto page = scrape(port);
  EXPECT_THAT(page, HasSubstr(line("restores_total", kGpu0, "1"))) << "the core lock alone";
  EXPECT_THAT(page, HasSubstr(line("limits_left_total", kGpu0, "1")));
  EXPECT_THAT(page, HasSubstr(line("restore_failures_total", kGpu0, "0")));
}

TEST(DaemonMetrics, AGpuThatAnswersLateHasItsModelFromThenOn) {
  const auto port = free_port();
  DaemonWorld world({.gpus = 2,
                     .faults = "at = [{at_s = 0, for_s = 10, kind = \"not_ready\"}]",
                     .config = fmt::format("metrics = \"127.0.0.1:{}\"", port)});
  {  // it is looked for because a crash has left it to be restored
    auto journal = gpu::Journal::open(world.journal());
    ASSERT_TRUE(journal);
    ASSERT_TRUE(journal->save({gpu::GpuId(kGpu0), gpu::CoreLock{}}));
  }
  world.start();
  const auto early = scrape(port);
  EXPECT_THAT(early, HasSubstr("negawatt_gpu_up{gpu=\"" + kGpu0 + "\"} 0\n"));
  EXPECT_THAT(early, HasSubstr(line("up", kGpu1, "1")));
  const auto says = [&](const std::string& text) {
    return scrape(port).find(text) != std::string::npos;
  };
  EXPECT_TRUE(eventually([&] { return says(line("up", kGpu0, "1")); }, Seconds(30)));
  EXPECT_TRUE(eventually([&] { return says(line("restores_total", kGpu0, "1")); }, Seconds(30)));
  EXPECT_FALSE(says("{gpu=\"" + kGpu0 + "\"}")) << "no family without it any more";
}

TEST(DaemonMetrics, AGpuThatIsLostIsDownAndHasNoStaleValues) {
  const auto port = free_port();
  DaemonWorld world({.gpus = 2,
                     .faults = "at = [{at_s = 3, kind = \"gpu_lost\"}]",
                     .config = fmt::format("metrics = \"127.0.0.1:{}\"", port)});
  world.start();
  EXPECT_TRUE(
      eventually([&] { return scrape(port).find(line("up", kGpu0, "0")) != std::string::npos; }));
  const auto page = scrape(port);
  EXPECT_THAT(page, HasSubstr(line("up", kGpu1, "1")));
  EXPECT_THAT(page, Not(HasSubstr("power_watts{gpu=\"" + kGpu0)));
  EXPECT_THAT(page, Not(HasSubstr("core_clock_hertz{gpu=\"" + kGpu0)));
}

TEST(DaemonMetrics, IdleItCostsLessThanAThousandthOfACoreWithEightGpus) {
  DaemonWorld world({.gpus = 8});
  world.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto before = processor_seconds(world.daemon_pid());
  ASSERT_GT(before, 0) << "it has started, which was not for nothing";
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const auto share = (processor_seconds(world.daemon_pid()) - before) / passed.count();
  fmt::print("idle: {:.5f} % of a core\n", 100 * share);
  EXPECT_LT(share, 0.001);
}

}  // namespace
}  // namespace negawatt::testing
