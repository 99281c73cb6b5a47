// SPDX-License-Identifier: Apache-2.0
//
// Clocks for one iteration of pipeline-parallel training: one core clock per instruction (a pass
// of a microbatch on a stage), so that the iteration uses the least energy for its duration.
//   energy = sum of instruction energies + blocking * (stages * duration - sum of durations)
// Plans use clocks of the profile only and are scored from it; the bound is that of the linear
// program in which an instruction may mix two clocks. docs/pipeline.md has model and method.
// Fails on a problem that is no pipeline (`invalid`) and on too short a deadline (`infeasible`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "plan/pipeline_clocks.hpp"
#include "plan/pipeline_graph.hpp"
#include "solve/time_cost.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::plan {

struct PipelineProblem {
  trace::PipelineProfile profile;
  std::uint32_t microbatches = 1;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  Watts blocking;  ///< power of a stage that waits for another one
};

struct InstructionChoice {
  std::uint32_t stage = 0;
  std::uint32_t microbatch = 0;
  trace::Pass pass = trace::Pass::forward;
  std::uint32_t mhz = 0;
  Seconds start;
  Seconds end;
};

struct PipelinePlan {
  Cost total;
  Joules lower_bound;                           ///< no plan that keeps the same deadline uses less
  std::vector<InstructionChoice> instructions;  ///< every one after those it waits for
};

/// The best energy for every duration, and what proves it.
class PipelineFrontier {
 public:
  /// Realised plans, fastest first, each with less energy than those before it.
  [[nodiscard]] const std::vector<Cost>& points() const { return points_; }
  /// The plan behind a point. Its lower bound is for its own duration as deadline.
  [[nodiscard]] PipelinePlan plan(std::size_t point) const;
  /// Corners of the lower bound, fastest first, down to its least energy.
  [[nodiscard]] const std::vector<Cost>& bound_corners() const { return bound_corners_; }
  /// No plan that takes at most `deadline` uses less.
  [[nodiscard]] Joules lower_bound(Seconds deadline) const;

 private:
  friend Result<PipelineFrontier> pipeline_frontier(const PipelineProblem& problem);

  std::vector<PipelineInstruction> instructions_;
  std::vector<ClockOptions> options_;  // by kind
  std::vector<Cost> points_;
  std::vector<PassClocks> clocks_;  // by point; 2 bytes an instruction
  std::vector<Cost> bound_corners_;
};

/// Everything at its highest clock: the baseline every saving is measured against. Its lower bound
/// is the simple one: every instruction at its least energy, no waiting.
[[nodiscard]] Result<PipelinePlan> pipeline_baseline(const PipelineProblem& problem);

/// The whole frontier.
[[nodiscard]] Result<PipelineFrontier> pipeline_frontier(const PipelineProblem& problem);

/// The least energy found within the deadline; may finish earlier when waiting costs more. At
/// least as good as the frontier's point, because it searches longer.
[[nodiscard]] Result<PipelinePlan> pipeline_plan(const PipelineProblem& problem, Seconds deadline);

}  // namespace negawatt::plan
