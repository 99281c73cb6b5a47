// SPDX-License-Identifier: Apache-2.0
//
// What the outputs of a pipeline plan have in common: the cost of an instruction as the profile
// gives it, sums by stage, and the findings in words.
#pragma once

#include <string>
#include <vector>

#include "core/cost.hpp"
#include "report/pipeline_report.hpp"

namespace negawatt::report {

/// Time and energy of one instruction at its clock; the profile must have it.
[[nodiscard]] Cost cost_of(const plan::PipelineProblem& problem,
                           const plan::InstructionChoice& instruction);

struct StageUse {
  Cost busy;                  ///< its instructions, without blocking
  double forward_mhz = 0.0;   ///< mean over time
  double backward_mhz = 0.0;  ///< mean over time
};
/// In pipeline order.
[[nodiscard]] std::vector<StageUse> stage_uses(const plan::PipelineProblem& problem,
                                               const plan::PipelinePlan& plan);

[[nodiscard]] std::string pipeline_headline(const PipelineReport& report);
/// "4 stages, 12 microbatches, 1F1B".
[[nodiscard]] std::string pipeline_shape(const plan::PipelineProblem& problem);
[[nodiscard]] std::string pipeline_proof(const plan::PipelinePlan& plan);

}  // namespace negawatt::report
