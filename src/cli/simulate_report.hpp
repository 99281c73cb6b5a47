// SPDX-License-Identifier: Apache-2.0
//
// Hands results of simulations to the report room, which knows nothing of the simulator.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/simulate_inputs.hpp"
#include "sim/result.hpp"

namespace negawatt::cli {

/// The page about `results`, which are those of `cases`, in their order; at least one.
[[nodiscard]] std::string simulate_page(const SimulateArguments& arguments,
                                        const SimulateInputs& inputs,
                                        const std::vector<SimulateCase>& cases,
                                        const std::vector<sim::SimulationResult>& results,
                                        const std::string& command);

}  // namespace negawatt::cli
