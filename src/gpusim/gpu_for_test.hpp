// SPDX-License-Identifier: Apache-2.0
//
// A small GPU with round numbers for tests, and a device with its surfaces and its state.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"
#include "gpusim/kernel_surface.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kSecond = 1000 * kMs;

/// Clocks 100..1000 in steps of 100 and 500/1000; 10 W idle, 40 W awake; counter period 100 ms.
/// No leakage, so that energies can be worked out by hand.
inline GpuModel small_gpu() {
  GpuModel gpu;
  for (std::uint32_t mhz = 100; mhz <= 1000; mhz += 100) gpu.clocks.core_mhz.push_back(mhz);
  gpu.clocks.memory_mhz = {500, 1000};
  gpu.clocks.auto_core_mhz = 1000;
  gpu.clocks.auto_memory_mhz = 1000;
  gpu.clocks.idle_core_mhz = 100;
  gpu.clocks.idle_memory_mhz = 500;
  gpu.clocks.voltage = {{100, 1.0}, {1000, 1.0}};
  gpu.power = {.without_context = Watts(10),
               .with_context = Watts(20),
               .static_power = Watts(30),
               .clock_power = Watts(10),
               .reference_c = 50,
               .settle_ns = kSecond};
  gpu.thermal = {.kelvin_per_watt = 0.1,
                 .time_constant = Seconds(20),
                 .ambient_c = 25,
                 .slowdown_c = 90,
                 .shutdown_c = 95,
                 .period_ns = kSecond,
                 .step_mhz = 100};
  gpu.limits = {Watts(100), Watts(300), Watts(400), Watts(300)};
  gpu.sensors = {
      .period_ns = 100 * kMs, .instant_window_ns = 25 * kMs, .average_window_ns = 1000 * kMs};
  gpu.identity.performance_state = 0;
  gpu.identity.idle_performance_state = 8;
  return gpu;
}

/// A kernel of the same time and power at every clock.
inline KernelSurface flat_kernel(double time_s, double power_w) {
  KernelSurface surface;
  surface.count = 1;
  surface.settings[0].count = 1;
  surface.settings[0].nodes[0] = {1000, time_s, power_w};
  return surface;
}

/// A kernel with time inverse to the clock, 1 ms and 200 W at 1000 MHz, 10 ms and 50 W at 100 MHz;
/// at memory 500 its power is half.
inline KernelSurface steep_kernel() {
  KernelSurface surface;
  surface.count = 2;
  surface.settings[0] = {0, 2, {{{100, 0.010, 50}, {1000, 0.001, 200}}}};
  surface.settings[1] = {500, 2, {{{100, 0.010, 25}, {1000, 0.001, 100}}}};
  return surface;
}

/// Owns what a Device refers to. One context is open.
class DeviceForTest {
 public:
  explicit DeviceForTest(GpuModel model, std::vector<KernelSurface> surfaces = {})
      : model_(std::move(model)),
        surfaces_(std::move(surfaces)),
        state_(initial_state(model_, 0)),
        context_(*create_context(device(), {.pid = 1})) {}

  [[nodiscard]] Device device() { return {model_, surfaces_, state_}; }
  [[nodiscard]] const GpuModel& model() const { return model_; }
  [[nodiscard]] GpuState& state() { return state_; }
  [[nodiscard]] std::uint32_t context() const { return context_; }

  void advance_to(std::int64_t at_ns) { advance(device(), at_ns); }
  std::optional<std::uint64_t> submit_calls(std::uint32_t surface, std::uint64_t calls) {
    return submit(device(), context_, surface, calls);
  }
  [[nodiscard]] Joules energy() const { return truth_at(model_, state_, state_.now_ns).energy; }
  [[nodiscard]] Readings readings() const { return read_sensors(model_, state_, state_.now_ns); }
  /// All completions of the context since the last call.
  std::vector<Completion> completions() {
    std::vector<Completion> all(kCompletions);
    all.resize(completions_since(state_, context_, cursor_, all));
    return all;
  }

 private:
  GpuModel model_;
  std::vector<KernelSurface> surfaces_;
  GpuState state_;
  std::uint32_t context_;
  std::uint64_t cursor_ = 0;
};

}  // namespace negawatt::gpusim
