// SPDX-License-Identifier: Apache-2.0
//
// Least energy within a time budget on prepared tables: the Lagrangian dual by cutting planes
// (Handler and Zang, "A dual algorithm for the constrained shortest path problem", 1980), then
// what closes the duality gap. Fails with Code::infeasible when no schedule keeps the budget.
#pragma once

#include "core/result.hpp"
#include "plan/schedule.hpp"
#include "plan/schedule_tables.hpp"

namespace negawatt::plan {

struct BudgetOptimum {
  Assignment assignment;
  double bound = 0.0;  ///< joules
  double price = 0.0;  ///< watts
};

[[nodiscard]] Result<BudgetOptimum> least_energy_within_budget(const ScheduleTables& tables,
                                                               Seconds budget,
                                                               const ScheduleLimits& limits);

/// What holding one pair all the time costs, per pair; nothing where a kernel lacks it.
[[nodiscard]] std::vector<std::optional<Cost>> constant_costs(const ScheduleTables& tables);

/// The pair with the least energy among those that keep the budget all the way.
[[nodiscard]] std::optional<std::uint32_t> best_constant_pair(const ScheduleTables& tables,
                                                              double longest);

/// Longest time that counts as keeping the budget, in seconds.
[[nodiscard]] double longest_within(Seconds budget);

}  // namespace negawatt::plan
