// SPDX-License-Identifier: Apache-2.0
// Sensors of a Device.
#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "gpu/device.hpp"
#include "gpu/device_calls.hpp"
#include "gpu/nvml_library.hpp"

namespace negawatt::gpu {

bool EventReasons::idle() const { return (bits & nvmlClocksEventReasonGpuIdle) != 0; }

bool EventReasons::power_cap() const {
  return (bits & (nvmlClocksEventReasonSwPowerCap | nvmlClocksThrottleReasonHwSlowdown |
                  nvmlClocksThrottleReasonHwPowerBrakeSlowdown)) != 0;
}

bool EventReasons::thermal() const {
  return (bits & (nvmlClocksEventReasonSwThermalSlowdown | nvmlClocksThrottleReasonHwSlowdown |
                  nvmlClocksThrottleReasonHwThermalSlowdown)) != 0;
}

std::string to_string(EventReasons reasons) {
  constexpr std::pair<std::uint64_t, std::string_view> kNames[] = {
      {nvmlClocksEventReasonGpuIdle, "idle"},
      {nvmlClocksEventReasonApplicationsClocksSetting, "clocks set"},
      {nvmlClocksEventReasonSwPowerCap, "power cap"},
      {nvmlClocksThrottleReasonHwSlowdown, "hardware slowdown"},
      {nvmlClocksEventReasonSyncBoost, "sync boost"},
      {nvmlClocksEventReasonSwThermalSlowdown, "thermal"},
      {nvmlClocksThrottleReasonHwThermalSlowdown, "hardware thermal"},
      {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "power brake"},
      {nvmlClocksEventReasonDisplayClockSetting, "display"},
  };
  std::string text;
  std::uint64_t rest = reasons.bits;
  for (const auto& [bit, name] : kNames) {
    if ((rest & bit) == 0) continue;
    rest &= ~bit;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  if (rest != 0) text += fmt::format("{}{:#x}", text.empty() ? "" : ", ", rest);
  return text.empty() ? "none" : text;
}

Answer<EnergyReading> Device::energy() const {
  const DeviceCalls calls(*this);
  const auto ask = [&]() -> Answer<std::uint64_t> {
    NW_TRY(const auto counter,
           calls.number<unsigned long long>(calls.library().nvmlDeviceGetTotalEnergyConsumption));
    return counter;
  };
  const TimePoint before = clock().now();
  NW_TRY(const std::uint64_t counter,
         or_older(ask(), [&] { return calls.field(NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION); }));
  const Seconds cost = clock().now() - before;
  return EnergyReading{{counter}, before + cost * 0.5, cost};
}

Answer<Milliwatts> Device::power_instant() const {
  return DeviceCalls(*this).power_field(NVML_FI_DEV_POWER_INSTANT);
}

Answer<Milliwatts> Device::power_average() const {
  return DeviceCalls(*this).power_field(NVML_FI_DEV_POWER_AVERAGE);
}

Answer<Milliwatts> Device::power_unspecified() const {
  const DeviceCalls calls(*this);
  return calls.power(calls.library().nvmlDeviceGetPowerUsage);
}

Answer<std::int32_t> Device::temperature_c() const {
  const DeviceCalls calls(*this);
  const auto newer = [&]() -> Answer<std::int32_t> {
    nvmlTemperature_t reading{
        .version = kNvmlTemperatureVersion1, .sensorType = NVML_TEMPERATURE_GPU, .temperature = 0};
    NW_CHECK(calls.ask(calls.library().nvmlDeviceGetTemperatureV, &reading));
    return reading.temperature;
  };
  return or_older(newer(), [&]() -> Answer<std::int32_t> {
    NW_TRY(const unsigned degrees,
           calls.number<unsigned>(calls.library().nvmlDeviceGetTemperature, NVML_TEMPERATURE_GPU));
    return static_cast<std::int32_t>(degrees);
  });
}

Answer<Clocks> Device::clocks() const {
  const DeviceCalls calls(*this);
  const auto clock = [&](nvmlClockType_t type) {
    return calls.number<unsigned>(calls.library().nvmlDeviceGetClockInfo, type);
  };
  NW_TRY(const unsigned core,
         or_older(clock(NVML_CLOCK_SM), [&] { return clock(NVML_CLOCK_GRAPHICS); }));
  NW_TRY(const unsigned memory, clock(NVML_CLOCK_MEM));
  return Clocks{{core}, {memory}};
}

Answer<EventReasons> Device::event_reasons() const {
  const DeviceCalls calls(*this);
  const NvmlLibrary& library = calls.library();
  const auto ask = [&](const auto& function) { return calls.number<unsigned long long>(function); };
  NW_TRY(const auto bits, or_older(ask(library.nvmlDeviceGetCurrentClocksEventReasons), [&] {
           return ask(library.nvmlDeviceGetCurrentClocksThrottleReasons);
         }));
  return EventReasons{bits};
}

Answer<EventReasons> Device::supported_event_reasons() const {
  const DeviceCalls calls(*this);
  const NvmlLibrary& library = calls.library();
  const auto ask = [&](const auto& function) { return calls.number<unsigned long long>(function); };
  NW_TRY(const auto bits, or_older(ask(library.nvmlDeviceGetSupportedClocksEventReasons), [&] {
           return ask(library.nvmlDeviceGetSupportedClocksThrottleReasons);
         }));
  return EventReasons{bits};
}

Answer<Utilisation> Device::utilisation() const {
  const DeviceCalls calls(*this);
  NW_TRY(const auto rates,
         calls.number<nvmlUtilization_t>(calls.library().nvmlDeviceGetUtilizationRates));
  return Utilisation{rates.gpu, rates.memory};
}

Answer<MemoryUse> Device::memory() const {
  const DeviceCalls calls(*this);
  NW_TRY(const auto memory, calls.number<nvmlMemory_t>(calls.library().nvmlDeviceGetMemoryInfo));
  return MemoryUse{memory.total, memory.used};
}

Answer<std::uint32_t> Device::performance_state() const {
  const DeviceCalls calls(*this);
  const auto& function = calls.library().nvmlDeviceGetPerformanceState;
  NW_TRY(const auto state, calls.number<nvmlPstates_t>(function));
  if (state < NVML_PSTATE_0 || state >= NVML_PSTATE_UNKNOWN) {
    return calls.error(function.name, Obstacle::absent, "the driver does not know the state");
  }
  return static_cast<std::uint32_t>(state);
}

}  // namespace negawatt::gpu
