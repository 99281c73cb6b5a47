// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/result.hpp"
#include "core/units.hpp"
#include "solve/choice.hpp"
#include "solve/choice_core.hpp"
#include "solve/choice_search.hpp"
#include "solve/compensated_sum.hpp"
#include "solve/relaxation.hpp"

namespace negawatt::solve {
namespace {

/// Energies are the same when they differ by less than this part of the total.
constexpr double kEnergyTolerance = 1e-12;

/// Takes the steps of `walk` in order until the first that does not fit; its rate is the price.
Choice walk_until(const ChoiceProblem& problem, const HullWalk& walk, Seconds end) {
  Choice choice{.option = walk.fastest};
  CompensatedSum time;
  time.add(total_of(problem, choice.option).time.in_si());
  for (const HullStep& step : walk.steps) {
    const auto options = problem.options(step.item);
    time.add((options[step.to].time - options[choice.option[step.item]].time).in_si());
    if (time.value() > end.in_si()) {
      choice.price = step.rate;
      break;
    }
    choice.option[step.item] = step.to;
  }
  choice.total = total_of(problem, choice.option);
  return choice;
}

double energy_scale(const ChoiceProblem& problem, const Choice& choice) {
  double scale = 0.0;
  for (std::size_t i = 0; i < problem.items(); ++i) {
    scale += std::abs(problem.options(i)[choice.option[i]].energy.in_si());
  }
  return scale;
}

/// Applies what closes the gap of `choice` as far as it can be closed, and says how far that is.
void close_gap(const ChoiceProblem& problem, const RelaxedChoice& relaxed, SearchLimits limits,
               Choice& choice) {
  const SingleMove single = best_single_move(problem, relaxed);
  const Core core = collect_core(problem, relaxed, single.gap);
  const SearchResult found = search_core(core, relaxed, single.gap, limits);
  for (const auto move : found.moves) {
    choice.option[core.moves[move].item] = core.moves[move].option;
  }
  if (found.moves.empty() && single.found) choice.option[single.move.item] = single.move.option;
  choice.total = total_of(problem, choice.option);
  choice.states = found.states;
  choice.lower_bound = choice.total.energy - Joules(found.gap - found.proven_gap);
}

}  // namespace

Result<Choice> least_energy_within(const ChoiceProblem& problem, Seconds budget,
                                   SearchLimits limits) {
  const Seconds latest = latest_within(budget, problem.items());
  const HullWalk walk = hull_walk(problem);
  const Seconds least_time = total_of(problem, walk.fastest).time;
  if (least_time > latest) {
    return failure(Code::infeasible,
                   fmt::format("the fastest choice takes {} s, more than the budget of {} s",
                               least_time.in_si(), budget.in_si()));
  }
  // A tenth of the tolerance is left for the rounding of the search's own sums.
  const Seconds end = latest - 0.1 * (latest - budget);
  Choice choice = walk_until(problem, walk, end);
  const RelaxedChoice relaxed{
      .option = choice.option,
      .price = choice.price.in_si(),
      .slack = std::max(0.0, (end - choice.total.time).in_si()),
      .tolerance = kEnergyTolerance * energy_scale(problem, choice),
  };
  close_gap(problem, relaxed, limits, choice);
  return choice;
}

}  // namespace negawatt::solve
