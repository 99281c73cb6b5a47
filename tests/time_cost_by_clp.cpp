// SPDX-License-Identifier: Apache-2.0
#include "tests/time_cost_by_clp.hpp"

#include <coin/Clp_C_Interface.h>

#include <limits>
#include <vector>

namespace negawatt::testing {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::max();

struct Term {
  std::size_t column;
  double factor;
};

/// Sparse rows of a program that grows row by row.
struct Rows {
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<CoinBigIndex> start = {0};
  std::vector<int> column;
  std::vector<double> value;

  void add(Term term) {
    column.push_back(static_cast<int>(term.column));
    value.push_back(term.factor);
  }
  void close(double least, double most) {
    lower.push_back(least);
    upper.push_back(most);
    start.push_back(static_cast<CoinBigIndex>(column.size()));
  }
};

}  // namespace

// Columns: the time of every event, then the share of every option of every activity.
std::optional<Joules> least_energy_by_clp(const solve::Project& project, Seconds deadline) {
  std::vector<double> cost(project.events, 0.0);
  Rows rows;
  for (const auto& activity : project.activities) {
    const auto first = cost.size();
    for (const auto& option : activity.options) cost.push_back(option.energy.in_si());
    for (std::size_t k = first; k < cost.size(); ++k) rows.add({k, 1.0});
    rows.close(1.0, 1.0);
    if (activity.from == activity.to) return std::nullopt;
    rows.add({activity.to, 1.0});
    rows.add({activity.from, -1.0});
    for (std::size_t k = first; k < cost.size(); ++k)
      rows.add({k, -activity.options[k - first].time.in_si()});
    rows.close(0.0, kNoLimit);
  }
  for (const auto& precedence : project.precedences) {
    rows.add({precedence.after, 1.0});
    rows.add({precedence.before, -1.0});
    rows.close(0.0, kNoLimit);
  }
  std::vector<double> least(cost.size(), 0.0);
  std::vector<double> most(cost.size(), kNoLimit);
  for (std::size_t event = 0; event < project.events; ++event) most[event] = deadline.in_si();
  most[project.source] = 0.0;

  Clp_Simplex* model = Clp_newModel();
  Clp_setLogLevel(model, 0);
  const std::vector<CoinBigIndex> no_entries(cost.size() + 1, 0);
  Clp_addColumns(model, static_cast<int>(cost.size()), least.data(), most.data(), cost.data(),
                 no_entries.data(), nullptr, nullptr);
  Clp_addRows(model, static_cast<int>(rows.lower.size()), rows.lower.data(), rows.upper.data(),
              rows.start.data(), rows.column.data(), rows.value.data());
  Clp_initialSolve(model);
  std::optional<Joules> energy;
  if (Clp_status(model) == 0) energy = Joules(Clp_objectiveValue(model));
  Clp_deleteModel(model);
  return energy;
}

}  // namespace negawatt::testing
