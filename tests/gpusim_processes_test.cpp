// SPDX-License-Identifier: Apache-2.0
//
// Processes that share a simulated machine: they see each other, and they may die at any moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <ios>
#include <memory>
#include <ostream>
#include <random>
#include <ratio>
#include <string>
#include <thread>
#include <vector>

#include "gpusim/environment.hpp"
#include "gpusim/physics.hpp"
#include "gpusim/world.hpp"
#include "nvml/nvml.hpp"
#include "process/child.hpp"
#include "tests/shared_data.hpp"
#include "tests/simulated_machine.hpp"

namespace negawatt::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kPatience{20};

/// Waits in real time for what another process is about to bring about.
template <class Condition>
bool eventually(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

unsigned sm_mhz(nvmlDevice_t gpu) {
  unsigned clock = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetClockInfo(gpu, NVML_CLOCK_SM, &clock), NVML_SUCCESS);
  return clock;
}

std::vector<nvmlProcessInfo_t> processes_on(nvmlDevice_t gpu) {
  std::array<nvmlProcessInfo_t, 64> listed{};
  unsigned count = listed.size();
  EXPECT_EQ(nvml().nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, listed.data()),
            NVML_SUCCESS);
  return {listed.begin(), listed.begin() + count};
}

process::Child start_player(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string(kSimulatedFolder) + "/negawatt-play");
  auto player = process::Child::start({.command = arguments, .streams = process::Streams::piped});
  EXPECT_TRUE(player) << player.error().message;
  return *std::move(player);
}

TEST(SharedMachine, ASettingOutlivesTheProcessThatMadeItAndOthersSeeIt) {
  const SimulatedMachine machine(gpu_like("h200.toml", "switch_latency = \"none\""));
  const auto setter = child([] {
    const NvmlSession own;
    return nvml().nvmlDeviceSetGpuLockedClocks(own.gpu(0), 1005, 1005) == NVML_SUCCESS &&
                   nvml().nvmlDeviceSetPowerManagementLimit(own.gpu(0), 500'000) == NVML_SUCCESS
               ? 0
               : 1;
  });
  EXPECT_EQ(ending_of(setter), 0);
  auto player = start_player({"--kernel", "copy_8GB", "--seconds", "60"});
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  EXPECT_TRUE(eventually([&] { return sm_mhz(gpu) == 1005; })) << sm_mhz(gpu);
  unsigned limit = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetPowerManagementLimit(gpu, &limit), NVML_SUCCESS);
  EXPECT_EQ(limit, 500'000U);
  player.signal(SIGKILL);
  (void)player.wait();
}

TEST(SharedMachine, AKilledPlayerLeavesTheProcessListAndItsWorkTheGpu) {
  const SimulatedMachine machine(gpu_like("h200.toml"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  auto player = start_player({"--kernel", "copy_8GB", "--calls", "1000000000"});
  ASSERT_TRUE(eventually([&] { return processes_on(gpu).size() == 1; }));
  EXPECT_EQ(processes_on(gpu)[0].pid, static_cast<unsigned>(player.pid()));
  EXPECT_GT(processes_on(gpu)[0].usedGpuMemory, 0U);
  player.signal(SIGKILL);
  // Not waited for: a zombie uses no GPU either.
  EXPECT_TRUE(eventually([&] { return processes_on(gpu).empty(); }));
  (void)player.wait();
  const auto world = gpusim::world_of_environment();
  ASSERT_TRUE(world) << world.error().message;
  gpusim::GpuAccess access(**world, 0);
  EXPECT_EQ(access.state().queue.size(), 0U);
}

TEST(SharedMachine, AStoppedPlayerIsStillThereAndItsQueueRunsDry) {
  const SimulatedMachine machine(gpu_like("h200.toml"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  auto player = start_player({"--kernel", "copy_8GB", "--seconds", "600"});
  ASSERT_TRUE(eventually([&] { return processes_on(gpu).size() == 1; }));
  player.signal(SIGSTOP);
  const auto world = gpusim::world_of_environment();
  ASSERT_TRUE(world) << world.error().message;
  EXPECT_TRUE(eventually([&] { return gpusim::GpuAccess(**world, 0).state().queue.size() == 0; }));
  EXPECT_EQ(processes_on(gpu).size(), 1U);
  player.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return gpusim::GpuAccess(**world, 0).state().queue.size() > 0; }));
  player.signal(SIGKILL);
  (void)player.wait();
}

/// Uses the GPU in every way there is until it is killed.
int hammer(unsigned seed) {
  const auto world = gpusim::world_of_environment();
  if (!world) return 1;
  const NvmlSession own;
  const auto gpu = own.gpu(0);
  std::mt19937 random(seed);
  unsigned long long energy = 0;
  const gpusim::Context self{.pid = static_cast<std::uint32_t>(::getpid())};
  while (true) {
    const auto mhz = static_cast<unsigned>(345 + 15 * (random() % 110));
    nvml().nvmlDeviceSetGpuLockedClocks(gpu, mhz, mhz);
    nvml().nvmlDeviceGetTotalEnergyConsumption(gpu, &energy);
    nvml().negawattSimNotify();
    gpusim::GpuAccess access(**world, 0);
    if (const auto context = access.open_context(self); context && random() % 2 == 0)
      access.close_context(*context);
  }
}

TEST(SharedMachine, TwoHundredKilledProcessesLeaveItWhole) {
  const SimulatedMachine machine(gpu_like(
      "h200.toml", "switch_latency = \"none\"\n[gpu.sensors.read_cost]\nenergy_s = 0\nset_s = 0"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  const auto world = gpusim::world_of_environment();
  ASSERT_TRUE(world) << world.error().message;
  std::mt19937 random(1);
  constexpr unsigned kKills = 200;
  constexpr unsigned kAtOnce = 4;
  for (unsigned n = 0; n < kKills; n += kAtOnce) {
    std::array<pid_t, kAtOnce> pids{};
    for (unsigned i = 0; i < kAtOnce; ++i) pids[i] = child([&] { return hammer(n + i); });
    std::this_thread::sleep_for(std::chrono::microseconds(3'000 + random() % 4'000));
    for (const auto pid : pids) ::kill(pid, SIGKILL);
    for (const auto pid : pids) EXPECT_EQ(ending_of(pid), -SIGKILL);
    unsigned long long energy = 0;
    ASSERT_EQ(nvml().nvmlDeviceGetTotalEnergyConsumption(gpu, &energy), NVML_SUCCESS);
    ASSERT_TRUE(processes_on(gpu).empty());
  }
  gpusim::GpuAccess access(**world, 0);
  const auto& state = access.state();
  EXPECT_GT(state.writes.end, kKills / 4) << "the killed ones have hardly done anything";
  EXPECT_TRUE(state.core.effective_ns == gpusim::kNever);
  EXPECT_EQ(state.core.in_force, state.core.asked);
  const auto& last = state.writes[state.writes.end - 1];
  EXPECT_EQ(state.core.asked.most_mhz, last.second);
  for (const auto& context : state.contexts) EXPECT_EQ(context.id, 0U);
}

/// Three processes take turns in virtual time; what each saw of it, in order.
std::string chain(const SimulatedMachine& machine, const std::string& name, std::uint64_t steps) {
  const auto path = machine.folder().path(name);
  const NvmlSession session;
  nvml().negawattSimJoin();  // nobody starts before all are there
  std::vector<pid_t> pids;
  std::vector<std::array<int, 2>> joined(3);
  for (std::uint64_t who = 0; who < 3; ++who) {
    EXPECT_EQ(::pipe(joined[who].data()), 0);
    pids.push_back(child([&, who] {
      const NvmlSession own;
      if (nvml().negawattSimJoin() != NVML_SUCCESS) return 1;
      std::ofstream diary(path, std::ios::app);
      if (::write(joined[who][1], "j", 1) != 1) return 1;
      std::uint64_t now = 0;
      nvml().negawattSimNow(&now);
      for (std::uint64_t step = 0; step < steps / 3; ++step) {
        nvml().negawattSimSleepUntil(now + 1000 + (step * 7 + who * 13) % 97);
        nvml().negawattSimNow(&now);
        diary << who << '@' << now << '\n' << std::flush;
      }
      return 0;
    }));
    char seen = 0;
    EXPECT_EQ(::read(joined[who][0], &seen, 1), 1);
    // It goes to sleep, which is when its place in the order is fixed, before the next one comes.
    std::this_thread::sleep_for(20ms);
  }
  nvml().negawattSimLeave();
  for (const auto pid : pids) EXPECT_EQ(ending_of(pid), 0);
  for (const auto& ends : joined) {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  return read_file(path).value_or("");
}

TEST(SharedMachine, VirtualTimeMakesProcessesTakeTurnsTheSameWayEveryTime) {
  constexpr std::uint64_t kSteps = 9'999;
  std::string first;
  for (int run = 0; run < 2; ++run) {
    const SimulatedMachine machine("[time]\nmode = \"virtual\"\n" + gpu_like("h200.toml"));
    const auto begin = std::chrono::steady_clock::now();
    const auto diary = chain(machine, "diary", kSteps);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    RecordProperty("us_per_step", std::to_string((took.count() - 60'000) / kSteps));
    EXPECT_EQ(std::ranges::count(diary, '\n'), kSteps);
    if (run == 0) first = diary;
    EXPECT_TRUE(diary == first) << "the two runs differ";
  }
}

TEST(SharedMachine, AKilledSleeperDoesNotStopVirtualTime) {
  const SimulatedMachine machine("[time]\nmode = \"virtual\"\n" + gpu_like("h200.toml"));
  const NvmlSession session;
  std::array<int, 2> joined{};
  ASSERT_EQ(::pipe(joined.data()), 0);
  ASSERT_EQ(nvml().negawattSimJoin(), NVML_SUCCESS);
  const auto awake = child([&] {
    const NvmlSession own;
    nvml().negawattSimJoin();
    if (::write(joined[1], "j", 1) != 1) return 1;
    ::pause();
    return 0;
  });
  char seen = 0;
  ASSERT_EQ(::read(joined[0], &seen, 1), 1);
  std::thread killer([&] {
    std::this_thread::sleep_for(30ms);
    ::kill(awake, SIGKILL);
  });
  nvml().negawattSimSleepUntil(1'000'000'000);  // hangs while the other one lives
  std::uint64_t now = 0;
  nvml().negawattSimNow(&now);
  EXPECT_EQ(now, 1'000'000'000U);
  nvml().negawattSimLeave();
  killer.join();
  EXPECT_EQ(ending_of(awake), -SIGKILL);
  ::close(joined[0]);
  ::close(joined[1]);
}

TEST(SharedMachine, ScaledTimeHoldsForAllWhoShareIt) {
  const SimulatedMachine machine("[time]\nmode = \"scaled\"\nscale = 100\n" +
                                 gpu_like("h200.toml"));
  const NvmlSession session;
  std::uint64_t begin = 0;
  nvml().negawattSimNow(&begin);
  const auto real_begin = std::chrono::steady_clock::now();
  const auto sleeper = child([&] {
    const NvmlSession own;
    std::uint64_t now = 0;
    nvml().negawattSimSleepUntil(begin + 5'000'000'000);
    nvml().negawattSimNow(&now);
    return now >= begin + 5'000'000'000 ? 0 : 1;
  });
  EXPECT_EQ(ending_of(sleeper), 0);
  const auto real = std::chrono::steady_clock::now() - real_begin;
  EXPECT_GE(real, 49ms);
  EXPECT_LT(real, 5s);
}

}  // namespace
}  // namespace negawatt::testing
