// SPDX-License-Identifier: Apache-2.0
#include "tests/transport_by_clp.hpp"

#include <coin/Clp_C_Interface.h>

#include <cmath>
#include <limits>
#include <vector>

namespace negawatt::testing {

// A column for every group and system, a row for every group (its items), then for every system.
std::optional<double> least_cost_by_clp(const solve::TransportProblem& problem) {
  constexpr double kNoLimit = std::numeric_limits<double>::max();
  const auto groups = problem.items.size();
  const auto columns = groups * problem.systems;
  std::vector<double> row_lower(groups + problem.systems, -kNoLimit);
  std::vector<double> row_upper(groups + problem.systems, kNoLimit);
  for (std::size_t g = 0; g < groups; ++g)
    row_lower[g] = row_upper[g] = static_cast<double>(problem.items[g]);
  for (std::size_t s = 0; s < problem.systems; ++s)
    if (problem.capacity[s] != solve::TransportProblem::kUnlimited)
      row_upper[groups + s] = static_cast<double>(problem.capacity[s]);

  std::vector<double> cost(columns);
  std::vector<double> lower(columns, 0.0);
  std::vector<double> upper(columns, kNoLimit);
  std::vector<CoinBigIndex> start = {0};
  std::vector<int> rows;
  for (std::size_t column = 0; column < columns; ++column) {
    const bool allowed = std::isfinite(problem.cost[column]);
    cost[column] = allowed ? problem.cost[column] : 0.0;
    if (!allowed) upper[column] = 0.0;
    rows.push_back(static_cast<int>(column / problem.systems));
    rows.push_back(static_cast<int>(groups + column % problem.systems));
    start.push_back(static_cast<CoinBigIndex>(rows.size()));
  }
  const std::vector<double> ones(rows.size(), 1.0);

  Clp_Simplex* model = Clp_newModel();
  Clp_setLogLevel(model, 0);
  Clp_loadProblem(model, static_cast<int>(columns), static_cast<int>(row_lower.size()),
                  start.data(), rows.data(), ones.data(), lower.data(), upper.data(), cost.data(),
                  row_lower.data(), row_upper.data());
  Clp_initialSolve(model);
  std::optional<double> least;
  if (Clp_status(model) == 0) least = Clp_objectiveValue(model);
  Clp_deleteModel(model);
  return least;
}

}  // namespace negawatt::testing
