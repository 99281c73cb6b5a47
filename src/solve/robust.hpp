// SPDX-License-Identifier: Apache-2.0
//
// Choosing from a table that was measured with noise. The best of many noisy options looks better
// than it is (the winner's curse), so the table is split into three independent tables: one
// chooses, one certifies the time budget, one says what to expect. The budget then holds for the
// true means with the promised confidence, and the promised change is unbiased: docs/robust.md has
// the proof, the simulations and the limits. Pure; the seed decides the split.
#pragma once

#include <cstdint>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "solve/choice.hpp"

namespace negawatt::solve {

/// Standard errors of an option's mean time and energy; totals of an iteration, like its Cost.
/// Errors of different options are independent. The correlation is between the errors of time and
/// energy of this option; one that is stated too low breaks the guarantee, too high only costs.
struct Deviation {
  Seconds time;
  Joules energy;
  double correlation = 0.0;
};

/// The deviation of a measured `mean` when nothing is known about the correlation. Energy is mean
/// power times time in most tools: an error of the time then shows up in the energy as well.
[[nodiscard]] Deviation deviation_of_product(Cost mean, Seconds time_sd, Joules energy_sd);

/// The deviation of the sum of two options, for kernels that share their clocks.
[[nodiscard]] Deviation operator+(const Deviation& a, const Deviation& b);

struct RobustProblem {
  ChoiceProblem options;
  std::vector<Deviation> deviations;    ///< one per option, items one after the other
  std::vector<std::uint32_t> baseline;  ///< per item: index into its options
  double slowdown = 0.0;                ///< tolerated, as a fraction of the baseline's time
  double confidence = 0.95;             ///< at least 0.5 and below 1
  std::uint64_t seed = 1;               ///< of the split; fix it before looking at results
  SearchLimits limits;
};

/// With measured deviations: what may be promised at a confidence.
struct Promise {
  double confidence = 0.0;
  Cost expected;     ///< held-out estimate of the plan, free of the winner's curse
  Cost expected_sd;  ///< standard deviation of its change against the baseline
  /// Divided by the table's baseline time it bounds, with `confidence`, the true ratio of the
  /// plan's time to the baseline's.
  Seconds time_at_confidence;
  Cost searched;  ///< what the table promises for the same plan
};

struct RobustChoice {
  /// The plan and its totals by the table. Bound and price are those of the table taken at its
  /// word: no choice as fast as this one or as the budget uses less energy by the table.
  Choice choice;
  /// `expected` is the table's baseline plus an unbiased estimate of the change; `expected_sd` is
  /// that of the change. `time_at_confidence` is on the scale of the table's baseline: divided by
  /// it, it bounds the true ratio of the plan's time to the baseline's.
  Promise promise;
};

/// Least energy such that the true time of the plan is at most (1 + slowdown) times the true time
/// of the baseline, with probability `confidence` at least. The baseline itself always qualifies.
/// Without deviations it is the choice of least_energy_within.
/// Fails (`invalid`) on a slowdown, confidence or deviation out of range.
[[nodiscard]] Result<RobustChoice> least_energy_with_confidence(const RobustProblem& problem);

}  // namespace negawatt::solve
