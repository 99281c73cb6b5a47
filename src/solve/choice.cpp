// SPDX-License-Identifier: Apache-2.0
#include "solve/choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "solve/compensated_sum.hpp"

namespace negawatt::solve {
namespace {

/// The item's option with the least value; of equal values the least energy, then the faster,
/// then the lower index.
template <class Value>
std::uint32_t least_option(std::span<const Cost> options, const Value& value) {
  std::uint32_t best = 0;
  double best_value = value(options[0]);
  for (std::uint32_t j = 1; j < options.size(); ++j) {
    const double candidate = value(options[j]);
    if (candidate > best_value) continue;
    const Cost& x = options[j];
    const Cost& y = options[best];
    const bool better =
        candidate < best_value || x.energy < y.energy || (x.energy == y.energy && x.time < y.time);
    if (better) {
      best = j;
      best_value = candidate;
    }
  }
  return best;
}

/// Every item's least option by itself.
template <class Value>
Choice separable(const ChoiceProblem& problem, const Value& value) {
  Choice choice;
  choice.option.reserve(problem.items());
  for (std::size_t i = 0; i < problem.items(); ++i) {
    choice.option.push_back(least_option(problem.options(i), value));
  }
  choice.total = total_of(problem, choice.option);
  choice.lower_bound = choice.total.energy;
  return choice;
}

}  // namespace

void ChoiceProblem::add_item(std::span<const Cost> options) {
  NW_ASSERT(!options.empty());
  for (const Cost& cost : options) {
    NW_ASSERT(cost.time.is_finite() && cost.time >= Seconds(0));
    NW_ASSERT(cost.energy.is_finite());
  }
  options_.insert(options_.end(), options.begin(), options.end());
  first_.push_back(options_.size());
}

Cost total_of(const ChoiceProblem& problem, std::span<const std::uint32_t> option) {
  NW_ASSERT(option.size() == problem.items());
  CompensatedSum time;
  CompensatedSum energy;
  for (std::size_t i = 0; i < option.size(); ++i) {
    const Cost& cost = problem.options(i)[option[i]];
    time.add(cost.time.in_si());
    energy.add(cost.energy.in_si());
  }
  return {Seconds(time.value()), Joules(energy.value())};
}

Seconds latest_within(Seconds budget, std::size_t items) {
  const double tolerance = std::max(0.5 * kBudgetTolerance, static_cast<double>(items) * 0x1p-52);
  return budget + tolerance * Seconds(std::abs(budget.in_si()));
}

Result<Choice> least_energy_each_within(const ChoiceProblem& problem,
                                        std::span<const Seconds> budgets) {
  NW_ASSERT(budgets.size() == problem.items());
  Choice choice;
  choice.option.reserve(problem.items());
  for (std::size_t i = 0; i < problem.items(); ++i) {
    const auto options = problem.options(i);
    const Seconds latest = latest_within(budgets[i], 1);
    const auto best = least_option(options, [&](const Cost& cost) {
      return cost.time <= latest ? cost.energy.in_si() : std::numeric_limits<double>::infinity();
    });
    if (options[best].time > latest) {
      Seconds fastest = options[0].time;
      for (const Cost& cost : options) fastest = std::min(fastest, cost.time);
      return failure(Code::infeasible,
                     fmt::format("item {} takes at least {} s, more than its budget of {} s", i,
                                 fastest.in_si(), budgets[i].in_si()));
    }
    choice.option.push_back(best);
  }
  choice.total = total_of(problem, choice.option);
  choice.lower_bound = choice.total.energy;
  return choice;
}

Choice least_weighted(const ChoiceProblem& problem, double energy_weight, double time_weight) {
  NW_ASSERT(energy_weight >= 0 && time_weight >= 0 && energy_weight + time_weight > 0);
  return separable(problem, [=](const Cost& cost) {
    return energy_weight * cost.energy.in_si() + time_weight * cost.time.in_si();
  });
}

Choice least_energy_delay_each(const ChoiceProblem& problem, int exponent) {
  NW_ASSERT(exponent >= 0);
  return separable(problem, [=](const Cost& cost) {
    return cost.energy.in_si() * std::pow(cost.time.in_si(), exponent);
  });
}

}  // namespace negawatt::solve
