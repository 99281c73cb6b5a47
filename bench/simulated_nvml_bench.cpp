// SPDX-License-Identifier: Apache-2.0
//
// What the simulated driver costs: an NVML read between two events of the GPU and across them, a
// clock request, and handing virtual time from one thread to the next.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "gpusim/nvml_symbols.hpp"

namespace {

using negawatt::gpusim::NvmlSymbols;

/// A machine with one GPU whose calls cost nothing by themselves, in real or virtual time.
class Machine {
 public:
  explicit Machine(const std::string& time) {
    const auto path = folder_ / "machine.toml";
    std::filesystem::create_directories(folder_);
    std::ofstream(path) << "[time]\nmode = \"" << time
                        << "\"\n[[gpu]]\nbase = \"" NEGAWATT_SOURCE_DIR
                           "/data/gpusim/h200.toml\"\n[gpu.sensors.read_cost]\nenergy_s = 0\n"
                           "power_s = 0\nclock_s = 0\nset_s = 0\nother_s = 0\n";
    ::setenv("NEGAWATT_GPUSIM", path.c_str(), 1);
    ::setenv("NEGAWATT_GPUSIM_STATE", (folder_ / "world").c_str(), 1);
    is_up_ = nvml().nvmlInit_v2() == NVML_SUCCESS &&
             nvml().nvmlDeviceGetHandleByIndex_v2(0, &gpu_) == NVML_SUCCESS;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    nvml().nvmlShutdown();
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] static const NvmlSymbols& nvml() {
    static const NvmlSymbols kSymbols = *negawatt::gpusim::load_nvml(NEGAWATT_SIMULATED_NVML);
    return kSymbols;
  }
  [[nodiscard]] nvmlDevice_t gpu() const { return gpu_; }
  [[nodiscard]] bool is_up() const { return is_up_; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("negawatt-bench-" + std::to_string(::getpid()));
  nvmlDevice_t gpu_ = nullptr;
  bool is_up_ = false;
};

void read_energy(benchmark::State& state) {
  const Machine machine("real");
  if (!machine.is_up()) return state.SkipWithError("no simulated machine");
  unsigned long long energy = 0;
  for (auto _ : state) machine.nvml().nvmlDeviceGetTotalEnergyConsumption(machine.gpu(), &energy);
}
BENCHMARK(read_energy);

/// Every read finds that an event has passed since the last one, and moves the GPU over it.
void read_energy_across_an_event(benchmark::State& state) {
  const Machine machine("virtual");
  if (!machine.is_up()) return state.SkipWithError("no simulated machine");
  const auto& nvml = machine.nvml();
  nvml.negawattSimJoin();
  unsigned long long energy = 0;
  std::uint64_t now = 0;
  for (auto _ : state) {
    nvml.nvmlDeviceSetGpuLockedClocks(machine.gpu(), 345, 1980);
    nvml.nvmlDeviceSetGpuLockedClocks(machine.gpu(), 345, 1005);
    nvml.negawattSimSleepUntil(now += 7'000'000);  // switching takes 6 ms
    nvml.nvmlDeviceGetTotalEnergyConsumption(machine.gpu(), &energy);
  }
  nvml.negawattSimLeave();
}
BENCHMARK(read_energy_across_an_event);

void set_core_clock(benchmark::State& state) {
  const Machine machine("real");
  if (!machine.is_up()) return state.SkipWithError("no simulated machine");
  unsigned mhz = 345;
  for (auto _ : state) {
    machine.nvml().nvmlDeviceSetGpuLockedClocks(machine.gpu(), mhz, mhz);
    mhz = mhz == 345 ? 360 : 345;
  }
}
BENCHMARK(set_core_clock);

/// Two threads sleep in turns, so that every step wakes the other one: two hand-overs an iteration.
void hand_over_virtual_time(benchmark::State& state) {
  const Machine machine("virtual");
  if (!machine.is_up()) return state.SkipWithError("no simulated machine");
  const auto& nvml = machine.nvml();
  std::atomic<bool> joined = false;
  std::atomic<bool> over = false;
  nvml.negawattSimJoin();
  std::thread other([&] {
    nvml.negawattSimJoin();
    joined = true;
    for (std::uint64_t time = 1'500; !over; time += 1'000) nvml.negawattSimSleepUntil(time);
    nvml.negawattSimLeave();
  });
  while (!joined) std::this_thread::yield();
  std::uint64_t time = 0;
  for (auto _ : state) nvml.negawattSimSleepUntil(time += 1'000);
  over = true;
  nvml.negawattSimLeave();
  other.join();
}
BENCHMARK(hand_over_virtual_time)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
