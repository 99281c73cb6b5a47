// SPDX-License-Identifier: Apache-2.0
//
// Schedules that hold the same clocks over a common stretch may be cut there and joined crosswise.
// Two schedules thus fall into blocks that may be chosen independently of each other: a
// multiple-choice knapsack with two options an item, which plan/choice.hpp solves exactly.
#pragma once

#include <optional>

#include "plan/schedule_tables.hpp"

namespace negawatt::plan {

/// Least-energy combination of two valid schedules with time <= `longest` seconds; nothing when
/// it is no better than `incumbent`, which must keep that time.
[[nodiscard]] std::optional<Assignment> splice(const ScheduleTables& tables,
                                               const Assignment& incumbent, const Assignment& other,
                                               double longest);

}  // namespace negawatt::plan
