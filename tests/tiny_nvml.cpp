// SPDX-License-Identifier: Apache-2.0
#include "tests/tiny_nvml.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <span>

#include "nvml/nvml.hpp"
#include "nvml/simulated_time.hpp"

namespace {

using negawatt::testing::TinyGpu;
using negawatt::testing::TinyNvml;

TinyNvml& state() {
  static TinyNvml the_state;
  return the_state;
}

/// Counts the call and gives the scripted code.
nvmlReturn_t scripted(const char* function) {
  static std::mutex mutex;  // programs ask from several threads
  const std::scoped_lock lock(mutex);
  ++state().calls[function];
  if (auto& codes = state().next[function]; !codes.empty()) {
    const int code = codes.front();
    codes.pop_front();
    return static_cast<nvmlReturn_t>(code);
  }
  const auto always = state().always.find(function);
  return always == state().always.end() ? NVML_SUCCESS : static_cast<nvmlReturn_t>(always->second);
}

// A handle is the GPU's number plus one; of an instance, that and its number plus one in thousands.
std::size_t number_of(nvmlDevice_t device) { return reinterpret_cast<std::size_t>(device); }
// NOLINTNEXTLINE(performance-no-int-to-ptr): it points to nothing
nvmlDevice_t handle_of(std::size_t number) { return reinterpret_cast<nvmlDevice_t>(number); }
TinyGpu& gpu_of(nvmlDevice_t device) { return state().gpus.at(number_of(device) % 1000 - 1); }

nvmlReturn_t copy(const std::string& text, char* buffer, unsigned length) {
  if (text.size() + 1 > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): NVML's order
nvmlReturn_t copy(const std::vector<unsigned>& list, unsigned* count, unsigned* items) {
  const unsigned room = *count;
  *count = static_cast<unsigned>(list.size());
  if (room < list.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::ranges::copy(list, items);
  return NVML_SUCCESS;
}

unsigned long long counter_of(const TinyGpu& gpu) {
  const double now = static_cast<double>(state().now_ns) * 1e-9;
  const double steps = std::floor((now - gpu.counter_phase_s) / gpu.counter_period_s);
  return static_cast<unsigned long long>(
      std::max(0.0, gpu.counter_mj(gpu.counter_phase_s + steps * gpu.counter_period_s)));
}

void write(nvmlDevice_t device, const std::string& what) {
  state().writes.push_back(gpu_of(device).uuid.substr(0, 8) + " " + what);
}

std::string numbers(unsigned least, unsigned most) {
  return std::to_string(least) + " " + std::to_string(most);
}

nvmlReturn_t processes(nvmlDevice_t device, unsigned* count, nvmlProcessInfo_t* list) {
  const auto& pids = gpu_of(device).pids;
  const unsigned room = *count;
  *count = static_cast<unsigned>(pids.size());
  if (room < pids.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (const unsigned pid : pids) *list++ = {pid, ~0ULL, kNvmlNoInstance, kNvmlNoInstance};
  return NVML_SUCCESS;
}

void pay_for_reading() { state().now_ns += state().read_cost_ns; }

/// A function with one output that is a fact of the GPU.
template <class Out, class Fact>
nvmlReturn_t tell(const char* function, Out* out, const Fact& fact) {
  const nvmlReturn_t code = scripted(function);
  if (code == NVML_SUCCESS) *out = static_cast<Out>(fact());
  return code;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming,bugprone-easily-swappable-parameters): NVML's interface
extern "C" {

TinyNvml* tiny_nvml() { return &state(); }

nvmlReturn_t nvmlInit_v2() { return scripted("nvmlInit_v2"); }
nvmlReturn_t nvmlShutdown() { return scripted("nvmlShutdown"); }

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  const nvmlReturn_t code = scripted("nvmlSystemGetDriverVersion");
  return code == NVML_SUCCESS ? copy("580.0", version, length) : code;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return tell("nvmlDeviceGetCount_v2", count, [] { return state().gpus.size(); });
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  if (index >= state().gpus.size()) return NVML_ERROR_INVALID_ARGUMENT;
  return tell("nvmlDeviceGetHandleByIndex_v2", device, [&] { return handle_of(index + 1); });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned length) {
  if (const nvmlReturn_t code = scripted("nvmlDeviceGetUUID"); code != NVML_SUCCESS) return code;
  const std::size_t instance = number_of(device) / 1000;
  const TinyGpu& gpu = gpu_of(device);
  return copy(instance == 0 ? gpu.uuid : gpu.instances.at(instance - 1), uuid, length);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
  const nvmlReturn_t code = scripted("nvmlDeviceGetName");
  return code == NVML_SUCCESS ? copy(gpu_of(device).name, name, length) : code;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  const nvmlReturn_t code = scripted("nvmlDeviceGetPciInfo_v3");
  return code == NVML_SUCCESS ? copy(gpu_of(device).bus, pci->busId, sizeof pci->busId) : code;
}

#ifndef NEGAWATT_TINY_NVML_OLD
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* energy) {
  pay_for_reading();
  return tell("nvmlDeviceGetTotalEnergyConsumption", energy,
              [&] { return counter_of(gpu_of(device)); });
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t, nvmlTemperature_t* temperature) {
  if (temperature->version != kNvmlTemperatureVersion1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  return tell("nvmlDeviceGetTemperatureV", &temperature->temperature, [] { return 61; });
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                    unsigned long long* reasons) {
  return tell("nvmlDeviceGetCurrentClocksEventReasons", reasons,
              [&] { return gpu_of(device).reasons; });
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* list) {
  const nvmlReturn_t code = scripted("nvmlDeviceGetComputeRunningProcesses_v3");
  return code == NVML_SUCCESS ? processes(device, count, list) : code;
}

nvmlReturn_t nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned least, unsigned most) {
  write(device, "memory " + numbers(least, most));
  const nvmlReturn_t code = scripted("nvmlDeviceSetMemoryLockedClocks");
  if (code == NVML_SUCCESS) gpu_of(device).memory_lock = {least, most};
  return code;
}

nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device) {
  write(device, "memory reset");
  const nvmlReturn_t code = scripted("nvmlDeviceResetMemoryLockedClocks");
  if (code == NVML_SUCCESS) gpu_of(device).memory_lock.reset();
  return code;
}

nvmlReturn_t negawattSimNow(std::uint64_t* nanoseconds) {
  return tell("negawattSimNow", nanoseconds, [] { return state().now_ns; });
}
nvmlReturn_t negawattSimJoin() { return ++state().joined, scripted("negawattSimJoin"); }
nvmlReturn_t negawattSimLeave() { return --state().joined, scripted("negawattSimLeave"); }
nvmlReturn_t negawattSimNotify() { return ++state().notified, scripted("negawattSimNotify"); }
nvmlReturn_t negawattSimSleepUntil(std::uint64_t nanoseconds) {
  const nvmlReturn_t code = scripted("negawattSimSleepUntil");
  if (code == NVML_SUCCESS) {
    state().now_ns = std::max(state().now_ns, static_cast<std::int64_t>(nanoseconds));
  }
  return code;
}
#endif

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t,
                                      unsigned* temperature) {
  return tell("nvmlDeviceGetTemperature", temperature, [] { return 60; });
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* reasons) {
  return tell("nvmlDeviceGetCurrentClocksThrottleReasons", reasons,
              [&] { return gpu_of(device).reasons; });
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* list) {
  const nvmlReturn_t code = scripted("nvmlDeviceGetComputeRunningProcesses_v2");
  return code == NVML_SUCCESS ? processes(device, count, list) : code;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* power) {
  return tell("nvmlDeviceGetPowerUsage", power, [&] { return gpu_of(device).average_mw; });
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  pay_for_reading();
  if (const auto code = scripted("nvmlDeviceGetFieldValues"); code != NVML_SUCCESS) return code;
  const TinyGpu& gpu = gpu_of(device);
  for (auto& field : std::span(values, static_cast<std::size_t>(count))) {
    field.nvmlReturn = NVML_SUCCESS;
    field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    if (state().field_always.contains(field.fieldId)) {
      field.nvmlReturn = static_cast<nvmlReturn_t>(state().field_always[field.fieldId]);
    } else if (field.fieldId == NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION) {
      field.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
      field.value.ullVal = counter_of(gpu);
    } else if (field.fieldId == NVML_FI_DEV_POWER_INSTANT) {
      field.value.uiVal = gpu.instant_mw;
    } else if (field.fieldId == NVML_FI_DEV_POWER_AVERAGE) {
      field.value.uiVal = gpu.average_mw;
    } else {
      field.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
  }
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return tell("nvmlDeviceGetClockInfo", clock, [&] {
    return type == NVML_CLOCK_MEM ? gpu_of(device).memory_mhz : gpu_of(device).core_mhz;
  });
}

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned* count,
                                                unsigned* clocks) {
  const nvmlReturn_t code = scripted("nvmlDeviceGetSupportedMemoryClocks");
  return code == NVML_SUCCESS ? copy(gpu_of(device).memory_clocks, count, clocks) : code;
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned, unsigned* count,
                                                  unsigned* clocks) {
  const nvmlReturn_t code = scripted("nvmlDeviceGetSupportedGraphicsClocks");
  return code == NVML_SUCCESS ? copy(gpu_of(device).core_clocks, count, clocks) : code;
}

nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned least, unsigned most) {
  write(device, "core " + numbers(least, most));
  const nvmlReturn_t code = scripted("nvmlDeviceSetGpuLockedClocks");
  if (code == NVML_SUCCESS) gpu_of(device).core_lock = {least, most};
  return code;
}

nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device) {
  if (device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  write(device, "core reset");
  const nvmlReturn_t code = scripted("nvmlDeviceResetGpuLockedClocks");
  if (code == NVML_SUCCESS) gpu_of(device).core_lock.reset();
  return code;
}

nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned limit) {
  write(device, "power " + std::to_string(limit));
  const nvmlReturn_t code = scripted("nvmlDeviceSetPowerManagementLimit");
  const unsigned kept = state().whole_watts ? (limit + 500) / 1000 * 1000 : limit;
  if (code == NVML_SUCCESS && !state().ignore_power_limit) gpu_of(device).limit_mw = kept;
  return code;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned* limit) {
  return tell("nvmlDeviceGetPowerManagementLimit", limit, [&] { return gpu_of(device).limit_mw; });
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* limit) {
  return tell("nvmlDeviceGetEnforcedPowerLimit", limit, [&] { return gpu_of(device).limit_mw; });
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned* least,
                                                          unsigned* most) {
  *least = gpu_of(device).least_mw;
  return tell("nvmlDeviceGetPowerManagementLimitConstraints", most,
              [&] { return gpu_of(device).most_mw; });
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t, nvmlPstates_t* pstate) {
  return tell("nvmlDeviceGetPerformanceState", pstate, [] { return NVML_PSTATE_0; });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t* memory) {
  return tell("nvmlDeviceGetMemoryInfo", memory, [] {
    return nvmlMemory_t{.total = 8ULL << 30U, .free = 6ULL << 30U, .used = 2ULL << 30U};
  });
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  *pending = 0;
  return tell("nvmlDeviceGetMigMode", current, [&] { return gpu_of(device).mig ? 1U : 0U; });
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t, unsigned* count) {
  return tell("nvmlDeviceGetMaxMigDeviceCount", count, [] { return 7U; });
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index,
                                                 nvmlDevice_t* instance) {
  if (index >= gpu_of(device).instances.size()) return NVML_ERROR_NOT_FOUND;
  return tell("nvmlDeviceGetMigDeviceHandleByIndex", instance, [&] {
    return handle_of(number_of(device) % 1000 + std::size_t{1000} * (index + 1));
  });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-easily-swappable-parameters)
