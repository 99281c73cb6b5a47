// SPDX-License-Identifier: Apache-2.0
//
// Which options of one item can matter at all: the Pareto options (no other is as fast and uses
// no more energy) and, of those, the vertices of the lower convex hull, the only ones that some
// price of time makes the cheapest. Ties keep the lower index, so the answers are deterministic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost.hpp"
#include "core/units.hpp"

namespace negawatt::solve {

/// Indices of the Pareto options, fastest first: time rises and energy falls strictly.
[[nodiscard]] std::vector<std::uint32_t> pareto_options(std::span<const Cost> options);

/// Indices of the vertices of the lower-left convex hull, fastest first; a subset of the Pareto
/// options. The energy saved per second falls strictly from edge to edge.
[[nodiscard]] std::vector<std::uint32_t> hull_options(std::span<const Cost> options);

/// What a second costs between two options: energy saved per second of going from fast to slow.
[[nodiscard]] inline Watts saving_rate(Cost fast, Cost slow) {
  return (fast.energy - slow.energy) / (slow.time - fast.time);
}

}  // namespace negawatt::solve
