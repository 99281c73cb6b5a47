// SPDX-License-Identifier: Apache-2.0
//
// How far a simulation may be off because its devices are: the bands into which nine of ten
// measurements fell that the devices were checked on (model::ErrorBand), carried into totals. All
// steps are taken to be off in the same direction, since the error of a device on a model is a bias
// and not noise that averages out. What else a simulation leaves out is not in it. Nothing fails.
#pragma once

#include <cstddef>
#include <optional>

#include "sim/result.hpp"

namespace negawatt::sim {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Joules of the whole run: those of steps times the bands of their devices; idle, asleep and
/// starting instances and links as described. None: the errors of a device that worked are unknown.
[[nodiscard]] std::optional<Interval> energy_interval(const SimulationResult& result);

/// Seconds of an instance's mean step. None: its device's errors are unknown, or it did nothing.
[[nodiscard]] std::optional<Interval> step_time_interval(const SimulationResult& result,
                                                         std::size_t instance);

}  // namespace negawatt::sim
