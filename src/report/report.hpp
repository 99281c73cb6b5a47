// SPDX-License-Identifier: Apache-2.0
//
// A clock plan as people and programs read it: JSON and CSV for machines, a page with charts, a
// trace for Perfetto or chrome://tracing, and a terminal report. Every function is pure: text out,
// nothing opened, nothing fetched. Numbers are those of the plan and the table; nothing is
// estimated here. Strings of the user's file are escaped for the place they go to.
#pragma once

#include <string>

#include "core/result.hpp"
#include "core/units.hpp"
#include "plan/clock_plan.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::report {

/// What every output is made from. The plan must be one of this table and this sequence: its
/// segments cover the sequence, and each of them uses pairs its kernels were measured at. The
/// references must outlive the call.
struct ClockReport {
  const plan::ClockPlan& plan;
  const trace::KernelTable& table;
  const trace::Sequence& sequence;
  std::string command;  ///< the command line that made the plan
  Seconds solve_time;   ///< what the solver took
  std::string version;  ///< of negawatt
};

/// One object, keys as docs/formats.md lists them, SI units. What is unknown is absent.
[[nodiscard]] std::string plan_json(const ClockReport& report);

/// A kernel table with one row per kernel; for a schedule one row per segment,
/// `first,last,core_mhz,memory_mhz,time_s,energy_j`.
[[nodiscard]] std::string plan_csv(const ClockReport& report);

/// Chrome trace events of one iteration: kernels, clock segments, and counters for both clocks
/// and watts. Fails when the iteration has more invocations than a viewer opens (2 million).
[[nodiscard]] Result<std::string> plan_trace(const ClockReport& report);

/// One self-contained HTML page. Long sequences and tables are aggregated, and the page says so.
[[nodiscard]] std::string plan_html(const ClockReport& report);

/// At most 40 lines of at most 80 ASCII characters; `colour` adds ANSI colours.
[[nodiscard]] std::string plan_text(const ClockReport& report, bool colour);

}  // namespace negawatt::report
