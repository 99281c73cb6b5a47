// SPDX-License-Identifier: Apache-2.0
//
// Many simulations on all cores, with a line on standard error for each that is done.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cli/simulate_inputs.hpp"
#include "core/result.hpp"
#include "sim/result.hpp"

namespace negawatt::cli {

struct Workers {
  unsigned jobs = 0;            ///< simulations at a time; 0: as many as there are cores
  std::size_t done_before = 0;  ///< of the same grid, for the lines
};

/// Takes the result of the case at `at`.
using KeepResult = std::function<Status(std::size_t at, sim::SimulationResult result)>;

/// Calls `keep` with each result when it is there, one call at a time. Fails with the first error,
/// of a simulation or of `keep`, and begins nothing after it.
[[nodiscard]] Status simulate_each(const SimulateInputs& inputs,
                                   const std::vector<SimulateCase>& cases, const Workers& workers,
                                   const KeepResult& keep);

/// Results in the order of `cases`.
[[nodiscard]] Result<std::vector<sim::SimulationResult>> simulate_all(
    const SimulateInputs& inputs, const std::vector<SimulateCase>& cases, unsigned jobs);

}  // namespace negawatt::cli
