// SPDX-License-Identifier: Apache-2.0
//
// Exact search over the core of a choice problem. It grows two fronts of partial choices, item by
// item in the order of the core, always the smaller one, and pairs them: a choice is a partial of
// one, a partial of the other, and the relaxed option for the rest. Two fronts reach with n states
// each what one would need n * n for. Expanding core and reduction: Pisinger 1995, "A minimal
// algorithm for the multiple-choice knapsack problem"; two lists: Horowitz and Sahni 1974.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solve/choice.hpp"
#include "solve/choice_core.hpp"

namespace negawatt::solve {

struct SearchResult {
  std::vector<std::uint32_t> moves;  ///< into core.moves; empty when `gap` was not improved
  double gap = 0.0;                  ///< J above the relaxation's bound, of the best choice
  double proven_gap = 0.0;           ///< no choice is closer to that bound
  std::size_t states = 0;            ///< partial choices looked at
};

/// Starts from a choice at `gap` that the caller has.
[[nodiscard]] SearchResult search_core(const Core& core, const RelaxedChoice& relaxed, double gap,
                                       SearchLimits limits);

}  // namespace negawatt::solve
