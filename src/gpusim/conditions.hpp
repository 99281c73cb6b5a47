// SPDX-License-Identifier: Apache-2.0
//
// What holds on a simulated GPU from now until the next event, and when that is: the clocks that
// locks, governors and faults leave, the operating point of the running kernel or of idling, and
// the earliest time at which any of it can change.
#pragma once

#include <cstdint>

#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {

/// Takes the sensor samples up to `at_ns`, then moves the anchor there. Precondition: not after the
/// next event.
void move_anchor(const Device& device, std::int64_t at_ns);

/// Derives conditions, completion and next event from the state at the anchor.
void settle(const Device& device);

/// Whether a fault of this kind holds at the anchor; its script entry, or null.
[[nodiscard]] const TimedFault* active_fault(const GpuModel& model, const GpuState& state,
                                             TimedFault::Kind kind);

/// The core clock under load that the lock in force leaves, before governors.
[[nodiscard]] std::uint32_t wanted_core_mhz(const GpuModel& model, const GpuState& state);

/// Nothing runs, nothing has run lately, and no process holds a context.
[[nodiscard]] bool is_in_deep_idle(const GpuState& state);

}  // namespace negawatt::gpusim
