// SPDX-License-Identifier: Apache-2.0
//
// Planning under noise where the truth is known: makes true tables, measures them with Gaussian
// errors, plans, and scores the plans by the truth. Shared by the tests and by the study whose
// table stands in docs/robust.md. Everything follows from fixed seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solve/choice.hpp"
#include "solve/robust.hpp"

namespace negawatt::solve::simulation {

/// True costs, and how far a measurement of them errs.
struct World {
  ChoiceProblem truth;
  std::vector<Deviation> deviations;
  std::vector<std::uint32_t> baseline;
};

struct Size {
  std::size_t kernels = 46;
  std::size_t core_clocks = 11;
  std::size_t memory_clocks = 6;
};

/// Standard errors relative to the means, drawn per kernel between these (log-uniform).
struct Noise {
  double least = 0.002;
  double most = 0.02;
  double correlation = 0.0;  ///< of time and energy errors
};

/// Roofline-like kernels: time from a compute and a memory part, power from V^2 f, true ripples of
/// 0.2 %; the baseline is the highest pair.
[[nodiscard]] World realistic(Size size, Noise noise, std::uint64_t seed);

/// All options of a kernel alike but for the baseline: the others take `slower` (a fraction) longer
/// and 1 % less energy. With a hair slower and no slowdown tolerated, every departure violates.
[[nodiscard]] World near_equal(Size size, Noise noise, double slower);

struct Setting {
  double slowdown = 0.0;
  double confidence = 0.95;
  /// The planner is told this correlation where it is not the true one.
  double correlation_error = 0.0;
};

/// Mean and its standard error.
struct Estimate {
  double mean = 0.0;
  double error = 0.0;
};

/// Percent of the baseline, except the rates.
struct Score {
  double violations = 0.0;        ///< rate of plans slower than their budget, in truth
  double naive_violations = 0.0;  ///< of plans that take the table at its word
  double above_bound = 0.0;       ///< rate of plans slower than time_at_confidence, in truth
  Estimate saving, naive_saving, best_saving;   ///< true energy saved; best: knowing the truth
  Estimate time_bias, energy_bias;              ///< promised minus true change
  Estimate naive_time_bias, naive_energy_bias;  ///< the table's change minus the true change
  double time_spread = 0.0;    ///< root mean square of (promised - true) / promised deviation
  double energy_spread = 0.0;  ///< the same of energy; both should be near 1
};

/// So many of every world, each with a seed of its own, counted from the first.
struct Runs {
  int count = 0;
  std::uint64_t first_seed = 0;
};

/// Measures and plans every world `runs.count` times; each time with other noise and another split.
[[nodiscard]] Score simulate(const std::vector<World>& worlds, const Setting& setting, Runs runs);

}  // namespace negawatt::solve::simulation
