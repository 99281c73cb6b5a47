// SPDX-License-Identifier: Apache-2.0
//
// The life of a plan: a kernel table becomes a problem, a solver answers it, and the answer is set
// beside the driver's default, the best static pair, the local and global choices and the bound.
// docs/architecture.md follows this function step by step.
#pragma once

#include "core/result.hpp"
#include "plan/clock_plan.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::plan {

/// Plans one iteration. `sequence` holds every kernel of `table` as often as its calls say.
/// Errors: `invalid` when the request contradicts the table (no baseline pair for a kernel, no
/// deviations for a confidence), `infeasible` when no plan keeps the budget.
[[nodiscard]] Result<ClockPlan> plan_clocks(const trace::KernelTable& table,
                                            const trace::Sequence& sequence,
                                            const PlanRequest& request);

}  // namespace negawatt::plan
