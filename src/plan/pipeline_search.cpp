// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/result.hpp"
#include "plan/pipeline.hpp"
#include "plan/pipeline_clocks.hpp"
#include "plan/pipeline_graph.hpp"
#include "solve/choice.hpp"
#include "solve/hull.hpp"
#include "solve/time_cost.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::plan {
namespace {

// Segments of the bound on which energy rises by more than this share are rounded in parts.
constexpr double kRoundingResolution = 2e-4;
// Neighbouring plans that differ by more energy than this share get mixtures between them.
constexpr double kEnergyResolution = 2e-4;
// Polishing one deadline: so many plans to start from, trials that speed up one instruction by up
// to so many clocks, and a budget of instructions visited (about 50 ms).
constexpr std::ptrdiff_t kPolishedPlans = 4;
constexpr std::uint16_t kMostFaster = 2;
constexpr std::size_t kVisitsPerTrial = 6;
constexpr std::size_t kPolishingVisits = 16'000'000;

std::vector<ClockOptions> options_by_kind(const PipelineProblem& problem) {
  std::vector<ClockOptions> by_kind;
  for (const auto& stage : problem.profile.stages)
    for (const auto pass : trace::kPasses)
      by_kind.push_back(efficient_options(stage.of(pass), problem.blocking));
  return by_kind;
}

}  // namespace

void keep_efficient(std::vector<RealPlan>& plans) {
  std::ranges::sort(plans, [](const RealPlan& a, const RealPlan& b) {
    return a.total.time != b.total.time ? a.total.time < b.total.time
                                        : a.total.energy < b.total.energy;
  });
  std::size_t kept = 0;
  for (auto& plan : plans) {
    if (kept > 0 && plan.total.energy >= plans[kept - 1].total.energy) continue;
    std::swap(plans[kept++], plan);
  }
  plans.resize(kept);
}

PipelineSearch::PipelineSearch(const PipelineProblem& problem)
    : instructions_(pipeline_instructions(static_cast<std::uint32_t>(problem.profile.stages.size()),
                                          problem.microbatches, problem.schedule)),
      options_(options_by_kind(problem)),
      events_(pipeline_events(instructions_)),
      planner_(instructions_, options_),
      stages_(static_cast<std::uint32_t>(problem.profile.stages.size())),
      microbatches_(problem.microbatches),
      blocking_(static_cast<double>(problem.profile.stages.size()) * problem.blocking.in_si()),
      times_(events_.count),
      times_at_corner_(events_.count),
      by_instruction_(instructions_.size()) {}

solve::Project PipelineSearch::project() const {
  solve::Project project{.events = events_.count,
                         .source = events_.source,
                         .sink = events_.sink,
                         .activities = {},
                         .precedences = events_.precedences};
  std::vector<std::vector<Cost>> hulls;
  hulls.reserve(options_.size());
  for (const auto& options : options_) hulls.push_back(convex_options(options));
  for (std::size_t i = 0; i < instructions_.size(); ++i)
    project.activities.push_back(
        {events_.start[i], events_.end[i], hulls[instructions_[i].kind()]});
  return project;
}

template <class OnSegment>
std::vector<Cost> PipelineSearch::corners_of(solve::TimeCostWalk& walk,
                                             OnSegment on_segment) const {
  const auto corner = [&](Seconds duration, const solve::BoundLine& line) {
    return Cost{duration, line.at(duration) + Watts(blocking_) * duration};
  };
  while (!walk.at_end() && walk.price().in_si() < blocking_) walk.advance();
  auto line = walk.bound();
  std::vector<Cost> corners = {corner(walk.longest(), line)};
  for (; !walk.at_end(); walk.advance()) {
    line = walk.bound();
    corners.push_back(corner(walk.shortest(), line));
    on_segment(corners.back().energy / corners[corners.size() - 2].energy - 1.0);
  }
  std::ranges::reverse(corners);
  return corners;
}

std::vector<Cost> PipelineSearch::bound() const {
  solve::TimeCostWalk walk(project());
  return corners_of(walk, [](double) {});
}

std::vector<Cost> PipelineSearch::round_along_bound(std::optional<Seconds> deadline) {
  solve::TimeCostWalk walk(project());
  double rise_since = kRoundingResolution;  // the slowest corner is always rounded
  auto corners = corners_of(walk, [&](double rise) {
    if (rise_since >= kRoundingResolution / 2) {
      round_at(walk, walk.longest());
      rise_since = 0.0;
    }
    const double parts = std::ceil(rise / kRoundingResolution);
    for (double part = 1.0; part < parts; part += 1.0)
      round_at(walk, walk.longest() - part / parts * (walk.longest() - walk.shortest()));
    rise_since += rise;
    if (!deadline || *deadline >= walk.longest() || *deadline <= walk.shortest()) return;
    const auto before = plans_.size();
    round_at(walk, *deadline);
    std::move(plans_.begin() + static_cast<std::ptrdiff_t>(before), plans_.end(),
              std::back_inserter(at_deadline_));
    plans_.resize(before);
  });
  round_at(walk, walk.shortest());
  keep_efficient(plans_);
  return corners;
}

/// Between corners many ideal plans are optimal. Two of them: the first instructions already at
/// their faster mixture and the last ones still at the slower (what the walk gives), and all of
/// them in between.
void PipelineSearch::round_at(const solve::TimeCostWalk& walk, Seconds duration) {
  walk.event_times(duration, times_);
  round_times(duration);
  if (duration >= walk.longest() || duration <= walk.shortest()) return;
  const double share = (walk.longest() - duration) / (walk.longest() - walk.shortest());
  walk.event_times(walk.longest(), times_);
  walk.event_times(walk.shortest(), times_at_corner_);
  for (std::size_t v = 0; v < times_.size(); ++v)
    times_[v] += share * (times_at_corner_[v] - times_[v]);
  round_times(duration);
}

void PipelineSearch::round_times(Seconds duration) {
  const double deadline = duration.in_si();
  const auto of_instructions = [&](const std::vector<std::uint32_t>& event) {
    for (std::size_t i = 0; i < event.size(); ++i) by_instruction_[i] = times_[event[i]];
    return std::span<const double>(by_instruction_);
  };
  auto forward = planner_.rounded_forward(of_instructions(events_.end));
  planner_.spend_slack(forward, deadline);
  plans_.push_back(priced(std::move(forward)));
  auto backward = planner_.rounded_backward(of_instructions(events_.start), deadline);
  planner_.spend_slack(backward, deadline);
  plans_.push_back(priced(std::move(backward)));
}

RealPlan PipelineSearch::priced(PassClocks clocks) {
  const double time = planner_.makespan(clocks);
  const double energy = planner_.energy(clocks) + blocking_ * time;
  return {{Seconds(time), Joules(energy)}, std::move(clocks)};
}

std::vector<std::uint32_t> PipelineSearch::hull_of_plans() const {
  std::vector<Cost> totals;
  totals.reserve(plans_.size());
  for (const auto& plan : plans_) totals.push_back(plan.total);
  return solve::hull_options(totals);
}

/// The first part of the iteration as in one plan and the rest as in the other. Parts are counted
/// in microbatches and stages, so that a mixture costs about a share of each.
void PipelineSearch::mix(const RealPlan& faster, const RealPlan& slower) {
  const auto parts = microbatches_ * stages_;
  const double gap = faster.total.energy / slower.total.energy - 1.0;
  const auto mixtures = std::min(static_cast<std::uint32_t>(gap / kEnergyResolution), parts - 1);
  for (std::uint32_t k = 1; k <= mixtures; ++k) {
    const auto until = static_cast<std::uint32_t>(std::uint64_t{k} * parts / (mixtures + 1));
    for (const bool fast_first : {false, true}) {
      auto clocks = slower.clocks;
      for (std::size_t i = 0; i < clocks.size(); ++i) {
        const auto part = instructions_[i].microbatch * stages_ + instructions_[i].stage;
        if ((part < until) == fast_first) clocks[i] = faster.clocks[i];
      }
      planner_.spend_slack(clocks, planner_.makespan(clocks));
      auto plan = priced(std::move(clocks));
      // What lies outside is another pair's business: so a pair can be mixed by itself.
      if (plan.total.time > faster.total.time && plan.total.time < slower.total.time)
        plans_.push_back(std::move(plan));
    }
  }
}

void PipelineSearch::mix_neighbours() {
  const auto hull = hull_of_plans();
  for (std::size_t k = 1; k < hull.size(); ++k)
    mix(RealPlan(plans_[hull[k - 1]]), RealPlan(plans_[hull[k]]));
  keep_efficient(plans_);
}

void PipelineSearch::mix_neighbours_around(Seconds deadline) {
  const auto hull = hull_of_plans();
  const auto above = std::ranges::partition_point(
      hull, [&](std::uint32_t i) { return plans_[i].total.time <= deadline; });
  const auto at = static_cast<std::size_t>(above - hull.begin());
  for (std::size_t k = at < 2 ? 1 : at - 1; k <= at && k < hull.size(); ++k)
    mix(RealPlan(plans_[hull[k - 1]]), RealPlan(plans_[hull[k]]));
  std::ranges::move(at_deadline_, std::back_inserter(plans_));
  at_deadline_.clear();
  keep_efficient(plans_);
}

RealPlan PipelineSearch::polished(Seconds deadline) {
  const auto limit = deadline * (1.0 + solve::kBudgetTolerance);
  const auto above = std::ranges::partition_point(
      plans_, [&](const RealPlan& plan) { return plan.total.time <= limit; });
  NW_ASSERT(above != plans_.begin());
  auto best = *std::prev(above);
  // Plans that are a little faster have more slack to spend, so the best start is not the last.
  const auto starts = std::min(kPolishedPlans, std::distance(plans_.begin(), above));
  auto visits = kPolishingVisits;
  for (auto start = above - starts; start != above; ++start) {
    auto plan = *start;
    auto share = visits / static_cast<std::size_t>(above - start);
    visits -= share;
    polish(plan, deadline, share);
    visits += share;
    if (plan.total.energy < best.total.energy) best = std::move(plan);
  }
  return best;
}

void PipelineSearch::polish(RealPlan& plan, Seconds deadline, std::size_t& visits) {
  const auto try_instead = [&](PassClocks clocks) {
    planner_.spend_slack(clocks, deadline.in_si());
    visits -= std::min(visits, kVisitsPerTrial * clocks.size());
    auto candidate = priced(std::move(clocks));
    if (candidate.total.energy >= plan.total.energy) return false;
    plan = std::move(candidate);
    return true;
  };
  try_instead(plan.clocks);
  bool improved = true;
  while (improved && visits > 0) {
    improved = false;
    for (std::size_t i = 0; i < instructions_.size() && visits > 0; ++i) {
      for (std::uint16_t faster = 1; faster <= kMostFaster && faster <= plan.clocks[i]; ++faster) {
        auto clocks = plan.clocks;
        clocks[i] = static_cast<std::uint16_t>(clocks[i] - faster);
        improved |= try_instead(std::move(clocks));
      }
    }
  }
}

}  // namespace negawatt::plan
