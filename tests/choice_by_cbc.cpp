// SPDX-License-Identifier: Apache-2.0
#include "tests/choice_by_cbc.hpp"

#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace negawatt::testing {
namespace {

/// CBC keeps rows to 1e-7 and takes objectives that are 1e-5 apart for equal, in whatever unit.
/// In units of a 10,000th of the budget and of the energy that is 1e-11 and 1e-9 of them.
constexpr double kScaled = 1e4;

/// One binary column per option; row 0 is the budget, row i + 1 says that item i has one option.
struct Columns {
  double time_unit;
  double energy_unit;
  std::vector<int> start = {0};
  std::vector<int> row;
  std::vector<double> value;
  std::vector<double> energy;
};

double energy_of_first_options(const solve::ChoiceProblem& problem) {
  double energy = 0.0;
  for (std::size_t i = 0; i < problem.items(); ++i) {
    energy += problem.options(i)[0].energy.in_si();
  }
  return energy;
}

Columns columns_of(const solve::ChoiceProblem& problem, Seconds budget) {
  Columns columns{.time_unit = budget.in_si() / kScaled,
                  .energy_unit = energy_of_first_options(problem) / kScaled};
  for (std::size_t i = 0; i < problem.items(); ++i) {
    for (const Cost& cost : problem.options(i)) {
      columns.row.insert(columns.row.end(), {0, static_cast<int>(i) + 1});
      columns.value.insert(columns.value.end(), {cost.time.in_si() / columns.time_unit, 1.0});
      columns.energy.push_back(cost.energy.in_si() / columns.energy_unit);
      columns.start.push_back(static_cast<int>(columns.row.size()));
    }
  }
  return columns;
}

void load(Cbc_Model* model, const Columns& columns, std::size_t items) {
  const auto count = static_cast<int>(columns.energy.size());
  std::vector<double> row_lower(items + 1, 1.0);
  std::vector<double> row_upper(items + 1, 1.0);
  row_lower[0] = 0.0;
  row_upper[0] = kScaled;
  const std::vector<double> lower(columns.energy.size(), 0.0);
  const std::vector<double> upper(columns.energy.size(), 1.0);
  Cbc_loadProblem(model, count, static_cast<int>(items) + 1, columns.start.data(),
                  columns.row.data(), columns.value.data(), lower.data(), upper.data(),
                  columns.energy.data(), row_lower.data(), row_upper.data());
  for (int column = 0; column < count; ++column) Cbc_setInteger(model, column);
}

std::vector<std::uint32_t> chosen(const solve::ChoiceProblem& problem, const double* solution) {
  std::vector<std::uint32_t> option;
  for (std::size_t i = 0; i < problem.items(); ++i) {
    const std::size_t count = problem.options(i).size();
    option.push_back(
        static_cast<std::uint32_t>(std::max_element(solution, solution + count) - solution));
    solution += count;
  }
  return option;
}

}  // namespace

std::optional<MilpAnswer> solve_with_cbc(const solve::ChoiceProblem& problem, Seconds budget,
                                         int seconds_limit) {
  const std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> model(Cbc_newModel(), Cbc_deleteModel);
  const Columns columns = columns_of(problem, budget);
  load(model.get(), columns, problem.items());
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setParameter(model.get(), "sec", std::to_string(seconds_limit).c_str());
  Cbc_setAllowableGap(model.get(), 0.0);
  Cbc_setAllowableFractionGap(model.get(), 0.0);
  Cbc_solve(model.get());
  const double* solution = Cbc_getColSolution(model.get());
  if (solution == nullptr || Cbc_isProvenInfeasible(model.get()) != 0) return std::nullopt;
  return MilpAnswer{
      .total = solve::total_of(problem, chosen(problem, solution)),
      .lower_bound = Joules(Cbc_getBestPossibleObjValue(model.get()) * columns.energy_unit),
      .is_proven = Cbc_isProvenOptimal(model.get()) != 0,
      .nodes = static_cast<double>(Cbc_getNodeCount(model.get())),
  };
}

}  // namespace negawatt::testing
