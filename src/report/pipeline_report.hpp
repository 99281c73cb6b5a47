// SPDX-License-Identifier: Apache-2.0
//
// A pipeline plan as people and programs read it: the counterpart of report.hpp. Every function is
// pure. Energies are those of all stages together, blocking included; frequencies are MHz.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "plan/pipeline.hpp"

namespace negawatt::report {

/// What every output is made from. Plans must be of this problem, with one entry per instruction
/// at a clock of its profile. The references must outlive the call.
struct PipelineReport {
  const plan::PipelineProblem& problem;
  const plan::PipelinePlan& baseline;  ///< everything at its highest clock
  const plan::PipelinePlan& plan;
  std::optional<Seconds> deadline;  ///< absent when none was set
  std::vector<Cost> frontier;       ///< realised plans, fastest first; empty: not asked for
  std::vector<Cost> bound_corners;  ///< of the lower bound; empty: not asked for
  std::string command;
  Seconds solve_time;
  std::string version;
};

/// One object, keys as docs/formats.md lists them.
[[nodiscard]] std::string pipeline_json(const PipelineReport& report);

/// `stage,microbatch,instruction,frequency,time,energy,start,end`: one row per instruction.
[[nodiscard]] std::string pipeline_csv(const PipelineReport& report);

/// Chrome trace events of one iteration: a track per stage, its clock, and the power of all.
[[nodiscard]] std::string pipeline_trace(const PipelineReport& report);

/// One self-contained HTML page.
[[nodiscard]] std::string pipeline_html(const PipelineReport& report);

/// At most 40 lines of at most 80 ASCII characters; `colour` adds ANSI colours.
[[nodiscard]] std::string pipeline_text(const PipelineReport& report, bool colour);

}  // namespace negawatt::report
