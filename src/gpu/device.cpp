// SPDX-License-Identifier: Apache-2.0
// What a Device is, allows, and is set to. Its sensors: device_sensors.cpp.
#include "gpu/device.hpp"

#include <algorithm>
#include <functional>
#include <variant>

#include "gpu/device_calls.hpp"
#include "gpu/nvml_library.hpp"

namespace negawatt::gpu {
namespace {

template <class T>
std::optional<T> known(const Answer<T>& answer) {
  return answer ? std::optional<T>(*answer) : std::nullopt;
}

std::vector<Megahertz> descending(const std::vector<unsigned>& list) {
  std::vector<Megahertz> clocks;
  clocks.reserve(list.size());
  for (const unsigned clock : list) clocks.push_back({clock});
  std::ranges::sort(clocks, std::greater{});
  return clocks;
}

}  // namespace

bool Device::may_set() const { return library_->setters() == Setters::present; }

Answer<std::vector<Megahertz>> Device::memory_clocks() const {
  const DeviceCalls calls(*this);
  NW_TRY(const auto list,
         calls.items<unsigned>(calls.library().nvmlDeviceGetSupportedMemoryClocks));
  return descending(list);
}

Answer<std::vector<Megahertz>> Device::core_clocks(Megahertz memory) const {
  const DeviceCalls calls(*this);
  NW_TRY(const auto list,
         calls.items<unsigned>(calls.library().nvmlDeviceGetSupportedGraphicsClocks, memory.count));
  return descending(list);
}

Answer<PowerLimits> Device::power_limits() const {
  const DeviceCalls calls(*this);
  const NvmlLibrary& library = calls.library();
  const auto limit = [&](const auto& function, std::uint32_t field) {
    return or_older(calls.power(function), [&] { return calls.power_field(field); });
  };
  PowerLimits limits;
  const auto enforced =
      limit(library.nvmlDeviceGetEnforcedPowerLimit, NVML_FI_DEV_POWER_CURRENT_LIMIT);
  limits.enforced = known(enforced);
  limits.requested =
      known(limit(library.nvmlDeviceGetPowerManagementLimit, NVML_FI_DEV_POWER_REQUESTED_LIMIT));
  limits.factory = known(
      limit(library.nvmlDeviceGetPowerManagementDefaultLimit, NVML_FI_DEV_POWER_DEFAULT_LIMIT));
  unsigned least = 0;
  unsigned most = 0;
  if (calls.ask(library.nvmlDeviceGetPowerManagementLimitConstraints, &least, &most) && most > 0) {
    limits.least = Milliwatts{least};
    limits.most = Milliwatts{most};
  } else {
    limits.least = known(calls.power_field(NVML_FI_DEV_POWER_MIN_LIMIT));
    limits.most = known(calls.power_field(NVML_FI_DEV_POWER_MAX_LIMIT));
  }
  if (!limits.enforced && !limits.requested && !limits.factory && !limits.most) {
    return tl::unexpected(enforced.error());
  }
  return limits;
}

Answer<bool> Device::persistence() const {
  const DeviceCalls calls(*this);
  NW_TRY(const auto mode,
         calls.number<nvmlEnableState_t>(calls.library().nvmlDeviceGetPersistenceMode));
  return mode == NVML_FEATURE_ENABLED;
}

Answer<MigMode> Device::mig_mode() const {
  const DeviceCalls calls(*this);
  unsigned current = 0;
  unsigned pending = 0;
  NW_CHECK(calls.ask(calls.library().nvmlDeviceGetMigMode, &current, &pending));
  return MigMode{current != 0, pending != 0};
}

Answer<std::vector<MigId>> Device::mig_instances() const {
  const DeviceCalls calls(*this);
  NW_TRY(const auto handles, calls.mig_handles());
  std::vector<MigId> instances;
  for (nvmlDevice_t handle : handles) {
    NW_TRY(MigId id, calls.mig_id(handle));
    instances.push_back(std::move(id));
  }
  return instances;
}

Answer<std::vector<ComputeProcess>> Device::compute_processes() const {
  const DeviceCalls calls(*this);
  auto whole = calls.processes_of(handle_);
  const auto mode = mig_mode();
  if (whole || !mode || !mode->enabled) return whole;
  // Without privilege a GPU with MIG does not answer for its instances, but they do.
  NW_TRY(const auto handles, calls.mig_handles());
  std::vector<ComputeProcess> all;
  for (nvmlDevice_t handle : handles) {
    NW_TRY(const auto processes, calls.processes_of(handle));
    all.insert(all.end(), processes.begin(), processes.end());
  }
  return all;
}

Done Device::apply(const Setting& setting) const {
  const DeviceCalls calls(*this);
  if (!may_set()) {
    return calls.error("apply", Obstacle::denied, "the driver was opened to observe only");
  }
  return std::visit([&](const auto& knob) { return calls.set(knob); }, setting);
}

}  // namespace negawatt::gpu
