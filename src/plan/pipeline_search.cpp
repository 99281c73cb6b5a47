// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/result.hpp"
#include "plan/choice.hpp"

namespace negawatt::plan {
namespace {

// Where ideal plans are rounded on a segment between two corners, as a share of its length.
constexpr std::array<double, 2> kRoundedAt = {0.0, 0.5};
// Mixtures tried between two neighbouring plans.
constexpr std::uint32_t kMostMixtures = 24;
// Instructions visited while polishing one plan; takes about 50 ms.
constexpr std::size_t kPolishingVisits = 8'000'000;

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
      microbatches_(problem.microbatches),
      blocking_(static_cast<double>(problem.profile.stages.size()) * problem.blocking.in_si()),
      times_(events_.count),
      times_at_corner_(events_.count),
      by_instruction_(instructions_.size()) {}

Project PipelineSearch::project() const {
  Project project{.events = events_.count,
                  .source = events_.source,
                  .sink = events_.sink,
                  .activities = {},
                  .precedences = events_.precedences};
  std::vector<std::vector<Cost>> hulls;
  for (const auto& options : options_) hulls.push_back(convex_options(options));
  for (std::size_t i = 0; i < instructions_.size(); ++i)
    project.activities.push_back(
        {events_.start[i], events_.end[i], hulls[instructions_[i].kind()]});
  return project;
}

std::vector<Cost> PipelineSearch::walk() {
  TimeCostWalk walk(project());
  while (!walk.at_end() && walk.bound().price.in_si() < blocking_) walk.advance();
  std::vector<Cost> corners;
  const auto add_corner = [&](Seconds duration, const BoundLine& line) {
    corners.push_back({duration, line.at(duration) + Watts(blocking_) * duration});
  };
  auto line = walk.bound();
  add_corner(walk.longest(), line);
  for (; !walk.at_end(); walk.advance()) {
    line = walk.bound();
    for (const double share : kRoundedAt)
      round_at(walk, walk.longest() - share * (walk.longest() - walk.shortest()));
    if (extra_deadline_ < walk.longest() && extra_deadline_ > walk.shortest())
      round_at(walk, extra_deadline_);
    add_corner(walk.shortest(), line);
  }
  round_at(walk, walk.shortest());
  keep_efficient(plans_);
  std::ranges::reverse(corners);
  return corners;
}

/// Between corners many ideal plans are optimal. Two of them: the first instructions already at
/// their faster mixture and the last ones still at the slower (what the walk gives), and all of
/// them in between.
void PipelineSearch::round_at(const TimeCostWalk& walk, Seconds duration) {
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

RealPlan PipelineSearch::priced(ClockPlan clocks) {
  const double time = planner_.makespan(clocks);
  const double energy = planner_.energy(clocks) + blocking_ * time;
  return {{Seconds(time), Joules(energy)}, std::move(clocks)};
}

std::vector<std::size_t> PipelineSearch::hull_of_plans() const {
  const auto saving = [&](std::size_t a, std::size_t b) {
    return (plans_[a].total.energy - plans_[b].total.energy) /
           (plans_[b].total.time - plans_[a].total.time);
  };
  std::vector<std::size_t> hull;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    while (hull.size() >= 2 && saving(hull.back(), i) >= saving(hull[hull.size() - 2], hull.back()))
      hull.pop_back();
    hull.push_back(i);
  }
  return hull;
}

void PipelineSearch::mix(const RealPlan& faster, const RealPlan& slower) {
  const auto mixtures = std::min(kMostMixtures, microbatches_ - 1);
  for (std::uint32_t k = 1; k <= mixtures; ++k) {
    const auto until =
        static_cast<std::uint32_t>(std::uint64_t{k} * microbatches_ / (mixtures + 1));
    for (const bool fast_first : {false, true}) {
      auto clocks = slower.clocks;
      for (std::size_t i = 0; i < clocks.size(); ++i)
        if ((instructions_[i].microbatch < until) == fast_first) clocks[i] = faster.clocks[i];
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
      hull, [&](std::size_t i) { return plans_[i].total.time <= deadline; });
  const auto at = static_cast<std::size_t>(above - hull.begin());
  for (std::size_t k = at < 2 ? 1 : at - 1; k <= at && k < hull.size(); ++k)
    mix(RealPlan(plans_[hull[k - 1]]), RealPlan(plans_[hull[k]]));
  keep_efficient(plans_);
}

RealPlan PipelineSearch::polished(Seconds deadline) {
  const auto limit = deadline * (1.0 + kBudgetTolerance);
  const auto above = std::ranges::partition_point(
      plans_, [&](const RealPlan& plan) { return plan.total.time <= limit; });
  NW_ASSERT(above != plans_.begin());
  auto best = *std::prev(above);
  auto spent = best.clocks;
  planner_.spend_slack(spent, deadline.in_si());
  if (auto plan = priced(std::move(spent)); plan.total.energy < best.total.energy)
    best = std::move(plan);

  std::size_t visits = 0;
  bool improved = true;
  while (improved && visits < kPolishingVisits) {
    improved = false;
    for (std::size_t i = 0; i < instructions_.size() && visits < kPolishingVisits; ++i) {
      for (std::uint16_t faster = 1; faster <= 2 && faster <= best.clocks[i]; ++faster) {
        auto clocks = best.clocks;
        clocks[i] = static_cast<std::uint16_t>(clocks[i] - faster);
        planner_.spend_slack(clocks, deadline.in_si());
        visits += 4 * clocks.size();
        auto plan = priced(std::move(clocks));
        if (plan.total.energy >= best.total.energy) continue;
        best = std::move(plan);
        improved = true;
      }
    }
  }
  return best;
}

}  // namespace negawatt::plan
