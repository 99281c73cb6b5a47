// SPDX-License-Identifier: Apache-2.0
//
// Many simulations on all cores, one line of a CSV file each. The file is rewritten whole after
// every simulation, so that it can be stopped at any time and goes on from there; it says what its
// inputs were, and others are refused.
#pragma once

#include <vector>

#include "cli/arguments.hpp"
#include "cli/simulate_inputs.hpp"
#include "core/result.hpp"

namespace negawatt::cli {

[[nodiscard]] Status run_simulate_sweep(const SimulateArguments& arguments,
                                        const SimulateInputs& inputs,
                                        const std::vector<SimulateCase>& cases);

}  // namespace negawatt::cli
