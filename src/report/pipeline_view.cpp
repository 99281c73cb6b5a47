// SPDX-License-Identifier: Apache-2.0
#include "report/pipeline_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/result.hpp"
#include "report/numbers.hpp"

namespace negawatt::report {

Cost cost_of(const plan::PipelineProblem& problem, const plan::InstructionChoice& instruction) {
  const auto& options = problem.profile.stages[instruction.stage].of(instruction.pass);
  const auto found = std::ranges::find(options, instruction.mhz, &trace::PassOption::mhz);
  NW_ASSERT(found != options.end());
  return {found->time, found->energy};
}

std::vector<StageUse> stage_uses(const plan::PipelineProblem& problem,
                                 const plan::PipelinePlan& plan) {
  std::vector<StageUse> uses(problem.profile.stages.size());
  std::vector<std::array<Seconds, 2>> busy(uses.size());
  for (const auto& instruction : plan.instructions) {
    const auto cost = cost_of(problem, instruction);
    auto& use = uses[instruction.stage];
    use.busy += cost;
    const bool is_forward = instruction.pass == trace::Pass::forward;
    busy[instruction.stage][is_forward ? 0 : 1] += cost.time;
    (is_forward ? use.forward_mhz : use.backward_mhz) += instruction.mhz * cost.time.in_si();
  }
  for (std::size_t s = 0; s < uses.size(); ++s) {
    uses[s].forward_mhz /= busy[s][0].in_si();
    uses[s].backward_mhz /= busy[s][1].in_si();
  }
  return uses;
}

std::string pipeline_headline(const PipelineReport& report) {
  const auto& before = report.baseline.total;
  const auto& after = report.plan.total;
  const double energy = change_pct(before.energy, after.energy);
  if (std::abs(energy) < kShownChange)
    return "Nothing to gain here: no plan found within the deadline uses less energy than all "
           "stages at their highest clocks.";
  return fmt::format("This plan uses {} % {} energy than all stages at their highest clocks, {}.",
                     significant(std::abs(energy)), energy < 0 ? "less" : "more",
                     time_clause(change_pct(before.time, after.time)));
}

std::string pipeline_shape(const plan::PipelineProblem& problem) {
  return fmt::format("{}, {}, {}", counted(problem.profile.stages.size(), "stage"),
                     counted(problem.microbatches, "microbatch"),
                     problem.schedule == plan::PipelineSchedule::gpipe ? "GPipe" : "1F1B");
}

std::string pipeline_proof(const plan::PipelinePlan& plan) {
  return proof_of_gap(gap_pct(plan.total.energy, plan.lower_bound));
}

}  // namespace negawatt::report
