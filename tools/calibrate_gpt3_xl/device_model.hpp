// SPDX-License-Identifier: Apache-2.0
//
// The physical model that the surface starts from. A kernel's time is the p-norm of a part that
// the core clock paces and a part that the memory clock paces; its power is static power that
// depends on the memory clock, core power V^2 f with idle cycles drawing a share, and memory power
// by traffic. Locks of the core at 1890 MHz and above, and auto, end at the clock where the power
// cap holds the card: these clocks and voltages are parameters per memory clock, shared by all
// kernels, like the voltage curve. Both are scaled to the kernel's automatic time and power.
#pragma once

#include "calibrate_gpt3_xl/facts.hpp"
#include "calibrate_gpt3_xl/surface.hpp"

namespace negawatt::calibrate {

/// The model's surface, its parameters fitted to all facts.
[[nodiscard]] Surface fitted_model(const Facts& facts);

}  // namespace negawatt::calibrate
