// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "plan/pipeline_clocks.hpp"
#include "plan/pipeline_graph.hpp"
#include "plan/pipeline_score.hpp"
#include "plan/pipeline_search.hpp"
#include "solve/choice.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::plan {
namespace {

// A frontier keeps 2 bytes per instruction and point; this is a gigabyte or so.
constexpr std::uint64_t kMostInstructions = 1'000'000;

Status validate(const PipelineProblem& problem) {
  const auto& profile = problem.profile;
  if (profile.stages.empty()) return failure(Code::invalid, "the pipeline has no stages");
  for (const auto& stage : profile.stages)
    for (const auto pass : trace::kPasses)
      if (stage.of(pass).empty())
        return failure(Code::invalid,
                       fmt::format("{}: a stage has no {} options", profile.name, name_of(pass)));
  if (problem.microbatches == 0)
    return failure(Code::invalid, "0 microbatches, expected at least 1");
  const auto instructions = 2 * std::uint64_t{problem.microbatches} * profile.stages.size();
  if (instructions > kMostInstructions)
    return failure(Code::invalid, fmt::format("{} stages with {} microbatches are {} instructions, "
                                              "expected at most {}",
                                              profile.stages.size(), problem.microbatches,
                                              instructions, kMostInstructions));
  if (!problem.blocking.is_finite() || problem.blocking < Watts(0.0))
    return failure(Code::invalid, fmt::format("blocking power is {} W, expected 0 or more",
                                              problem.blocking.in_si()));
  return {};
}

std::vector<InstructionChoice> choices_of(const std::vector<PipelineInstruction>& instructions) {
  std::vector<InstructionChoice> choices;
  choices.reserve(instructions.size());
  for (const auto& instruction : instructions)
    choices.push_back({.stage = instruction.stage,
                       .microbatch = instruction.microbatch,
                       .pass = instruction.pass});
  return choices;
}

void set_clocks(std::vector<InstructionChoice>& choices,
                const std::vector<PipelineInstruction>& instructions,
                const std::vector<ClockOptions>& options, const PassClocks& clocks) {
  for (std::size_t i = 0; i < choices.size(); ++i)
    choices[i].mhz = options[instructions[i].kind()][clocks[i]].mhz;
}

/// Our own plans name every instruction once and use clocks of the profile.
Cost scored(const PipelineProblem& problem, std::vector<InstructionChoice>& choices) {
  const auto cost = score_pipeline(problem, choices);
  NW_ASSERT(cost.has_value());
  return *cost;
}

/// On the lower bound's chord between two corners; the corners are fastest first.
Joules bound_at(const std::vector<Cost>& corners, Seconds deadline) {
  const auto above = std::ranges::upper_bound(corners, deadline, {}, &Cost::time);
  if (above == corners.end()) return corners.back().energy;
  if (above == corners.begin()) return corners.front().energy;
  const auto& faster = *std::prev(above);
  const double share = (deadline - faster.time) / (above->time - faster.time);
  return faster.energy + share * (above->energy - faster.energy);
}

}  // namespace

Joules PipelineFrontier::lower_bound(Seconds deadline) const {
  return bound_at(bound_corners_, deadline);
}

PipelinePlan PipelineFrontier::plan(std::size_t point) const {
  PipelinePlan plan{points_[point], lower_bound(points_[point].time), choices_of(instructions_)};
  set_clocks(plan.instructions, instructions_, options_, clocks_[point]);
  PassClockPlanner planner(instructions_, options_);
  (void)planner.makespan(clocks_[point]);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    plan.instructions[i].end = Seconds(planner.ends()[i]);
    plan.instructions[i].start =
        Seconds(planner.ends()[i] - planner.options(i)[clocks_[point][i]].time);
  }
  return plan;
}

Result<PipelinePlan> pipeline_baseline(const PipelineProblem& problem) {
  NW_CHECK(validate(problem));
  PipelinePlan plan{.instructions = choices_of(PipelineSearch(problem).instructions())};
  for (auto& choice : plan.instructions) {
    const auto& options = problem.profile.stages[choice.stage].of(choice.pass);
    choice.mhz = options.back().mhz;
    plan.lower_bound += std::ranges::min(options, {}, &trace::PassOption::energy).energy;
  }
  plan.total = scored(problem, plan.instructions);
  return plan;
}

Result<PipelineFrontier> pipeline_frontier(const PipelineProblem& problem) {
  NW_CHECK(validate(problem));
  PipelineSearch search(problem);
  PipelineFrontier frontier;
  frontier.bound_corners_ = search.round_along_bound();
  search.mix_neighbours();
  frontier.instructions_ = search.instructions();
  frontier.options_ = search.options();

  auto plans = search.take_plans();
  auto choices = choices_of(frontier.instructions_);
  for (auto& plan : plans) {
    set_clocks(choices, frontier.instructions_, frontier.options_, plan.clocks);
    plan.total = scored(problem, choices);
  }
  keep_efficient(plans);
  for (auto& plan : plans) {
    frontier.points_.push_back(plan.total);
    frontier.clocks_.push_back(std::move(plan.clocks));
  }
  return frontier;
}

Result<PipelinePlan> pipeline_plan(const PipelineProblem& problem, Seconds deadline) {
  NW_CHECK(validate(problem));
  if (!deadline.is_finite())
    return failure(Code::invalid,
                   fmt::format("deadline is {} s, expected a number of seconds", deadline.in_si()));
  PipelineSearch search(problem);
  const auto corners = search.round_along_bound(deadline);
  const auto fastest = search.plans().front().total.time;
  if (deadline * (1.0 + solve::kBudgetTolerance) < fastest)
    return failure(Code::infeasible,
                   fmt::format("no plan keeps a deadline of {:.6g} s: the fastest takes {:.6g} s",
                               deadline.in_si(), fastest.in_si()));
  search.mix_neighbours_around(deadline);
  const auto best = search.polished(deadline);

  PipelinePlan plan{.lower_bound = bound_at(corners, deadline),
                    .instructions = choices_of(search.instructions())};
  set_clocks(plan.instructions, search.instructions(), search.options(), best.clocks);
  plan.total = scored(problem, plan.instructions);
  return plan;
}

}  // namespace negawatt::plan
