// SPDX-License-Identifier: Apache-2.0
//
// The convex relaxation of a ChoiceProblem: the merged lower hull of all items, walked from the
// fastest choice to the one of least energy. Each step moves one item to its next hull option;
// steps come in order of falling saving rate, so every prefix of steps is optimal for some price.
// Sinha and Zoltners 1979, "The multiple-choice knapsack problem". Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/units.hpp"
#include "solve/choice.hpp"

namespace negawatt::solve {

struct HullStep {
  Watts rate;          ///< energy saved per second
  std::uint32_t item;  ///< it moves from its current hull option ...
  std::uint32_t to;    ///< ... to this option
};

struct HullWalk {
  std::vector<std::uint32_t> fastest;  ///< per item: its fastest option (of least energy)
  std::vector<HullStep> steps;         ///< falling rate; of equal rates the lower item first
};

[[nodiscard]] HullWalk hull_walk(const ChoiceProblem& problem);

}  // namespace negawatt::solve
