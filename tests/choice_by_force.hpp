// SPDX-License-Identifier: Apache-2.0
//
// Every choice of a tiny problem, one after the other: the oracle that needs no trust.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "solve/choice.hpp"

namespace negawatt::testing {

/// Calls visit(total) for every choice there is.
template <class Visit>
void for_each_choice(const solve::ChoiceProblem& problem, const Visit& visit) {
  std::vector<std::uint32_t> option(problem.items(), 0);
  for (;;) {
    visit(total_of(problem, option));
    std::size_t i = 0;
    while (i < option.size() && ++option[i] == problem.options(i).size()) option[i++] = 0;
    if (i == option.size()) return;
  }
}

/// The least value(total) over all choices.
template <class Value>
double least_by_force(const solve::ChoiceProblem& problem, const Value& value) {
  double least = std::numeric_limits<double>::infinity();
  for_each_choice(problem, [&](Cost total) { least = std::min(least, value(total)); });
  return least;
}

/// The least energy in joules within `budget`; infinite when no choice keeps it.
inline double least_energy_by_force(const solve::ChoiceProblem& problem, Seconds budget) {
  const Seconds latest = solve::latest_within(budget, problem.items());
  return least_by_force(problem, [&](Cost total) {
    return total.time <= latest ? total.energy.in_si() : std::numeric_limits<double>::infinity();
  });
}

}  // namespace negawatt::testing
