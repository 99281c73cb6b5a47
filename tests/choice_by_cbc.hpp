// SPDX-License-Identifier: Apache-2.0
//
// The choice problem as a mixed-integer program, solved by CBC with gap 0: an independent answer
// to hold ours against, and the competitor in the benchmark. CBC may overrun the budget by 1e-11
// of it and stop within 1e-9 of the least energy; its choice is scored again from the table.
// Budget and energies must be positive.
#pragma once

#include <optional>

#include "core/units.hpp"
#include "solve/choice.hpp"

namespace negawatt::testing {

struct MilpAnswer {
  Cost total;          ///< of the choice CBC made
  Joules lower_bound;  ///< CBC's best possible objective
  bool is_proven = false;
  double nodes = 0.0;  ///< of the search tree
};

/// Nothing when CBC fails or finds no choice. `seconds_limit` ends the search early.
std::optional<MilpAnswer> solve_with_cbc(const solve::ChoiceProblem& problem, Seconds budget,
                                         int seconds_limit);

}  // namespace negawatt::testing
