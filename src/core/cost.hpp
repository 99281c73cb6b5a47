// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary every solver, model and plan shares: an item of work has options, an option has a
// cost in time and energy, a plan picks one option per item.
#pragma once

#include <algorithm>

#include "core/units.hpp"

namespace negawatt {

/// What one option of one item costs, or a whole plan.
struct Cost {
  Seconds time;
  Joules energy;

  friend constexpr Cost operator+(Cost a, Cost b) { return {a.time + b.time, a.energy + b.energy}; }
  friend constexpr Cost operator-(Cost a, Cost b) { return {a.time - b.time, a.energy - b.energy}; }
  friend constexpr Cost operator*(double times, Cost a) {
    return {times * a.time, times * a.energy};
  }
  constexpr Cost& operator+=(Cost other) { return *this = *this + other; }
};

/// How far `energy` may still be from the optimum, in percent of `energy`; never negative.
[[nodiscard]] inline double gap_pct(Joules energy, Joules lower_bound) {
  return std::max(0.0, 100.0 * ((energy - lower_bound) / energy));
}

}  // namespace negawatt
