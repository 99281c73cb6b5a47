// SPDX-License-Identifier: Apache-2.0
//
// What a simulated GPU does wrong, and when: read from the `faults` of a description, asked before
// each NVML call. Faults that change the GPU itself (a lost GPU, a reset counter) are applied by
// the physics at their time; the others answer here. Times are simulated nanoseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nvml/nvml.hpp"

namespace negawatt::gpusim {

struct GpuModel;
struct GpuState;

inline constexpr std::size_t kMostFunctions = 96;
inline constexpr std::size_t kUnknownFunction = kMostFunctions;

/// The place of an NVML function in NW_NVML_FUNCTIONS, for counters and logs; kUnknownFunction for
/// a name that is not there. Older names (nvmlDeviceGetCount) count as the newest version.
[[nodiscard]] std::size_t function_index(std::string_view function);
/// The name at that place; "" when there is none.
[[nodiscard]] std::string_view function_name(std::size_t index);
/// By NVML's own name ("NVML_ERROR_NOT_READY") or its tail ("NOT_READY"); false when unknown.
[[nodiscard]] bool parse_return(std::string_view text, nvmlReturn_t& value);

/// A fault that holds from a time on, for a while or for good.
struct TimedFault {
  enum class Kind : std::uint8_t {
    gpu_lost,       ///< work, contexts and locks are gone; every call answers GPU_IS_LOST
    not_ready,      ///< every call of the device answers NOT_READY
    no_permission,  ///< every setter answers NO_PERMISSION
    counter_reset,  ///< the energy counter starts again from zero
    counter_rate,   ///< the energy counter runs at `value` times the truth
    stuck_sensor,   ///< counter and powers keep what they last showed
    override_lock,  ///< a core lock is accepted, and the clock is `value` MHz
    hang,           ///< `function` answers only after `value` seconds
    driver_reload,  ///< locks and limit fall back, the counter starts from zero, work is gone;
                    ///< calls answer DRIVER_NOT_LOADED while it lasts
  };
  Kind kind = Kind::gpu_lost;
  std::int64_t at_ns = 0;
  std::int64_t until_ns = 0;  ///< not included; kNever for good
  double value = 0;
  std::size_t function = kUnknownFunction;
};

/// The calls number `first` to `last` of a function, counted from 1, answer `returns`.
struct CountedFault {
  std::size_t function = kUnknownFunction;
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  nvmlReturn_t returns = NVML_ERROR_UNKNOWN;
};

struct FaultScript {
  std::vector<std::size_t> not_supported;  ///< function indices
  std::vector<std::size_t> no_permission;
  std::vector<std::string> missing_symbols;  ///< of the machine's library; empty in a GPU's script
  std::vector<TimedFault> timed;             ///< by at_ns
  std::vector<CountedFault> counted;
};

/// Calls so far, by function_index.
using CallCounts = std::array<std::uint64_t, kMostFunctions>;

struct FaultDecision {
  nvmlReturn_t result = NVML_SUCCESS;  ///< what to answer, NVML_SUCCESS to go on with the call
  std::int64_t hang_ns = 0;            ///< to wait first, in simulated time
};

/// Counts the call and says what the script has for it. For calls without a device (nvmlInit).
[[nodiscard]] FaultDecision decide(const FaultScript& script, CallCounts& counts,
                                   std::string_view function, std::int64_t now_ns);

/// The same for a call on a device that has been advanced to `now_ns`; a lost GPU answers so.
[[nodiscard]] FaultDecision decide(const GpuModel& model, GpuState& state,
                                   std::string_view function, std::int64_t now_ns);

}  // namespace negawatt::gpusim
