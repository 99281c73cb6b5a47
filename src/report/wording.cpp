// SPDX-License-Identifier: Apache-2.0
#include "report/wording.hpp"

#include <fmt/core.h>

#include <cmath>

#include "report/numbers.hpp"

namespace negawatt::report {
std::string clock_name(trace::Clock clock) {
  return clock.is_automatic() ? "auto" : fmt::format("{} MHz", clock.mhz());
}

std::string clocks_name(trace::ClockPair clocks) {
  return fmt::format("core {}, memory {}", clock_name(clocks.core), clock_name(clocks.memory));
}

bool is_driver_default(trace::ClockPair clocks) { return clocks == trace::ClockPair{}; }

std::string baseline_name(const plan::ClockPlan& plan) {
  const auto clocks = plan.baseline_clocks;
  return is_driver_default(clocks) ? "the driver's default clocks"
                                   : fmt::format("the baseline ({})", clocks_name(clocks));
}

std::string headline(const plan::ClockPlan& plan) {
  const double energy = change_pct(plan.baseline.energy, plan.total.energy);
  const double time = change_pct(plan.baseline.time, plan.total.time);
  const auto against = baseline_name(plan);
  if (std::abs(energy) >= kShownChange)
    return fmt::format("This plan uses {} % {} energy than {}, {}.", significant(std::abs(energy)),
                       energy < 0 ? "less" : "more", against, time_clause(time));
  if (std::abs(time) >= kShownChange)
    return fmt::format("This plan uses as much energy as {}, {}.", against, time_clause(time));
  const bool is_proven =
      gap_pct(plan.total.energy, plan.bound) < kShownChange && plan.budget.has_value();
  return fmt::format(
      "Nothing to gain here: {} of this table within the time allowed uses less "
      "energy than {}.",
      is_proven ? "no choice of clocks" : "no choice found", against);
}

std::string against_static(const plan::ClockPlan& plan) {
  if (!plan.best_static || plan.best_static->clocks == plan.baseline_clocks) return {};
  const auto& best = plan.best_static->total;
  const double energy = change_pct(best.energy, plan.total.energy);
  const double time = change_pct(best.time, plan.total.time);
  const auto clocks = clocks_name(plan.best_static->clocks);
  if (std::abs(energy) < kShownChange && std::abs(time) < kShownChange)
    return fmt::format("One fixed setting ({}) does as well.", clocks);
  if (std::abs(energy) < kShownChange)
    return fmt::format("It uses as much energy as one fixed setting ({}), {}.", clocks,
                       time_clause(time));
  return fmt::format("It uses {} % {} energy than the best single fixed setting ({}), {}.",
                     significant(std::abs(energy)), energy < 0 ? "less" : "more", clocks,
                     time_clause(time));
}

std::string task(const plan::PlanRequest& request) {
  using plan::Objective;
  std::string goal;
  switch (request.objective) {
    case Objective::waste:
      goal = fmt::format("least energy with at most {} time", change(100.0 * request.slowdown));
      break;
    case Objective::edp:
      goal = "least energy x time";
      break;
    case Objective::ed2p:
      goal = "least energy x time^2";
      break;
    case Objective::energy:
      goal = "least energy at any time";
      break;
    case Objective::weighted:
      goal = fmt::format("least {} x joules + {} x seconds", significant(request.lambda),
                         significant(1.0 - request.lambda));
      break;
  }
  const bool by_itself = request.scope == plan::Scope::local;
  return fmt::format("{}{}, {}", goal, by_itself ? " for every kernel by itself" : "",
                     word(request.granularity));
}

bool changes_are_free(const plan::ClockPlan& plan) {
  return plan.switches > 0 && plan.request.granularity != plan::Granularity::schedule;
}

std::string proof(const plan::ClockPlan& plan) {
  return proof_of_gap(gap_pct(plan.total.energy, plan.bound));
}

std::string_view word(plan::Granularity granularity) {
  switch (granularity) {
    case plan::Granularity::one_pair:
      return "one pair for all kernels";
    case plan::Granularity::group:
      return "one pair per group";
    case plan::Granularity::kernel:
      return "one pair per kernel";
    case plan::Granularity::schedule:
      return "a schedule of clock segments";
  }
  return {};
}

std::string_view word(plan::Scope scope) {
  return scope == plan::Scope::global ? "global" : "local";
}

std::string_view word(plan::Objective objective) {
  switch (objective) {
    case plan::Objective::waste:
      return "waste";
    case plan::Objective::edp:
      return "edp";
    case plan::Objective::ed2p:
      return "ed2p";
    case plan::Objective::energy:
      return "energy";
    case plan::Objective::weighted:
      return "weighted";
  }
  return {};
}

std::string_view word(plan::Reason reason) {
  switch (reason) {
    case plan::Reason::only_pair:
      return "only-pair";
    case plan::Reason::least_energy:
      return "least-energy";
    case plan::Reason::budget_bound:
      return "budget-bound";
    case plan::Reason::shared:
      return "shared";
  }
  return {};
}

std::string_view reason_in_words(plan::Reason reason) {
  switch (reason) {
    case plan::Reason::only_pair:
      return "measured at this pair only";
    case plan::Reason::least_energy:
      return "no pair uses less energy";
    case plan::Reason::budget_bound:
      return "a lower-energy pair costs more time than it is worth";
    case plan::Reason::shared:
      return "shares its pair with other kernels";
  }
  return {};
}

}  // namespace negawatt::report
