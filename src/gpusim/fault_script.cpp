// SPDX-License-Identifier: Apache-2.0
#include "gpusim/fault_script.hpp"

#include <algorithm>
#include <string>

#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"

namespace negawatt::gpusim {
namespace {

#define NW_NAME(symbol, parameters) std::string_view{#symbol},
constexpr std::array kFunctions = {NW_NVML_FUNCTIONS(NW_NAME)};
#undef NW_NAME
static_assert(kFunctions.size() <= kMostFunctions);

struct ReturnName {
  std::string_view name;
  nvmlReturn_t value;
};
constexpr std::array kReturns = {
    ReturnName{"SUCCESS", NVML_SUCCESS},
    ReturnName{"UNINITIALIZED", NVML_ERROR_UNINITIALIZED},
    ReturnName{"INVALID_ARGUMENT", NVML_ERROR_INVALID_ARGUMENT},
    ReturnName{"NOT_SUPPORTED", NVML_ERROR_NOT_SUPPORTED},
    ReturnName{"NO_PERMISSION", NVML_ERROR_NO_PERMISSION},
    ReturnName{"NOT_FOUND", NVML_ERROR_NOT_FOUND},
    ReturnName{"INSUFFICIENT_SIZE", NVML_ERROR_INSUFFICIENT_SIZE},
    ReturnName{"DRIVER_NOT_LOADED", NVML_ERROR_DRIVER_NOT_LOADED},
    ReturnName{"TIMEOUT", NVML_ERROR_TIMEOUT},
    ReturnName{"LIBRARY_NOT_FOUND", NVML_ERROR_LIBRARY_NOT_FOUND},
    ReturnName{"FUNCTION_NOT_FOUND", NVML_ERROR_FUNCTION_NOT_FOUND},
    ReturnName{"GPU_IS_LOST", NVML_ERROR_GPU_IS_LOST},
    ReturnName{"RESET_REQUIRED", NVML_ERROR_RESET_REQUIRED},
    ReturnName{"OPERATING_SYSTEM", NVML_ERROR_OPERATING_SYSTEM},
    ReturnName{"LIB_RM_VERSION_MISMATCH", NVML_ERROR_LIB_RM_VERSION_MISMATCH},
    ReturnName{"IN_USE", NVML_ERROR_IN_USE},
    ReturnName{"MEMORY", NVML_ERROR_MEMORY},
    ReturnName{"NO_DATA", NVML_ERROR_NO_DATA},
    ReturnName{"INSUFFICIENT_RESOURCES", NVML_ERROR_INSUFFICIENT_RESOURCES},
    ReturnName{"FREQ_NOT_SUPPORTED", NVML_ERROR_FREQ_NOT_SUPPORTED},
    ReturnName{"ARGUMENT_VERSION_MISMATCH", NVML_ERROR_ARGUMENT_VERSION_MISMATCH},
    ReturnName{"DEPRECATED", NVML_ERROR_DEPRECATED},
    ReturnName{"NOT_READY", NVML_ERROR_NOT_READY},
    ReturnName{"GPU_NOT_FOUND", NVML_ERROR_GPU_NOT_FOUND},
    ReturnName{"INVALID_STATE", NVML_ERROR_INVALID_STATE},
    ReturnName{"UNKNOWN", NVML_ERROR_UNKNOWN},
};

bool is_setter(std::string_view function) {
  return function.starts_with("nvmlDeviceSet") || function.starts_with("nvmlDeviceReset");
}

/// What a fault that is active answers to a call; NVML_SUCCESS when it lets the call pass.
nvmlReturn_t answer_of(const TimedFault& fault, std::string_view function) {
  switch (fault.kind) {
    case TimedFault::Kind::not_ready:
      return NVML_ERROR_NOT_READY;
    case TimedFault::Kind::driver_reload:
      return NVML_ERROR_DRIVER_NOT_LOADED;
    case TimedFault::Kind::no_permission:
      return is_setter(function) ? NVML_ERROR_NO_PERMISSION : NVML_SUCCESS;
    default:
      return NVML_SUCCESS;
  }
}

void apply_timed(const FaultScript& script, std::string_view function, std::int64_t now_ns,
                 FaultDecision& decision) {
  const auto index = function_index(function);
  for (const auto& fault : script.timed) {
    if (now_ns < fault.at_ns || now_ns >= fault.until_ns) continue;
    if (fault.kind == TimedFault::Kind::hang && fault.function == index)
      decision.hang_ns = static_cast<std::int64_t>(fault.value * 1e9);
    if (decision.result == NVML_SUCCESS) decision.result = answer_of(fault, function);
  }
}

}  // namespace

std::size_t function_index(std::string_view function) {
  for (const std::string_view version : {"", "_v3", "_v2"}) {
    const auto found = std::ranges::find_if(kFunctions, [&](std::string_view known) {
      return known.size() == function.size() + version.size() && known.starts_with(function) &&
             known.ends_with(version);
    });
    if (found != kFunctions.end()) return static_cast<std::size_t>(found - kFunctions.begin());
  }
  return kUnknownFunction;
}

std::string_view function_name(std::size_t index) {
  return index < kFunctions.size() ? kFunctions[index] : std::string_view();
}

bool parse_return(std::string_view text, nvmlReturn_t& value) {
  for (const std::string_view prefix : {"NVML_ERROR_", "NVML_"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    break;
  }
  const auto found = std::ranges::find(kReturns, text, &ReturnName::name);
  if (found == kReturns.end()) return false;
  value = found->value;
  return true;
}

FaultDecision decide(const FaultScript& script, CallCounts& counts, std::string_view function,
                     std::int64_t now_ns) {
  const auto index = function_index(function);
  if (index == kUnknownFunction) return {};
  const auto call = ++counts[index];
  FaultDecision decision;
  for (const auto& fault : script.counted)
    if (fault.function == index && call >= fault.first && call <= fault.last)
      decision.result = fault.returns;
  apply_timed(script, function, now_ns, decision);
  const auto listed = [&](const auto& list) {
    return std::ranges::find(list, index) != list.end();
  };
  if (decision.result == NVML_SUCCESS && listed(script.not_supported))
    decision.result = NVML_ERROR_NOT_SUPPORTED;
  if (decision.result == NVML_SUCCESS && listed(script.no_permission))
    decision.result = NVML_ERROR_NO_PERMISSION;
  return decision;
}

FaultDecision decide(const GpuModel& model, GpuState& state, std::string_view function,
                     std::int64_t now_ns) {
  auto decision = decide(model.faults, state.calls, function, now_ns);
  if (state.lost != 0) decision.result = NVML_ERROR_GPU_IS_LOST;
  return decision;
}

}  // namespace negawatt::gpusim
