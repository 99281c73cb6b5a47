// SPDX-License-Identifier: Apache-2.0
//
// The simulated library: what the GPU's sensors say.
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "gpusim/nvml_call.hpp"
#include "gpusim/nvml_library.hpp"

namespace negawatt::gpusim {
namespace {

constexpr std::uint32_t kAmpere = 7;  // NVML_DEVICE_ARCH_AMPERE
constexpr int kMostFields = 1024;

std::uint32_t milliwatts(Watts power) {
  return static_cast<std::uint32_t>(std::lround(power.in_si() * 1e3));
}

/// Nothing for a domain that is not simulated.
std::optional<std::uint32_t> actual_mhz(const Readings& readings, nvmlClockType_t type) {
  switch (type) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM:
      return readings.core_mhz;
    case NVML_CLOCK_MEM:
      return readings.memory_mhz;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> highest_mhz(const ClockModel& clocks, nvmlClockType_t type) {
  switch (type) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM:
      return clocks.core_mhz.back();
    case NVML_CLOCK_MEM:
      return clocks.memory_mhz.back();
    default:
      return std::nullopt;
  }
}

nvmlReturn_t answer_clock(std::optional<std::uint32_t> mhz, unsigned* clock) {
  if (!mhz) return NVML_ERROR_NOT_SUPPORTED;
  *clock = *mhz;
  return NVML_SUCCESS;
}

void fill_field(const Asked& asked, const Readings& readings, nvmlFieldValue_t& field) {
  const auto& limits = asked.model().limits;
  field.timestamp = asked.world.epoch_ns(asked.gpu.now_ns()) / 1'000;
  field.latencyUsec = 0;
  field.nvmlReturn = NVML_SUCCESS;
  field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
  field.value.ullVal = 0;
  switch (field.fieldId) {
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
      field.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
      field.value.ullVal = readings.energy_mj;
      break;
    case NVML_FI_DEV_POWER_AVERAGE:
      field.value.uiVal = readings.average_power_mw;
      break;
    case NVML_FI_DEV_POWER_INSTANT:
      field.value.uiVal = readings.instant_power_mw;
      break;
    case NVML_FI_DEV_POWER_MIN_LIMIT:
      field.value.uiVal = milliwatts(limits.least);
      break;
    case NVML_FI_DEV_POWER_MAX_LIMIT:
      field.value.uiVal = milliwatts(limits.most);
      break;
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
      field.value.uiVal = milliwatts(limits.standard);
      break;
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT:
      field.value.uiVal = readings.power_limit_mw;
      break;
    default:
      field.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
  }
}

nvmlReturn_t event_reasons(std::string_view function, nvmlDevice_t device,
                           unsigned long long* reasons) noexcept {
  return on_gpu(
      {.function = function, .device = device},
      [&](const Asked& asked) {
        *reasons = asked.readings().event_reasons;
        return NVML_SUCCESS;
      },
      reasons);
}

nvmlReturn_t supported_event_reasons(std::string_view function, nvmlDevice_t device,
                                     unsigned long long* reasons) noexcept {
  return on_gpu(
      {.function = function, .device = device},
      [&](const Asked&) {
        *reasons = nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonSwPowerCap |
                   nvmlClocksEventReasonSwThermalSlowdown;
        return NVML_SUCCESS;
      },
      reasons);
}

}  // namespace
}  // namespace negawatt::gpusim

using namespace negawatt::gpusim;  // NOLINT(google-build-using-namespace): the C names call it all

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long* energy) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .cost = &ReadCosts::energy_ns},
      [&](const Asked& asked) {
        *energy = asked.readings().energy_mj;
        return NVML_SUCCESS;
      },
      energy);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* power) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .cost = &ReadCosts::power_ns},
      [&](const Asked& asked) {
        // From Ampere on the average over a second (NVML API reference; GA100, which differs, is
        // not told apart from other Ampere cards).
        const auto readings = asked.readings();
        *power = asked.model().identity.architecture >= kAmpere ? readings.average_power_mw
                                                                : readings.instant_power_mw;
        return NVML_SUCCESS;
      },
      power);
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count,
                                      nvmlFieldValue_t* values) noexcept {
  if (count < 0 || count > kMostFields) return NVML_ERROR_INVALID_ARGUMENT;
  return on_gpu(
      {.function = __func__, .device = device, .cost = &ReadCosts::power_ns},
      [&](const Asked& asked) {
        const auto readings = asked.readings();
        for (auto& field : std::span(values, static_cast<std::size_t>(count)))
          fill_field(asked, readings, field);
        return NVML_SUCCESS;
      },
      values);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned* clock) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .cost = &ReadCosts::clock_ns},
      [&](const Asked& asked) { return answer_clock(actual_mhz(asked.readings(), type), clock); },
      clock);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                       unsigned* clock) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        return answer_clock(highest_mhz(asked.model().clocks, type), clock);
      },
      clock);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                                unsigned* clock) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .cost = &ReadCosts::clock_ns},
      [&](const Asked& asked) {
        if (id == NVML_CLOCK_ID_CURRENT)
          return answer_clock(actual_mhz(asked.readings(), type), clock);
        if (id == NVML_CLOCK_ID_CUSTOMER_BOOST_MAX)
          return answer_clock(highest_mhz(asked.model().clocks, type), clock);
        return NVML_ERROR_NOT_SUPPORTED;  // application clocks
      },
      clock);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                    unsigned long long* reasons) noexcept {
  return event_reasons(__func__, device, reasons);
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* reasons) noexcept {
  return event_reasons(__func__, device, reasons);
}
nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device,
                                                      unsigned long long* reasons) noexcept {
  return supported_event_reasons(__func__, device, reasons);
}
nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device,
                                                         unsigned long long* reasons) noexcept {
  return supported_event_reasons(__func__, device, reasons);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                      unsigned* temperature) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        if (sensor != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
        *temperature = asked.readings().temperature_c;
        return NVML_SUCCESS;
      },
      temperature);
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device,
                                       nvmlTemperature_t* temperature) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        if (temperature->version != kNvmlTemperatureVersion1)
          return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
        if (temperature->sensorType != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
        temperature->temperature = static_cast<std::int32_t>(asked.readings().temperature_c);
        return NVML_SUCCESS;
      },
      temperature);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* state) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *state = static_cast<nvmlPstates_t>(asked.readings().performance_state);
        return NVML_SUCCESS;
      },
      state);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                           nvmlUtilization_t* utilization) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        const auto busy = asked.readings().busy_pct;
        *utilization = {.gpu = busy, .memory = busy};
        return NVML_SUCCESS;
      },
      utilization);
}
