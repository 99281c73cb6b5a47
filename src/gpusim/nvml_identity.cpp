// SPDX-License-Identifier: Apache-2.0
//
// The simulated library: what a GPU is, and its MIG instances.
#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "gpusim/nvml_answers.hpp"
#include "gpusim/nvml_call.hpp"
#include "gpusim/nvml_library.hpp"
#include "gpusim/nvml_session.hpp"

namespace negawatt::gpusim {
namespace {

nvmlReturn_t pci_of(std::string_view function, nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  return on_gpu(
      {.function = function, .device = device},
      [&](const Asked& asked) {
        const auto& id = asked.model().identity;
        *pci = {.domain = id.pci_domain,
                .bus = id.pci_bus,
                .device = id.pci_device,
                .pciDeviceId = id.pci_device_id,
                .pciSubSystemId = id.pci_subsystem_id};
        const auto address = fmt::format("{:02X}:{:02X}.0", id.pci_bus, id.pci_device);
        const auto legacy = fmt::format("{:04X}:{}", id.pci_domain & 0xFFFFU, address);
        const auto modern = fmt::format("{:08X}:{}", id.pci_domain, address);
        (void)answer_text(legacy, pci->busIdLegacy, sizeof pci->busIdLegacy);
        (void)answer_text(modern, pci->busId, sizeof pci->busId);
        return NVML_SUCCESS;
      },
      pci);
}

}  // namespace
}  // namespace negawatt::gpusim

using namespace negawatt::gpusim;  // NOLINT(google-build-using-namespace): the C names call it all

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .of_mig_instances = true},
      [&](const Asked& asked) {
        auto text = asked.model().identity.name;
        if (asked.target.mig) text += " MIG " + asked.model().mig[*asked.target.mig].profile;
        return answer_text(text, name, length);
      },
      name);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned length) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .of_mig_instances = true},
      [&](const Asked& asked) {
        return answer_text(asked.target.mig ? asked.model().mig[*asked.target.mig].uuid
                                            : asked.model().identity.uuid,
                           uuid, length);
      },
      uuid);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *index = static_cast<unsigned>(asked.target.gpu);
        return NVML_SUCCESS;
      },
      index);
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned* minor) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *minor = asked.model().identity.minor_number;
        return NVML_SUCCESS;
      },
      minor);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  return pci_of(__func__, device, pci);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  return pci_of(__func__, device, pci);
}
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  // The oldest struct ends before the long bus id.
  nvmlPciInfo_t whole{};
  const auto result = pci_of(__func__, device, pci == nullptr ? nullptr : &whole);
  if (result == NVML_SUCCESS) std::memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId));
  return result;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned* architecture) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .of_mig_instances = true},
      [&](const Asked& asked) {
        *architecture = asked.model().identity.architecture;
        return NVML_SUCCESS;
      },
      architecture);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *mode =
            asked.model().identity.persistence_mode ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
        return NVML_SUCCESS;
      },
      mode);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current,
                                  unsigned* pending) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *current = *pending = asked.model().mig_enabled ? 1 : 0;
        return NVML_SUCCESS;
      },
      current, pending);
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned* count) noexcept {
  constexpr unsigned kMostInstances = 7;
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        *count = asked.model().mig_enabled ? kMostInstances : 0;
        return NVML_SUCCESS;
      },
      count);
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index,
                                                 nvmlDevice_t* mig_device) noexcept {
  return on_gpu(
      {.function = __func__, .device = device},
      [&](const Asked& asked) {
        if (!asked.model().mig_enabled || index >= asked.model().mig.size())
          return NVML_ERROR_NOT_FOUND;
        *mig_device = handle_of({.gpu = asked.target.gpu, .mig = index});
        return NVML_SUCCESS;
      },
      mig_device);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned* is_mig) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .of_mig_instances = true},
      [&](const Asked& asked) {
        *is_mig = asked.target.mig ? 1 : 0;
        return NVML_SUCCESS;
      },
      is_mig);
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig_device,
                                                          nvmlDevice_t* device) noexcept {
  return on_gpu(
      {.function = __func__, .device = mig_device, .of_mig_instances = true},
      [&](const Asked& asked) {
        if (!asked.target.mig) return NVML_ERROR_INVALID_ARGUMENT;
        *device = handle_of({.gpu = asked.target.gpu});
        return NVML_SUCCESS;
      },
      device);
}
