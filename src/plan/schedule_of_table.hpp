// SPDX-License-Identifier: Apache-2.0
//
// The schedule of a plan: from a kernel table and its sequence to a schedule problem, and the
// answer back into the plan.
#pragma once

#include "core/result.hpp"
#include "plan/clock_plan.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::plan {

/// Fills total, bound, price and segments of `plan`, and its frontier if requested, for the
/// request's objective, budget and switch model. Error `infeasible` when nothing keeps the budget.
[[nodiscard]] Status solve_schedule(const trace::KernelTable& table,
                                    const trace::Sequence& sequence, ClockPlan& plan);

}  // namespace negawatt::plan
