// SPDX-License-Identifier: Apache-2.0
//
// gpusim::parse_machine on any bytes: an accepted machine can be run. A description may refer to
// itself; no other file is there.
#include "gpusim/description.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/reader.hpp"
#include "gpusim/kernel_surface.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.toml";
constexpr std::size_t kMostKernels = 4;  // more of them only cost time here
constexpr int kMostEvents = 1000;

bool ascends(const std::vector<std::uint32_t>& clocks) {
  return !clocks.empty() && std::ranges::is_sorted(clocks);
}

void check_gpu(const gpusim::GpuModel& gpu) {
  require(ascends(gpu.clocks.core_mhz) && ascends(gpu.clocks.memory_mhz), "clocks ascend");
  require(gpu.limits.least <= gpu.limits.initial && gpu.limits.initial <= gpu.limits.most,
          "the power limit is within its limits");
  require(gpu.sensors.period_ns > 0 && gpu.sensors.instant_window_ns <= gpu.sensors.period_ns,
          "sensors refresh");
  require(std::ranges::is_sorted(gpu.faults.timed, {}, &gpusim::TimedFault::at_ns),
          "faults are in the order of their times");
}

std::vector<gpusim::KernelSurface> surfaces_of(const gpusim::GpuModel& gpu) {
  std::vector<gpusim::KernelSurface> surfaces;
  for (const auto& kernel : gpu.kernels) {
    if (surfaces.size() == kMostKernels) break;
    if (const auto surface = gpusim::surface_of_demand(gpu, kernel)) surfaces.push_back(*surface);
  }
  return surfaces;
}

void run(const gpusim::GpuModel& gpu) {
  const auto surfaces = surfaces_of(gpu);
  auto state = gpusim::initial_state(gpu, 0);
  const gpusim::Device device{gpu, surfaces, state};
  const auto context = gpusim::create_context(device, {.pid = 1});
  for (std::uint32_t n = 0; context && n < surfaces.size(); ++n)
    static_cast<void>(gpusim::submit(device, *context, n, 1000));
  gpusim::lock_core(device, {gpu.clocks.core_mhz.front(), gpu.clocks.core_mhz.front()}, 1);
  Joules energy;
  for (int n = 0; n < kMostEvents; ++n) {
    const auto next = gpusim::next_event(state);
    require(next > state.now_ns, "events that are due have happened");
    if (next == gpusim::kNever) break;
    gpusim::advance(device, next);
    const auto truth = gpusim::truth_at(gpu, state, state.now_ns);
    require(truth.energy.is_finite() && truth.energy >= energy, "energy does not fall");
    require(std::isfinite(truth.temperature_c), "temperature is finite");
    energy = truth.energy;
    static_cast<void>(gpusim::read_sensors(gpu, state, state.now_ns));
  }
}

}  // namespace

bool accepts(std::string_view bytes) {
  const gpusim::BaseReader read_base = [&](std::string_view name) -> Result<std::string> {
    if (name == kFile) return std::string(bytes);
    return failure(Code::invalid, "fuzz.toml: no other file is there");
  };
  const auto machine = gpusim::parse_machine(bytes, kFile, read_base);
  require_same_outcome(machine, gpusim::parse_machine(bytes, kFile, read_base));
  if (!machine) return refused(machine.error(), kFile);
  require(!machine->gpus.empty() && machine->gpus.size() <= gpusim::kMostGpus, "it has GPUs");
  for (const auto& gpu : machine->gpus) check_gpu(gpu);
  run(machine->gpus.front());
  return true;
}

}  // namespace negawatt::fuzz
