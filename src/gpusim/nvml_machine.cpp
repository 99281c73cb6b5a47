// SPDX-License-Identifier: Apache-2.0
//
// The simulated library: the machine, and handles of its GPUs.
#include <fmt/core.h>

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "gpusim/nvml_answers.hpp"
#include "gpusim/nvml_call.hpp"
#include "gpusim/nvml_library.hpp"
#include "gpusim/nvml_session.hpp"

namespace negawatt::gpusim {
namespace {

constexpr int kCudaVersion = 13000;  // major * 1000 + minor * 10

/// A lost GPU has no handle; what is on the bus besides it has.
nvmlReturn_t answer_handle(World& world, Target target, nvmlDevice_t* device) {
  GpuAccess gpu(world, target.gpu);
  if (!gpu.ok()) return NVML_ERROR_UNKNOWN;
  if (gpu.state().lost != 0) return NVML_ERROR_GPU_IS_LOST;
  *device = handle_of(target);
  return NVML_SUCCESS;
}

nvmlReturn_t count_of(std::string_view function, unsigned* count) noexcept {
  return on_machine(
      function,
      [&](World& world) {
        *count = static_cast<unsigned>(world.machine().gpus.size());
        return NVML_SUCCESS;
      },
      count);
}

nvmlReturn_t handle_by_index(std::string_view function, unsigned index,
                             nvmlDevice_t* device) noexcept {
  return on_machine(
      function,
      [&](World& world) {
        if (index >= world.machine().gpus.size()) return NVML_ERROR_INVALID_ARGUMENT;
        return answer_handle(world, {.gpu = index}, device);
      },
      device);
}

/// "DOMAIN:BUS:DEVICE.0" or "BUS:DEVICE.0", hexadecimal of any case and length.
std::optional<Target> target_on_bus(const MachineModel& machine, const char* bus_id) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  // NOLINTBEGIN(cert-err34-c): a number that does not fit is found by no GPU
  const bool is_long = std::sscanf(bus_id, "%x:%x:%x", &domain, &bus, &device) == 3;
  if (!is_long) domain = 0;
  if (!is_long && std::sscanf(bus_id, "%x:%x", &bus, &device) != 2) return std::nullopt;
  // NOLINTEND(cert-err34-c)
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    const auto& identity = machine.gpus[gpu].identity;
    if (identity.pci_domain == domain && identity.pci_bus == bus && identity.pci_device == device)
      return Target{.gpu = gpu};
  }
  return std::nullopt;
}

nvmlReturn_t handle_by_bus_id(std::string_view function, const char* bus_id,
                              nvmlDevice_t* device) noexcept {
  return on_machine(
      function,
      [&](World& world) {
        const auto target = target_on_bus(world.machine(), bus_id);
        return target ? answer_handle(world, *target, device) : NVML_ERROR_NOT_FOUND;
      },
      bus_id, device);
}

}  // namespace
}  // namespace negawatt::gpusim

using namespace negawatt::gpusim;  // NOLINT(google-build-using-namespace): the C names call it all

nvmlReturn_t nvmlInit_v2() noexcept try { return begin_session(); } catch (...) {
  return NVML_ERROR_MEMORY;
}
nvmlReturn_t nvmlInit() noexcept { return nvmlInit_v2(); }
nvmlReturn_t nvmlInitWithFlags(unsigned) noexcept { return nvmlInit_v2(); }

nvmlReturn_t nvmlShutdown() noexcept try { return end_session(); } catch (...) {
  return NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) noexcept {
  return on_machine(
      __func__,
      [&](World& world) { return answer_text(world.machine().driver_version, version, length); },
      version);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) noexcept {
  return on_machine(
      __func__,
      [&](World& world) { return answer_text(world.machine().nvml_version, version, length); },
      version);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) noexcept {
  return on_machine(
      __func__,
      [&](World&) {
        *version = kCudaVersion;
        return NVML_SUCCESS;
      },
      version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) noexcept { return count_of(__func__, count); }
nvmlReturn_t nvmlDeviceGetCount(unsigned* count) noexcept { return count_of(__func__, count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) noexcept {
  return handle_by_index(__func__, index, device);
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) noexcept {
  return handle_by_index(__func__, index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) noexcept {
  return on_machine(
      __func__,
      [&](World& world) {
        const auto target = target_named(world.machine(), uuid);
        return target ? answer_handle(world, *target, device) : NVML_ERROR_NOT_FOUND;
      },
      uuid, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) noexcept {
  return handle_by_bus_id(__func__, bus_id, device);
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* device) noexcept {
  return handle_by_bus_id(__func__, bus_id, device);
}

const char* nvmlErrorString(nvmlReturn_t result) noexcept {
  switch (result) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NO_PERMISSION:
      return "Insufficient Permissions";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT:
      return "Timeout";
    case NVML_ERROR_FUNCTION_NOT_FOUND:
      return "Function Not Found";
    case NVML_ERROR_GPU_IS_LOST:
      return "GPU is lost";
    case NVML_ERROR_MEMORY:
      return "Insufficient Memory";
    case NVML_ERROR_NO_DATA:
      return "No data";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
      return "Argument version mismatch";
    case NVML_ERROR_NOT_READY:
      return "System is not in ready state";
    default:
      return "Unknown Error";
  }
}
