// SPDX-License-Identifier: Apache-2.0
//
// Findings about a clock plan in words, the same in every output: what it is worth, what was asked
// for, how far it is proven, and why a kernel got its clocks. Plain ASCII.
#pragma once

#include <string>
#include <string_view>

#include "plan/clock_plan.hpp"

namespace negawatt::report {

[[nodiscard]] bool is_driver_default(trace::ClockPair clocks);
/// "the driver's default clocks", or "the baseline (core 1410 MHz, memory auto)".
[[nodiscard]] std::string baseline_name(const plan::ClockPlan& plan);
/// "core 1410 MHz, memory auto".
[[nodiscard]] std::string clocks_name(trace::ClockPair clocks);
/// "auto" or "1410 MHz".
[[nodiscard]] std::string clock_name(trace::Clock clock);

/// The answer in one sentence: what the plan saves, what it costs in time, against what.
[[nodiscard]] std::string headline(const plan::ClockPlan& plan);
/// What the plan adds to the best that one fixed pair can do; empty when there is no such pair, or
/// nothing to gain.
[[nodiscard]] std::string against_static(const plan::ClockPlan& plan);
/// "least energy with at most +0.00 % time, one pair per kernel".
[[nodiscard]] std::string task(const plan::PlanRequest& request);
/// True when the plan changes clocks and was made as if that cost nothing.
[[nodiscard]] bool changes_are_free(const plan::ClockPlan& plan);
/// "proven optimal" or how far the plan may be from the optimum.
[[nodiscard]] std::string proof(const plan::ClockPlan& plan);

[[nodiscard]] std::string_view word(plan::Granularity granularity);
[[nodiscard]] std::string_view word(plan::Scope scope);
[[nodiscard]] std::string_view word(plan::Objective objective);
[[nodiscard]] std::string_view word(plan::Reason reason);
/// Why a kernel got its clocks, as a sentence for the reader of a table.
[[nodiscard]] std::string_view reason_in_words(plan::Reason reason);

}  // namespace negawatt::report
