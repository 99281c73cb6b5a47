// SPDX-License-Identifier: Apache-2.0
//
// The search behind pipeline.hpp: walks the bound, turns its corners into plans with real clocks,
// and fills the gaps between them. Private to the room. Times in s, energies in J.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/cost.hpp"
#include "core/units.hpp"
#include "plan/pipeline.hpp"
#include "plan/pipeline_clocks.hpp"
#include "plan/pipeline_graph.hpp"
#include "solve/time_cost.hpp"

namespace negawatt::plan {

/// A plan with real clocks and what the whole iteration costs under it, blocking included.
struct RealPlan {
  Cost total;
  PassClocks clocks;
};

/// Sorts by time and drops every plan that another one beats in time and energy.
void keep_efficient(std::vector<RealPlan>& plans);

class PipelineSearch {
 public:
  explicit PipelineSearch(const PipelineProblem& problem);

  [[nodiscard]] const std::vector<PipelineInstruction>& instructions() const {
    return instructions_;
  }
  [[nodiscard]] const std::vector<ClockOptions>& options() const { return options_; }

  /// The pipeline as a project with convex options.
  [[nodiscard]] solve::Project project() const;

  /// Corners of the lower bound, fastest first, from the shortest duration to the slowest that is
  /// of any use: there, one more second of waiting costs what it saves.
  [[nodiscard]] std::vector<Cost> bound() const;
  /// The same, and rounds the ideal plans at and between the corners, and at the deadline.
  std::vector<Cost> round_along_bound(std::optional<Seconds> deadline = std::nullopt);

  /// The plans found so far, efficient ones only, fastest first.
  [[nodiscard]] const std::vector<RealPlan>& plans() const { return plans_; }
  std::vector<RealPlan> take_plans() { return std::move(plans_); }

  /// Mixes neighbours on the convex hull of the plans: all pairs, or those around a deadline.
  void mix_neighbours();
  void mix_neighbours_around(Seconds deadline);
  /// The best plan within the deadline, after trying to speed up single instructions for the sake
  /// of others. At least one plan keeps the deadline.
  [[nodiscard]] RealPlan polished(Seconds deadline);

 private:
  /// Calls on_segment(relative rise of the energy) while `walk` stands on each useful segment.
  template <class OnSegment>
  std::vector<Cost> corners_of(solve::TimeCostWalk& walk, OnSegment on_segment) const;
  [[nodiscard]] RealPlan priced(PassClocks clocks);
  void round_at(const solve::TimeCostWalk& walk, Seconds duration);
  void round_times(Seconds duration);
  /// Local search from one plan; stops when no trial helps or `visits` is used up.
  void polish(RealPlan& plan, Seconds deadline, std::size_t& visits);
  [[nodiscard]] std::vector<std::uint32_t> hull_of_plans() const;
  void mix(const RealPlan& faster, const RealPlan& slower);

  std::vector<PipelineInstruction> instructions_;
  std::vector<ClockOptions> options_;  // by kind
  PipelineEvents events_;
  PassClockPlanner planner_;
  std::uint32_t stages_ = 0;
  std::uint32_t microbatches_ = 0;
  double blocking_ = 0.0;  // W, of all stages together
  std::vector<RealPlan> plans_;
  std::vector<RealPlan> at_deadline_;  // kept apart until neighbours are mixed as for the frontier

  // scratch
  std::vector<double> times_;  // by event
  std::vector<double> times_at_corner_;
  std::vector<double> by_instruction_;
};

}  // namespace negawatt::plan
