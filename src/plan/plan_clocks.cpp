// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_clocks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "plan/clock_items.hpp"
#include "plan/schedule_of_table.hpp"
#include "solve/choice.hpp"
#include "solve/hull.hpp"
#include "solve/robust.hpp"

namespace negawatt::plan {
namespace {

using trace::Clock;
using trace::ClockPair;
using trace::KernelTable;
using trace::Sequence;

// A frontier of more points than a screen has pixels helps nobody.
constexpr std::size_t kMostFrontierPoints = 1000;
// The seed of the noise that separates selection from validation; any fixed number does.
constexpr std::uint64_t kRobustSeed = 20260113;

Status validate(const PlanRequest& request, const KernelTable& table) {
  const auto refuse = [](const std::string& why) -> Status { return failure(Code::invalid, why); };
  if (!(request.slowdown > -1.0) || !std::isfinite(request.slowdown))
    return refuse("the slowdown must be a finite number above -100 %");
  if (!(request.lambda >= 0.0 && request.lambda <= 1.0))
    return refuse("lambda must lie between 0 and 1");
  const bool is_schedule = request.granularity == Granularity::schedule;
  if (is_schedule && request.scope == Scope::local)
    return refuse("a schedule has one budget for the iteration: scope local does not apply");
  if (!request.confidence) return {};
  if (!(*request.confidence > 0.0 && *request.confidence < 1.0))
    return refuse("the confidence must lie between 0 and 1, for example 0.95");
  if (!table.has_deviations)
    return refuse(
        fmt::format("{}: a confidence needs the columns time_sd_s and energy_sd_j", table.name));
  if (request.objective != Objective::waste || request.scope == Scope::local || is_schedule)
    return refuse("a confidence applies to objective waste with scope global, not to a schedule");
  return {};
}

/// (auto, auto) where any kernel has it, else the highest pair of the table.
ClockPair default_baseline(const KernelTable& table) {
  constexpr ClockPair kAutomatic{Clock::automatic(), Clock::automatic()};
  ClockPair highest = kAutomatic;
  for (const auto& kernel : table.kernels) {
    if (kernel.options.front().clocks == kAutomatic) return kAutomatic;
    highest = std::max(highest, kernel.options.back().clocks);
  }
  return highest;
}

Result<ClockPair> baseline_pair(const KernelTable& table, const PlanRequest& request) {
  const auto clocks = request.baseline.value_or(default_baseline(table));
  for (const auto& kernel : table.kernels) {
    if (kernel.at(clocks) == nullptr)
      return failure(Code::invalid, fmt::format("{}: kernel '{}' has no row at the baseline ({})",
                                                table.name, kernel.name, to_string(clocks)));
  }
  return clocks;
}

/// What the objective minimises once the budget is kept.
double value_of(Cost cost, const PlanRequest& request) {
  const double time = cost.time.in_si();
  const double energy = cost.energy.in_si();
  switch (request.objective) {
    case Objective::edp:
      return energy * time;
    case Objective::ed2p:
      return energy * time * time;
    case Objective::weighted:
      return request.lambda * energy + (1.0 - request.lambda) * time;
    case Objective::waste:
    case Objective::energy:
      break;
  }
  return energy;
}

std::optional<StaticPair> best_static_of(const ClockPlan& plan, std::size_t kernels) {
  std::optional<StaticPair> best;
  for (const auto& pair : plan.static_pairs) {
    if (plan.budget && pair.total.time > solve::latest_within(*plan.budget, kernels)) continue;
    if (!best || value_of(pair.total, plan.request) < value_of(best->total, plan.request))
      best = pair;
  }
  return best;
}

std::vector<StaticPair> static_pairs(const KernelTable& table) {
  const auto whole = items_of(table, Granularity::one_pair).items.front();
  std::vector<StaticPair> pairs;
  pairs.reserve(whole.pairs.size());
  for (std::size_t p = 0; p < whole.pairs.size(); ++p)
    pairs.push_back({whole.pairs[p], whole.costs[p]});
  return pairs;
}

/// The baseline pair is one that all kernels were measured at.
Cost baseline_of(const ClockPlan& plan) {
  const auto pair = std::ranges::find(plan.static_pairs, plan.baseline_clocks, &StaticPair::clocks);
  NW_ASSERT(pair != plan.static_pairs.end());
  return pair->total;
}

Result<solve::Choice> choose_each(const ClockItems& items, const solve::ChoiceProblem& problem,
                                  const ClockPlan& plan) {
  if (plan.request.objective == Objective::edp) return solve::least_energy_delay_each(problem, 1);
  if (plan.request.objective == Objective::ed2p) return solve::least_energy_delay_each(problem, 2);
  const auto baseline = items.options_at(plan.baseline_clocks);
  std::vector<Seconds> budgets;
  budgets.reserve(items.items.size());
  for (std::size_t i = 0; i < items.items.size(); ++i)
    budgets.push_back(items.items[i].costs[baseline[i]].time * (1.0 + plan.request.slowdown));
  return solve::least_energy_each_within(problem, budgets);
}

/// Items with their choice problem, which takes a while to build for large tables.
struct ClockChoices {
  explicit ClockChoices(ClockItems made) : items(std::move(made)), problem(items.problem()) {}
  ClockItems items;
  solve::ChoiceProblem problem;
};

/// The exact choice for the request's objective in one scope.
Result<solve::Choice> choose(const ClockChoices& choices, const ClockPlan& plan, Scope scope) {
  const auto& [items, problem] = choices;
  const auto& request = plan.request;
  if (request.objective == Objective::energy) return solve::least_weighted(problem, 1.0, 0.0);
  if (request.objective == Objective::weighted)
    return solve::least_weighted(problem, request.lambda, 1.0 - request.lambda);
  if (scope == Scope::local) return choose_each(items, problem, plan);
  if (request.objective == Objective::edp) return solve::least_energy_delay(problem, 1);
  if (request.objective == Objective::ed2p) return solve::least_energy_delay(problem, 2);
  return solve::least_energy_within(problem, *plan.budget);
}

Result<solve::Choice> choose_with_confidence(const ClockChoices& choices, double confidence,
                                             ClockPlan& plan) {
  const auto& items = choices.items;
  solve::RobustProblem problem{.options = choices.problem,
                               .baseline = items.options_at(plan.baseline_clocks),
                               .slowdown = plan.request.slowdown,
                               .confidence = confidence,
                               .seed = kRobustSeed};
  for (const auto& item : items.items)
    problem.deviations.insert(problem.deviations.end(), item.deviations.begin(),
                              item.deviations.end());
  NW_TRY(auto robust, solve::least_energy_with_confidence(problem));
  plan.promise = robust.promise;
  return std::move(robust.choice);
}

/// Pairs of a kernel that another pair matches or beats in both time and energy.
std::uint32_t dominated_pairs(const trace::Kernel& kernel) {
  std::vector<Cost> costs;
  costs.reserve(kernel.options.size());
  for (const auto& option : kernel.options) costs.push_back({option.time, option.energy});
  return static_cast<std::uint32_t>(costs.size() - solve::pareto_options(costs).size());
}

Reason reason_for(const trace::Kernel& kernel, Cost per_call, Granularity granularity) {
  if (kernel.options.size() == 1) return Reason::only_pair;
  if (granularity != Granularity::kernel) return Reason::shared;
  const auto least = std::ranges::min(kernel.options, {}, &trace::KernelOption::energy).energy;
  return per_call.energy <= least ? Reason::least_energy : Reason::budget_bound;
}

void record_choices(const KernelTable& table, const ClockItems& items, const solve::Choice& choice,
                    ClockPlan& plan) {
  plan.total = choice.total;
  plan.bound = choice.lower_bound;
  plan.price = choice.price;
  for (std::uint32_t k = 0; k < table.kernels.size(); ++k) {
    const auto& kernel = table.kernels[k];
    const auto item = items.item_of_kernel[k];
    const auto clocks = items.items[item].pairs[choice.option[item]];
    const auto* option = kernel.at(clocks);
    const Cost per_call{option->time, option->energy};
    plan.choices.push_back({.kernel = k,
                            .clocks = clocks,
                            .per_call = per_call,
                            .reason = reason_for(kernel, per_call, plan.request.granularity),
                            .dominated = dominated_pairs(kernel),
                            .pairs = static_cast<std::uint32_t>(kernel.options.size())});
  }
}

/// The sequence cut into runs of equal clocks, as the plan would be executed.
std::vector<Segment> segments_of(const Sequence& sequence,
                                 const std::vector<KernelChoice>& choices) {
  std::vector<Segment> segments;
  for (std::uint32_t position = 0; position < sequence.size(); ++position) {
    const auto& choice = choices[sequence[position]];
    if (segments.empty() || segments.back().clocks != choice.clocks)
      segments.push_back({.first = position, .clocks = choice.clocks});
    segments.back().last = position;
    segments.back().cost += choice.per_call;
  }
  return segments;
}

/// Every `stride`-th point and the last one.
std::vector<Cost> thinned(const std::vector<Cost>& points) {
  const std::size_t stride = 1 + points.size() / kMostFrontierPoints;
  std::vector<Cost> kept;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i % stride == 0 || i + 1 == points.size()) kept.push_back(points[i]);
  return kept;
}

/// What every plan is compared with: kernels that choose freely, in both scopes.
struct FreeChoices {
  ClockChoices kernels;
  Result<solve::Choice> local;
  Result<solve::Choice> global;
};

FreeChoices free_choices(const KernelTable& table, ClockPlan& plan) {
  ClockChoices kernels(items_of(table, Granularity::kernel));
  auto local = choose(kernels, plan, Scope::local);
  auto global = choose(kernels, plan, Scope::global);
  if (local) plan.local = local->total;
  if (global) plan.global = global->total;
  return {std::move(kernels), std::move(local), std::move(global)};
}

/// The choice that was asked for; at kernel granularity it is one of the free choices.
Result<solve::Choice> requested_choice(const ClockChoices& choices, const FreeChoices& free,
                                       ClockPlan& plan) {
  if (plan.request.confidence)
    return choose_with_confidence(choices, *plan.request.confidence, plan);
  if (&choices != &free.kernels) return choose(choices, plan, plan.request.scope);
  return plan.request.scope == Scope::local ? free.local : free.global;
}

Status solve_choice(const KernelTable& table, const Sequence& sequence, const FreeChoices& free,
                    ClockPlan& plan) {
  std::optional<ClockChoices> coarse;
  if (plan.request.granularity != Granularity::kernel)
    coarse.emplace(items_of(table, plan.request.granularity));
  const auto& choices = coarse ? *coarse : free.kernels;
  NW_TRY(const auto choice, requested_choice(choices, free, plan));
  record_choices(table, choices.items, choice, plan);
  plan.segments = segments_of(sequence, plan.choices);
  if (plan.request.frontier) plan.frontier = thinned(solve::convex_frontier(choices.problem));
  return {};
}

}  // namespace

Result<ClockPlan> plan_clocks(const KernelTable& table, const Sequence& sequence,
                              const PlanRequest& request) {
  NW_CHECK(validate(request, table));
  ClockPlan plan{.request = request};
  NW_TRY(plan.baseline_clocks, baseline_pair(table, request));
  plan.static_pairs = static_pairs(table);
  plan.baseline = baseline_of(plan);
  if (request.objective == Objective::waste)
    plan.budget = plan.baseline.time * (1.0 + request.slowdown);

  plan.best_static = best_static_of(plan, table.kernels.size());
  const auto free = free_choices(table, plan);

  if (request.granularity == Granularity::schedule) {
    NW_CHECK(solve_schedule(table, sequence, plan));
  } else {
    NW_CHECK(solve_choice(table, sequence, free, plan));
  }
  NW_ASSERT(!plan.segments.empty());
  plan.switches = static_cast<std::uint32_t>(plan.segments.size() - 1);
  return plan;
}

}  // namespace negawatt::plan
