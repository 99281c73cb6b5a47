// SPDX-License-Identifier: Apache-2.0
//
// When to change clocks while a cyclic sequence of kernels runs, given that a change takes time
// to take effect and may cost energy. docs/schedule.md states the model, the method and what is
// proven. Pure; deterministic; no thread. Fails on inconsistent problems (Code::invalid), when no
// schedule keeps the budget (Code::infeasible), and rather than exceed its memory limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/clocks.hpp"
#include "trace/kernel_table.hpp"
#include "trace/switch_model.hpp"

namespace negawatt::plan {

/// One iteration, repeated for ever. Kernels are rows of `costs`.
struct ScheduleProblem {
  std::vector<trace::ClockPair> pairs;  ///< no pair twice
  /// Per call, kernels x pairs, row by row. A kernel never runs at a pair it was not measured at.
  std::vector<std::optional<Cost>> costs;
  trace::Sequence sequence;  ///< kernel of each invocation
  trace::SwitchModel switching;
};

/// Invocations first..last run at pairs[pair].
struct ScheduleSegment {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t pair = 0;
  bool operator==(const ScheduleSegment&) const = default;
};

/// The last segment runs on into the first of the next iteration: where both have the same pair
/// they are one stretch, and no change happens between them.
struct Schedule {
  std::vector<ScheduleSegment> segments;  ///< in order, covering the sequence
  Cost total;                             ///< of kernels and clock changes, per iteration
  std::uint32_t switches = 0;             ///< clock changes per iteration
  /// With a budget: no schedule that keeps it uses less. Otherwise scaled so that
  /// gap_pct(total.energy, lower_bound) is how far the objective may be from its optimum.
  Joules lower_bound;
  Watts price;  ///< energy that one more second of budget would save; 0 when it is not short
};

/// Where the search stops; the schedule found by then is returned with the bound proven by then.
struct ScheduleLimits {
  std::size_t bytes = std::size_t{2} << 30U;  ///< refuse a problem that needs more memory
  std::size_t steps = 400'000'000;            ///< dynamic programs: invocations x pairs x latencies
  std::size_t labels = 1'000'000;             ///< kept at once while the duality gap is closed
  double gap = 1e-8;                          ///< relative gap that is as good as none
};

/// What `segments` cost, or Code::invalid with the first rule they break: cover the sequence in
/// order, run kernels only at measured pairs, hold each clock pair until the next change can take
/// effect. lower_bound and price stay 0.
[[nodiscard]] Result<Schedule> evaluate(const ScheduleProblem& problem,
                                        std::span<const ScheduleSegment> segments);

/// Least energy with one pair for the whole iteration and time <= budget; nothing when no pair
/// that all kernels were measured at keeps it. Of equal energy the faster, then the first pair.
[[nodiscard]] Result<std::optional<Schedule>> best_static_schedule(const ScheduleProblem& problem,
                                                                   Seconds budget);

/// Least energy with time <= budget (to kBudgetTolerance); never worse than the best static pair.
[[nodiscard]] Result<Schedule> least_energy_schedule(const ScheduleProblem& problem, Seconds budget,
                                                     ScheduleLimits limits = {});

/// Least energy_weight * joules + time_weight * seconds; weights not negative, not both 0.
[[nodiscard]] Result<Schedule> least_weighted_schedule(const ScheduleProblem& problem,
                                                       double energy_weight, double time_weight,
                                                       ScheduleLimits limits = {});

/// Least energy * time^exponent: 1 is EDP, 2 is ED2P.
[[nodiscard]] Result<Schedule> least_energy_delay_schedule(const ScheduleProblem& problem,
                                                           int exponent,
                                                           ScheduleLimits limits = {});

}  // namespace negawatt::plan
