// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "gpusim/conditions.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {
namespace {

nvmlReturn_t logged(GpuState& state, std::string_view function, WriteRecord record) {
  record.at_ns = state.now_ns;
  record.function = static_cast<std::uint32_t>(function_index(function));
  state.writes.push(record);
  return record.result;
}

ClockSetting rounded(std::span<const std::uint32_t> supported, ClockSetting asked) {
  const auto above = std::ranges::upper_bound(supported, asked.most_mhz);
  const auto most = above == supported.begin() ? supported.front() : *(above - 1);
  const auto least = std::ranges::lower_bound(supported, asked.least_mhz);
  return {least == supported.end() ? most : std::min(*least, most), most};
}

/// One of the two domains, with what its description says.
struct Knob {
  ClockDomain& domain;
  const SwitchLatency& latency;
};

void request(const Device& device, const Knob& knob, ClockSetting setting) {
  auto& state = device.state;
  auto& domain = knob.domain;
  if (setting == domain.asked) return;  // on its way already, or in force
  move_anchor(device, state.now_ns);
  domain.asked = setting;
  // Back to what still holds: nothing is left to change.
  domain.effective_ns =
      setting == domain.in_force ? kNever : state.now_ns + knob.latency.to(setting.most_mhz);
  settle(device);
  advance(device, state.now_ns);  // without latency it is in force at once
}

nvmlReturn_t lock(const Device& device, const Knob& knob, std::span<const std::uint32_t> supported,
                  ClockSetting asked) {
  if (device.state.lost != 0) return NVML_ERROR_GPU_IS_LOST;
  if (asked.most_mhz == 0 || asked.least_mhz > asked.most_mhz) return NVML_ERROR_INVALID_ARGUMENT;
  request(device, knob, rounded(supported, asked));
  return NVML_SUCCESS;
}

nvmlReturn_t reset(const Device& device, const Knob& knob) {
  if (device.state.lost != 0) return NVML_ERROR_GPU_IS_LOST;
  request(device, knob, {});
  return NVML_SUCCESS;
}

Knob core_knob(const Device& device) {
  return {device.state.core, device.model.clocks.core_latency};
}
Knob memory_knob(const Device& device) {
  return {device.state.memory, device.model.clocks.memory_latency};
}

}  // namespace

nvmlReturn_t lock_core(const Device& device, ClockSetting asked, std::uint32_t pid) {
  const auto result = lock(device, core_knob(device), device.model.clocks.core_mhz, asked);
  return logged(device.state, "nvmlDeviceSetGpuLockedClocks",
                {.result = result, .first = asked.least_mhz, .second = asked.most_mhz, .pid = pid});
}

nvmlReturn_t lock_memory(const Device& device, ClockSetting asked, std::uint32_t pid) {
  const auto result = lock(device, memory_knob(device), device.model.clocks.memory_mhz, asked);
  return logged(device.state, "nvmlDeviceSetMemoryLockedClocks",
                {.result = result, .first = asked.least_mhz, .second = asked.most_mhz, .pid = pid});
}

nvmlReturn_t reset_core(const Device& device, std::uint32_t pid) {
  const auto result = reset(device, core_knob(device));
  return logged(device.state, "nvmlDeviceResetGpuLockedClocks", {.result = result, .pid = pid});
}

nvmlReturn_t reset_memory(const Device& device, std::uint32_t pid) {
  const auto result = reset(device, memory_knob(device));
  return logged(device.state, "nvmlDeviceResetMemoryLockedClocks", {.result = result, .pid = pid});
}

nvmlReturn_t set_power_limit(const Device& device, std::uint32_t milliwatts, std::uint32_t pid) {
  const auto& [model, surfaces, state] = device;
  const Watts limit(milliwatts * 1e-3);
  // In milliwatts, so that a limit read from the device is not refused for its last digit.
  const auto milli = [](Watts power) { return std::llround(power.in_si() * 1e3); };
  auto result = NVML_SUCCESS;
  if (state.lost != 0) {
    result = NVML_ERROR_GPU_IS_LOST;
  } else if (milliwatts < milli(model.limits.least) || milliwatts > milli(model.limits.most)) {
    result = NVML_ERROR_INVALID_ARGUMENT;
  } else {
    move_anchor(device, state.now_ns);
    state.power_limit = limit;
    settle(device);
  }
  return logged(state, "nvmlDeviceSetPowerManagementLimit",
                {.result = result, .first = milliwatts, .pid = pid});
}

void log_refusal(GpuState& state, const WriteRecord& record) { state.writes.push(record); }

}  // namespace negawatt::gpusim
