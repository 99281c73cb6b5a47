// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <iterator>
#include <string>

#include "report/pipeline_report.hpp"
#include "report/pipeline_view.hpp"

namespace negawatt::report {

std::string pipeline_csv(const PipelineReport& report) {
  std::string out = "stage,microbatch,instruction,frequency,time,energy,start,end\n";
  for (const auto& instruction : report.plan.instructions) {
    const auto cost = cost_of(report.problem, instruction);
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", instruction.stage,
                   instruction.microbatch, trace::name_of(instruction.pass), instruction.mhz,
                   cost.time.in_si(), cost.energy.in_si(), instruction.start.in_si(),
                   instruction.end.in_si());
  }
  return out;
}

}  // namespace negawatt::report
