// SPDX-License-Identifier: Apache-2.0
#include "gpu/answer.hpp"

#include <fmt/core.h>

#include "nvml/nvml.hpp"

namespace negawatt::gpu {
namespace {

struct Meaning {
  nvmlReturn_t code;
  Obstacle obstacle;
  const char* words;
};

constexpr Meaning kMeanings[] = {
    {NVML_ERROR_UNINITIALIZED, Obstacle::lost,
     "the driver was shut down or reloaded: open it again"},
    {NVML_ERROR_INVALID_ARGUMENT, Obstacle::refused, "the driver refuses the value"},
    {NVML_ERROR_NOT_SUPPORTED, Obstacle::absent, "not supported by this device"},
    {NVML_ERROR_NO_PERMISSION, Obstacle::denied,
     "no permission: this needs root (in a container also CAP_SYS_ADMIN)"},
    {NVML_ERROR_NOT_FOUND, Obstacle::absent, "not found"},
    {NVML_ERROR_INSUFFICIENT_SIZE, Obstacle::failed, "the answer did not fit"},
    {NVML_ERROR_DRIVER_NOT_LOADED, Obstacle::lost, "the kernel driver is not loaded"},
    {NVML_ERROR_TIMEOUT, Obstacle::failed, "the driver timed out"},
    {NVML_ERROR_LIBRARY_NOT_FOUND, Obstacle::absent, "a library that it needs is missing"},
    {NVML_ERROR_FUNCTION_NOT_FOUND, Obstacle::absent, "this driver does not have the function"},
    {NVML_ERROR_GPU_IS_LOST, Obstacle::lost,
     "the GPU is lost (fallen off the bus): see dmesg for Xid messages; it needs a reset"},
    {NVML_ERROR_RESET_REQUIRED, Obstacle::lost, "the GPU needs a reset"},
    {NVML_ERROR_OPERATING_SYSTEM, Obstacle::failed, "the operating system refused"},
    {NVML_ERROR_LIB_RM_VERSION_MISMATCH, Obstacle::lost,
     "library and kernel driver are of different versions: reboot or reload the modules"},
    {NVML_ERROR_IN_USE, Obstacle::not_ready, "the GPU is in use"},
    {NVML_ERROR_MEMORY, Obstacle::failed, "out of memory"},
    {NVML_ERROR_NO_DATA, Obstacle::not_ready, "no data yet"},
    {NVML_ERROR_INSUFFICIENT_RESOURCES, Obstacle::failed, "out of resources"},
    {NVML_ERROR_FREQ_NOT_SUPPORTED, Obstacle::refused, "the device does not have this clock"},
    {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, Obstacle::absent,
     "this driver does not know this version of the call"},
    {NVML_ERROR_DEPRECATED, Obstacle::absent, "the driver no longer has the function"},
    {NVML_ERROR_NOT_READY, Obstacle::not_ready, "the GPU is not ready"},
    {NVML_ERROR_GPU_NOT_FOUND, Obstacle::lost, "the GPU is gone"},
    {NVML_ERROR_INVALID_STATE, Obstacle::refused, "not possible in the GPU's present state"},
    {NVML_ERROR_UNKNOWN, Obstacle::failed, "unknown error"},
};

const Meaning* meaning_of(std::int32_t code) {
  for (const auto& meaning : kMeanings) {
    if (meaning.code == code) return &meaning;
  }
  return nullptr;
}

Code code_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::absent:
    case Obstacle::denied:
    case Obstacle::lost:
      return Code::unavailable;
    case Obstacle::refused:
      return Code::invalid;
    case Obstacle::not_ready:
    case Obstacle::failed:
      return Code::internal;
  }
  return Code::internal;
}

}  // namespace

DriverError::operator Error() const { return Error{code_of(obstacle), message}; }

std::string_view name_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::absent:
      return "absent";
    case Obstacle::denied:
      return "denied";
    case Obstacle::not_ready:
      return "not ready";
    case Obstacle::lost:
      return "lost";
    case Obstacle::refused:
      return "refused";
    case Obstacle::failed:
      return "failed";
  }
  return "failed";
}

std::string explain(std::int32_t code) {
  const Meaning* const meaning = meaning_of(code);
  return fmt::format("{} (NVML {})", meaning == nullptr ? "an error of its own" : meaning->words,
                     code);
}

Obstacle obstacle_of(std::int32_t code) {
  const Meaning* const meaning = meaning_of(code);
  return meaning == nullptr ? Obstacle::failed : meaning->obstacle;
}

}  // namespace negawatt::gpu
