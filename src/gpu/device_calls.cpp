// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_calls.hpp"

#include <array>
#include <limits>
#include <optional>

namespace negawatt::gpu {
namespace {

/// A whole number that is not negative, whatever type the driver chose to send it as.
std::optional<std::uint64_t> whole_of(const nvmlFieldValue_t& field) {
  const auto not_negative = [](long long value) -> std::optional<std::uint64_t> {
    if (value < 0) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  };
  switch (field.valueType) {
    case NVML_VALUE_TYPE_UNSIGNED_INT:
      return field.value.uiVal;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
      return field.value.ulVal;
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
      return field.value.ullVal;
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
      return not_negative(field.value.sllVal);
    case NVML_VALUE_TYPE_SIGNED_INT:
      return not_negative(field.value.siVal);
    case NVML_VALUE_TYPE_DOUBLE:
      break;
  }
  return std::nullopt;
}

}  // namespace

Answer<std::uint64_t> DeviceCalls::field(std::uint32_t id) const {
  constexpr std::string_view kName = "nvmlDeviceGetFieldValues";
  nvmlFieldValue_t field{};
  field.fieldId = id;
  NW_CHECK(ask(library_.nvmlDeviceGetFieldValues, 1, &field));
  if (field.nvmlReturn != NVML_SUCCESS) {
    return tl::unexpected(
        call_error(kName, fmt::format("{}, field {}", id_, id), field.nvmlReturn));
  }
  if (const auto value = whole_of(field)) return *value;
  return error(kName, Obstacle::failed, fmt::format("field {} is not a whole number", id));
}

Answer<Milliwatts> DeviceCalls::power_field(std::uint32_t id) const {
  NW_TRY(const std::uint64_t power, field(id));
  // Some devices answer 0 for what they do not measure; nothing that runs draws 0 W.
  if (power == 0 || power > std::numeric_limits<std::uint32_t>::max()) {
    return error("nvmlDeviceGetFieldValues", Obstacle::absent,
                 fmt::format("field {} says {} mW, which is no power", id, power));
  }
  return Milliwatts{static_cast<std::uint32_t>(power)};
}

Answer<Milliwatts> DeviceCalls::power(
    const Function<nvmlReturn_t(nvmlDevice_t, unsigned*)>& function) const {
  NW_TRY(const unsigned power, number<unsigned>(function));
  if (power == 0) return error(function.name, Obstacle::absent, "says 0 mW, which is no power");
  return Milliwatts{power};
}

Done DeviceCalls::set(const CoreLock& lock) const {
  if (!lock.range) return ask(library_.nvmlDeviceResetGpuLockedClocks);
  return ask(library_.nvmlDeviceSetGpuLockedClocks, lock.range->least().count,
             lock.range->most().count);
}

Done DeviceCalls::set(const MemoryLock& lock) const {
  if (!lock.range) return ask(library_.nvmlDeviceResetMemoryLockedClocks);
  return ask(library_.nvmlDeviceSetMemoryLockedClocks, lock.range->least().count,
             lock.range->most().count);
}

Done DeviceCalls::set(const PowerLimit& power) const {
  return ask(library_.nvmlDeviceSetPowerManagementLimit, power.limit.count);
}

Answer<std::vector<nvmlDevice_t>> DeviceCalls::mig_handles() const {
  NW_TRY(const unsigned most, number<unsigned>(library_.nvmlDeviceGetMaxMigDeviceCount));
  std::vector<nvmlDevice_t> handles;
  for (unsigned index = 0; index < most; ++index) {
    nvmlDevice_t handle = nullptr;
    const Done done = ask(library_.nvmlDeviceGetMigDeviceHandleByIndex, index, &handle);
    if (done) {
      handles.push_back(handle);
    } else if (done.error().code != NVML_ERROR_NOT_FOUND &&
               done.error().code != NVML_ERROR_INVALID_ARGUMENT) {  // an empty place
      return tl::unexpected(done.error());
    }
  }
  return handles;
}

Answer<MigId> DeviceCalls::mig_id(nvmlDevice_t handle) const {
  std::array<char, NVML_DEVICE_UUID_V2_BUFFER_SIZE> uuid{};
  NW_CHECK(call(library_, id_, library_.nvmlDeviceGetUUID, handle, uuid.data(),
                static_cast<unsigned>(uuid.size() - 1)));
  return MigId(uuid.data());
}

Answer<std::vector<ComputeProcess>> DeviceCalls::processes_of(nvmlDevice_t handle) const {
  DeviceCalls calls(*this);
  calls.handle_ = handle;
  const auto ask_for = [&](const auto& function) {
    return calls.items<nvmlProcessInfo_t>(function);
  };
  NW_TRY(const auto listed,
         or_older(ask_for(library_.nvmlDeviceGetComputeRunningProcesses_v3),
                  [&] { return ask_for(library_.nvmlDeviceGetComputeRunningProcesses_v2); }));
  std::vector<ComputeProcess> processes;
  for (const auto& process : listed) {
    constexpr auto kNotSaid = std::numeric_limits<unsigned long long>::max();
    processes.push_back({process.pid, process.usedGpuMemory == kNotSaid
                                          ? std::nullopt
                                          : std::optional<std::uint64_t>(process.usedGpuMemory)});
  }
  return processes;
}

}  // namespace negawatt::gpu
