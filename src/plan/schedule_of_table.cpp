// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_of_table.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "plan/schedule.hpp"

namespace negawatt::plan {
namespace {

// Budgets of a schedule's frontier: enough to draw the curve, few enough to wait for.
constexpr int kFrontierBudgets = 16;
// Sums of the same energies in another order differ by no more than this, relatively.
constexpr double kRounding = 1e-12;

ScheduleProblem problem_of(const trace::KernelTable& table, const trace::Sequence& sequence,
                           const trace::SwitchModel& switching) {
  ScheduleProblem problem{.sequence = sequence, .switching = switching};
  for (const auto& kernel : table.kernels)
    for (const auto& option : kernel.options) problem.pairs.push_back(option.clocks);
  std::ranges::sort(problem.pairs);
  problem.pairs.erase(std::ranges::unique(problem.pairs).begin(), problem.pairs.end());
  for (const auto& kernel : table.kernels) {
    for (const auto& pair : problem.pairs) {
      const auto* option = kernel.at(pair);
      problem.costs.push_back(
          option == nullptr ? std::nullopt : std::optional(Cost{option->time, option->energy}));
    }
  }
  return problem;
}

Result<Schedule> solved(const ScheduleProblem& problem, const ClockPlan& plan) {
  switch (plan.request.objective) {
    case Objective::edp:
      return least_energy_delay_schedule(problem, 1);
    case Objective::ed2p:
      return least_energy_delay_schedule(problem, 2);
    case Objective::energy:
      return least_weighted_schedule(problem, 1.0, 0.0);
    case Objective::weighted:
      return least_weighted_schedule(problem, plan.request.lambda, 1.0 - plan.request.lambda);
    case Objective::waste:
      break;
  }
  NW_ASSERT(plan.budget.has_value());
  return least_energy_schedule(problem, *plan.budget);
}

/// Plans at budgets spread evenly between the fastest schedule and the one of least energy. A
/// budget more never costs energy, so that only points that save something are kept.
Result<std::vector<Cost>> frontier_of(const ScheduleProblem& problem) {
  NW_TRY(const auto fastest, least_weighted_schedule(problem, 0.0, 1.0));
  NW_TRY(const auto thriftiest, least_weighted_schedule(problem, 1.0, 0.0));
  const auto shortest = fastest.total.time;
  const auto longest = thriftiest.total.time;
  ScheduleLimits limits;
  limits.steps /= kFrontierBudgets;
  limits.labels /= kFrontierBudgets;
  std::vector<Cost> points;
  for (int i = 0; i <= kFrontierBudgets; ++i) {
    const auto budget = shortest + (longest - shortest) * (i / double{kFrontierBudgets});
    NW_TRY(const auto schedule, least_energy_schedule(problem, budget, limits));
    if (points.empty() || schedule.total.energy < points.back().energy)
      points.push_back(schedule.total);
  }
  return points;
}

/// A schedule of one segment is a static plan: its total is summed in the order of the static
/// pairs, so that rounding makes neither look better than the other.
void total_as_static_pair(ClockPlan& plan) {
  const auto clocks = plan.segments.front().clocks;
  const auto pair = std::ranges::find(plan.static_pairs, clocks, &StaticPair::clocks);
  NW_ASSERT(pair != plan.static_pairs.end());
  plan.total = pair->total;
}

}  // namespace

Status solve_schedule(const trace::KernelTable& table, const trace::Sequence& sequence,
                      ClockPlan& plan) {
  const auto problem = problem_of(table, sequence, plan.request.switching);
  NW_TRY(const auto schedule, solved(problem, plan));
  plan.total = schedule.total;
  plan.bound = schedule.lower_bound;
  plan.price = schedule.price;
  for (const auto& part : schedule.segments) {
    Segment segment{.first = part.first, .last = part.last, .clocks = problem.pairs[part.pair]};
    for (auto position = part.first; position <= part.last; ++position) {
      const auto& cost = problem.costs[sequence[position] * problem.pairs.size() + part.pair];
      NW_ASSERT(cost.has_value());
      segment.cost += *cost;
    }
    plan.segments.push_back(segment);
  }
  if (plan.segments.size() == 1) total_as_static_pair(plan);
  if (plan.bound > plan.total.energy * (1.0 - kRounding)) plan.bound = plan.total.energy;
  if (plan.request.frontier) {
    NW_TRY(plan.frontier, frontier_of(problem));
  }
  return {};
}

}  // namespace negawatt::plan
