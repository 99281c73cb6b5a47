// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_library.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <time.h>

#include <memory>
#include <utility>

namespace negawatt::gpu {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::string_view kTakesThePlace = "NEGAWATT_NVML names another library";

bool changes_a_gpu(std::string_view function) {
  return function.starts_with("nvmlDeviceSet") || function.starts_with("nvmlDeviceReset");
}

template <class... Parameters>
void look_up_one(void* library, Function<nvmlReturn_t(Parameters...)>& function) {
  // POSIX lets a pointer from dlsym be a function.
  function.pointer = reinterpret_cast<nvmlReturn_t (*)(Parameters...)>(
      dlsym(library, std::string(function.name).c_str()));
}

std::int64_t machine_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * kNanosecondsPerSecond + time.tv_nsec;
}

/// What the codes mean when it is nvmlInit_v2 that returns them.
std::string explain_start(nvmlReturn_t code) {
  switch (code) {
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "the NVIDIA kernel driver is not loaded: modprobe nvidia (see dmesg if that fails)";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "this library and the loaded kernel driver are of different versions (the driver was "
             "updated): reboot, or reload the nvidia kernel modules";
    case NVML_ERROR_NO_PERMISSION:
      return "no permission to open /dev/nvidia*: check the device files' owner and mode, and the "
             "container's device rules";
    case NVML_ERROR_UNKNOWN:
      return "'Unknown Error': in a container this is what is left when 'systemctl daemon-reload' "
             "on the host took its GPUs away: restart the container (started with explicit "
             "--device options it keeps them)";
    case NVML_ERROR_LIBRARY_NOT_FOUND:
      return "the driver is installed in part: a library that this one needs is missing";
    default:
      return explain(code);
  }
}

}  // namespace

DriverError call_error(std::string_view call, std::string_view on, nvmlReturn_t code) {
  return {obstacle_of(code), call, code, fmt::format("{} on {}: {}", call, on, explain(code))};
}

bool is_transient(nvmlReturn_t code) {
  return code == NVML_ERROR_NOT_READY || code == NVML_ERROR_IN_USE;
}

Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::load(const std::string& path,
                                                             Setters setters) {
  auto library = std::make_shared<NvmlLibrary>(path);
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr) {
    const char* const why = dlerror();
    return failure(Code::unavailable,
                   fmt::format("cannot load the NVIDIA management library {} ({}): install the "
                               "NVIDIA driver; in a container, start it with GPU access; {}",
                               path, why == nullptr ? "no reason given" : why, kTakesThePlace));
  }
  library->setters_ = setters;
  library->look_up();
  if (library->nvmlInit_v2.pointer == nullptr) {
    return failure(Code::unavailable, fmt::format("{} has no nvmlInit_v2, so it is not NVML; {}",
                                                  path, kTakesThePlace));
  }
  if (const nvmlReturn_t code = library->nvmlInit_v2.pointer(); code != NVML_SUCCESS) {
    return failure(Code::unavailable,
                   fmt::format("cannot start NVML ({}): {}", path, explain_start(code)));
  }
  library->initialised_ = true;
  return library;
}

NvmlLibrary::~NvmlLibrary() {
  if (initialised_ && nvmlShutdown.pointer != nullptr) nvmlShutdown.pointer();
  if (handle_ != nullptr) dlclose(handle_);
}

void NvmlLibrary::look_up(){
#define NW_LOOK_UP(symbol, parameters) \
  if (setters_ == Setters::present || !changes_a_gpu((symbol).name)) look_up_one(handle_, symbol);
    NW_NVML_FUNCTIONS(NW_LOOK_UP) NW_SIMULATED_TIME_FUNCTIONS(NW_LOOK_UP)
#undef NW_LOOK_UP
}

std::vector<std::string> NvmlLibrary::missing_functions() const {
  std::vector<std::string> missing;
#define NW_MISSING(symbol, parameters)                                                          \
  if ((symbol).pointer == nullptr && (setters_ == Setters::present || !changes_a_gpu(#symbol))) \
    missing.emplace_back(#symbol);
  NW_NVML_FUNCTIONS(NW_MISSING)
#undef NW_MISSING
  return missing;
}

bool NvmlLibrary::has_simulated_clock() const {
  return negawattSimNow.pointer != nullptr && negawattSimSleepUntil.pointer != nullptr;
}

std::optional<std::int64_t> NvmlLibrary::simulated_now() const {
  if (!has_simulated_clock() || clock_broken_) return std::nullopt;
  std::uint64_t time = 0;
  if (negawattSimNow.pointer(&time) != NVML_SUCCESS) {
    since_broken_ = last_simulated_ - machine_now();
    clock_broken_ = true;
    return std::nullopt;
  }
  last_simulated_ = static_cast<std::int64_t>(time);
  return static_cast<std::int64_t>(time);
}

std::int64_t NvmlLibrary::now() const {
  if (const auto simulated = simulated_now()) return *simulated;
  return machine_now() + since_broken_;
}

void NvmlLibrary::wait_until(std::int64_t time) const {
  const std::int64_t left = time - now();
  if (left <= 0) return;
  if (has_simulated_clock() && !clock_broken_ &&
      negawattSimSleepUntil.pointer(static_cast<std::uint64_t>(time)) == NVML_SUCCESS) {
    return;
  }
  const timespec duration = {.tv_sec = left / kNanosecondsPerSecond,
                             .tv_nsec = left % kNanosecondsPerSecond};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

void NvmlLibrary::sleep_until(std::int64_t time) const {
  while (now() < time) wait_until(time);
}

}  // namespace negawatt::gpu
