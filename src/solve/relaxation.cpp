// SPDX-License-Identifier: Apache-2.0
#include "solve/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "solve/choice.hpp"
#include "solve/compensated_sum.hpp"
#include "solve/hull.hpp"

namespace negawatt::solve {

HullWalk hull_walk(const ChoiceProblem& problem) {
  HullWalk walk;
  walk.fastest.reserve(problem.items());
  for (std::uint32_t i = 0; i < problem.items(); ++i) {
    const auto options = problem.options(i);
    const auto hull = hull_options(options);
    walk.fastest.push_back(hull.front());
    Watts rate(std::numeric_limits<double>::infinity());
    for (std::size_t k = 1; k < hull.size(); ++k) {
      // Falls strictly on a hull, but for the rounding of nearly equal rates.
      rate = std::min(rate, saving_rate(options[hull[k - 1]], options[hull[k]]));
      walk.steps.push_back({rate, i, hull[k]});
    }
  }
  std::sort(walk.steps.begin(), walk.steps.end(), [&](const HullStep& a, const HullStep& b) {
    if (a.rate != b.rate) return a.rate > b.rate;
    if (a.item != b.item) return a.item < b.item;
    const auto options = problem.options(a.item);
    return options[a.to].time < options[b.to].time;
  });
  return walk;
}

std::vector<Cost> convex_frontier(const ChoiceProblem& problem) {
  const HullWalk walk = hull_walk(problem);
  auto current = walk.fastest;
  std::vector<Cost> vertices = {total_of(problem, current)};
  CompensatedSum time;
  CompensatedSum energy;
  time.add(vertices[0].time.in_si());
  energy.add(vertices[0].energy.in_si());
  for (std::size_t k = 0; k < walk.steps.size(); ++k) {
    const HullStep& step = walk.steps[k];
    const auto options = problem.options(step.item);
    const Cost change = options[step.to] - options[current[step.item]];
    current[step.item] = step.to;
    time.add(change.time.in_si());
    energy.add(change.energy.in_si());
    const bool is_vertex = k + 1 == walk.steps.size() || walk.steps[k + 1].rate < step.rate;
    if (is_vertex) vertices.push_back({Seconds(time.value()), Joules(energy.value())});
  }
  return vertices;
}

Choice least_energy_delay(const ChoiceProblem& problem, int exponent) {
  NW_ASSERT(exponent >= 0);
  const HullWalk walk = hull_walk(problem);
  auto current = walk.fastest;
  Cost total = total_of(problem, current);
  const auto product = [&] {
    return total.energy.in_si() * std::pow(total.time.in_si(), exponent);
  };
  double least = product();
  std::size_t steps_to_least = 0;
  for (std::size_t k = 0; k < walk.steps.size(); ++k) {
    const HullStep& step = walk.steps[k];
    const auto options = problem.options(step.item);
    total += options[step.to] - options[current[step.item]];
    current[step.item] = step.to;
    // Of equal products the later one uses less energy.
    if (product() <= least) {
      least = product();
      steps_to_least = k + 1;
    }
  }
  Choice choice{.option = walk.fastest};
  for (std::size_t k = 0; k < steps_to_least; ++k) {
    choice.option[walk.steps[k].item] = walk.steps[k].to;
  }
  choice.total = total_of(problem, choice.option);
  choice.lower_bound = choice.total.energy;
  return choice;
}

}  // namespace negawatt::solve
