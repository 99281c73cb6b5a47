// SPDX-License-Identifier: Apache-2.0
//
// From the fitted model to the surface that agrees with the published facts: the smallest smooth
// correction. A factor per pass and pair, shared by the pass's kernels, takes up what the passes
// ask for; what a kernel deviates from it must be smooth over the clocks. Physics stays: a higher
// clock takes no more time and no less power, and time does not fall faster than the clock rises.
#pragma once

#include "calibrate_gpt3_xl/facts.hpp"
#include "calibrate_gpt3_xl/surface.hpp"

namespace negawatt::calibrate {

[[nodiscard]] Surface corrected(const Facts& facts, const Surface& model);

}  // namespace negawatt::calibrate
