// SPDX-License-Identifier: Apache-2.0
//
// The simulated library: clocks that can be asked for, locks, and the power limit.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "gpusim/nvml_answers.hpp"
#include "gpusim/nvml_call.hpp"
#include "gpusim/nvml_library.hpp"

namespace negawatt::gpusim {
namespace {

constexpr Cost kSet = &ReadCosts::set_ns;

std::uint32_t milliwatts(Watts power) {
  return static_cast<std::uint32_t>(std::lround(power.in_si() * 1e3));
}

/// Highest first, as the driver lists them; only those that the card holds with this memory clock.
std::vector<std::uint32_t> core_clocks_with(const ClockModel& clocks, std::uint32_t memory_mhz) {
  std::vector<std::uint32_t> listed(clocks.core_mhz.rbegin(), clocks.core_mhz.rend());
  for (const auto& hold : clocks.memory_holds)
    if (hold.memory_mhz == memory_mhz)
      std::erase_if(listed, [&](std::uint32_t mhz) { return mhz > hold.core_at_most_mhz; });
  return listed;
}

nvmlReturn_t answer_limit(nvmlDevice_t device, std::string_view function,
                          unsigned* limit) noexcept {
  return on_gpu(
      {.function = function, .device = device},
      [&](const Asked& asked) {
        *limit = asked.readings().power_limit_mw;
        return NVML_SUCCESS;
      },
      limit);
}

}  // namespace
}  // namespace negawatt::gpusim

using namespace negawatt::gpusim;  // NOLINT(google-build-using-namespace): the C names call it all

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned* count,
                                                unsigned* clocks) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        const auto& ascending = asked.model().clocks.memory_mhz;
        const std::vector<unsigned> listed(ascending.rbegin(), ascending.rend());
        return answer_list<unsigned>(listed, count, clocks);
      },
      count);
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned memory_clock,
                                                  unsigned* count, unsigned* clocks) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        const auto& memory = asked.model().clocks.memory_mhz;
        if (std::ranges::find(memory, memory_clock) == memory.end()) return NVML_ERROR_NOT_FOUND;
        return answer_list<unsigned>(core_clocks_with(asked.model().clocks, memory_clock), count,
                                     clocks);
      },
      count);
}

nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned least,
                                          unsigned most) noexcept {
  return set_on_gpu({.function = __func__, .device = device, .cost = kSet}, {least, most},
                    [&](const Device& gpu, std::uint32_t pid) {
                      return lock_core(gpu, {.least_mhz = least, .most_mhz = most}, pid);
                    });
}

nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device) noexcept {
  return set_on_gpu({.function = __func__, .device = device, .cost = kSet}, {}, reset_core);
}

nvmlReturn_t nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned least,
                                             unsigned most) noexcept {
  return set_on_gpu({.function = __func__, .device = device, .cost = kSet}, {least, most},
                    [&](const Device& gpu, std::uint32_t pid) {
                      return lock_memory(gpu, {.least_mhz = least, .most_mhz = most}, pid);
                    });
}

nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device) noexcept {
  return set_on_gpu({.function = __func__, .device = device, .cost = kSet}, {}, reset_memory);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned* limit) noexcept {
  return answer_limit(device, __func__, limit);
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* limit) noexcept {
  return answer_limit(device, __func__, limit);
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): NVML's order
nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned* least,
                                                          unsigned* most) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *least = milliwatts(asked.model().limits.least);
        *most = milliwatts(asked.model().limits.most);
        return NVML_SUCCESS;
      },
      least, most);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device,
                                                      unsigned* limit) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *limit = milliwatts(asked.model().limits.standard);
        return NVML_SUCCESS;
      },
      limit);
}

nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned limit) noexcept {
  return set_on_gpu(
      {.function = __func__, .device = device, .cost = kSet}, {limit},
      [&](const Device& gpu, std::uint32_t pid) { return set_power_limit(gpu, limit, pid); });
}
