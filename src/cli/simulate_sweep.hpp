// SPDX-License-Identifier: Apache-2.0
//
// Many simulations on all cores, one line of a CSV file each. A line is appended when its
// simulation is done, so that a sweep can be stopped at any time and goes on from there; at the end
// the file is put into order. It says what its inputs were, and others are refused.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/simulate_inputs.hpp"
#include "core/result.hpp"

namespace negawatt::cli {

/// Whether `path` can be the file of a sweep: for before the inputs are read.
[[nodiscard]] Status check_sweep_file(const std::string& path);

[[nodiscard]] Status run_simulate_sweep(const SimulateArguments& arguments,
                                        const SimulateInputs& inputs,
                                        const std::vector<SimulateCase>& cases);

}  // namespace negawatt::cli
