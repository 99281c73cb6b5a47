// SPDX-License-Identifier: Apache-2.0
//
// Many simulations on all cores, kept in memory, with a line on standard error for each.
#pragma once

#include <vector>

#include "cli/simulate_inputs.hpp"
#include "core/result.hpp"
#include "sim/result.hpp"

namespace negawatt::cli {

/// Results in the order of `cases`; `jobs` at a time, 0: as many as there are cores. Fails with the
/// first error, and begins nothing after it.
[[nodiscard]] Result<std::vector<sim::SimulationResult>> simulate_all(
    const SimulateInputs& inputs, const std::vector<SimulateCase>& cases, unsigned jobs);

}  // namespace negawatt::cli
