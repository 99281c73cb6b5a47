// SPDX-License-Identifier: Apache-2.0
//
// The two loops that lower the ceiling of the core clock: power (feedback on a filtered power) and
// temperature. Both act on a fixed grid of times; where no action can follow until conditions
// change, their ticks are skipped, so an idle GPU costs nothing.
#pragma once

#include <cstdint>

#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"

namespace negawatt::gpusim {

/// The next tick, after the anchor, at which one of them may act; kNever when none will.
[[nodiscard]] std::int64_t next_governor_tick(const GpuModel& model, const GpuState& state);

/// Acts when the anchor is at the tick that state.governor_tick_ns names. True when the board has
/// become so hot that the GPU shuts down.
[[nodiscard]] bool run_governors(const GpuModel& model, GpuState& state);

}  // namespace negawatt::gpusim
