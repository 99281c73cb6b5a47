// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "plan/choice.hpp"
#include "plan/hull.hpp"
#include "plan/relaxation.hpp"

namespace negawatt::plan {
namespace {

/// A partial choice: offsets against the relaxed choice, in seconds and joules of reduced cost.
struct State {
  double time;
  double reduced;
  std::uint32_t node;
};

struct Node {
  std::uint32_t parent;
  std::uint32_t item;
  std::uint32_t option;
};

}  // namespace

Result<Choice> least_energy_within(const ChoiceProblem& problem, Seconds budget,
                                   SearchLimits limits) {
  const HullWalk walk = hull_walk(problem);
  Choice choice{.option = walk.fastest};
  Cost total = total_of(problem, choice.option);
  const Seconds latest = latest_within(budget, problem.items());
  if (total.time > latest) {
    return failure(Code::infeasible,
                   fmt::format("the fastest choice takes {} s, more than the budget of {} s",
                               total.time.in_si(), budget.in_si()));
  }
  for (const HullStep& step : walk.steps) {
    const auto options = problem.options(step.item);
    const Cost change = options[step.to] - options[choice.option[step.item]];
    if (total.time + change.time > latest) {
      choice.price = step.rate;
      break;
    }
    choice.option[step.item] = step.to;
    total += change;
  }
  choice.total = total_of(problem, choice.option);
  const double price = choice.price.in_si();
  const double slack = (latest - choice.total.time).in_si();
  const Joules relaxed = choice.total.energy - choice.price * Seconds(slack);
  double gap = price * slack;
  std::uint32_t best_node = 0;
  std::vector<Node> nodes = {{0, 0, 0}};
  std::vector<State> states = {{0.0, 0.0, 0}};
  for (std::uint32_t i = 0; i < problem.items() && gap > 0; ++i) {
    const auto options = problem.options(i);
    const Cost base = options[choice.option[i]];
    std::vector<State> grown = states;
    for (const auto j : pareto_options(options)) {
      if (j == choice.option[i]) continue;
      const Cost change = options[j] - base;
      const double reduced = std::max(0.0, (change.energy + choice.price * change.time).in_si());
      if (reduced >= gap) continue;
      for (const State& state : states) {
        if (state.reduced + reduced >= gap) continue;
        grown.push_back({state.time + change.time.in_si(), state.reduced + reduced,
                         static_cast<std::uint32_t>(nodes.size())});
        nodes.push_back({state.node, i, j});
        const double left = slack - grown.back().time;
        if (left >= 0 && grown.back().reduced + price * left < gap) {
          gap = grown.back().reduced + price * left;
          best_node = grown.back().node;
        }
      }
    }
    const auto energy = [&](const State& s) { return s.reduced - price * s.time; };
    std::sort(grown.begin(), grown.end(), [&](const State& a, const State& b) {
      return a.time != b.time ? a.time < b.time : energy(a) < energy(b);
    });
    states.clear();
    for (const State& state : grown) {
      if (states.empty() || energy(state) < energy(states.back())) states.push_back(state);
    }
    if (nodes.size() > limits.states) break;
  }
  const bool proven = nodes.size() <= limits.states;
  for (auto node = best_node; node != 0; node = nodes[node].parent) {
    choice.option[nodes[node].item] = nodes[node].option;
  }
  choice.total = total_of(problem, choice.option);
  choice.lower_bound = proven ? choice.total.energy : std::min(choice.total.energy, relaxed);
  return choice;
}

}  // namespace negawatt::plan
