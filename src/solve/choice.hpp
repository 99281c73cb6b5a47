// SPDX-License-Identifier: Apache-2.0
//
// Choosing one option per item: least energy within a time budget (a multiple-choice knapsack),
// per item or in total, and the products and weighted sums people use instead of a budget.
// Every answer carries a lower bound that proves how good it is; energies that differ by less
// than 1e-12 of the total count as equal. The same problem gets the same answer, bit for bit: of
// options of equal worth an item gets the one with less energy, then the faster one, then the
// lower index. Pure; no clock, no thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace negawatt::solve {

/// Two sums of the same times differ by rounding; a budget is kept to this relative tolerance.
inline constexpr double kBudgetTolerance = 1e-12;

/// Items and their options in one flat array. Costs are totals of an iteration (calls included).
class ChoiceProblem {
 public:
  ChoiceProblem() : first_{0} {}
  /// At least one option; every cost finite, times not negative.
  void add_item(std::span<const Cost> options);

  [[nodiscard]] std::size_t items() const { return first_.size() - 1; }
  [[nodiscard]] std::size_t option_count() const { return options_.size(); }
  [[nodiscard]] std::span<const Cost> options(std::size_t item) const {
    return std::span(options_).subspan(first_[item], first_[item + 1] - first_[item]);
  }

 private:
  std::vector<Cost> options_;
  std::vector<std::size_t> first_;
};

struct Choice {
  std::vector<std::uint32_t> option;  ///< per item: index into its options
  Cost total;
  Joules lower_bound;  ///< no choice that keeps the same budget uses less energy
  Watts price;         ///< energy that one more second of budget would save; 0 when it is not short
  std::size_t states = 0;  ///< partial choices that the exact search looked at
};

/// Total of a choice (one option index per item), to the last digits in any order of the items.
[[nodiscard]] Cost total_of(const ChoiceProblem& problem, std::span<const std::uint32_t> option);

/// The latest time that still keeps `budget`: it allows for the rounding of plain sums over this
/// many items, at least half of kBudgetTolerance, so that what was summed to a budget fits it.
[[nodiscard]] Seconds latest_within(Seconds budget, std::size_t items);

/// Bounds the exact search; when it is reached the best choice so far is returned with its gap.
/// A state takes up to 60 bytes. Measured tables need thousands of states. Subset sums of few
/// items, and thousands of copies of one kernel, can reach the limit, after seconds.
struct SearchLimits {
  std::size_t states = 20'000'000;
};

/// Least energy with total time <= budget (see latest_within). Error `infeasible` when even the
/// fastest options miss it. Of choices with equal energy any one, though always the same.
[[nodiscard]] Result<Choice> least_energy_within(const ChoiceProblem& problem, Seconds budget,
                                                 SearchLimits limits = {});

/// Least energy with every item within its own budget (one per item).
[[nodiscard]] Result<Choice> least_energy_each_within(const ChoiceProblem& problem,
                                                      std::span<const Seconds> budgets);

/// Least energy_weight * joules + time_weight * seconds; weights not negative, not both 0.
[[nodiscard]] Choice least_weighted(const ChoiceProblem& problem, double energy_weight,
                                    double time_weight);

/// Least (total energy) * (total time)^exponent: 1 is EDP, 2 is ED2P. Exact: the product is
/// quasi-concave, so its minimum lies on a vertex of the convex frontier. Energies not negative.
[[nodiscard]] Choice least_energy_delay(const ChoiceProblem& problem, int exponent);

/// The same product minimised for every item by itself.
[[nodiscard]] Choice least_energy_delay_each(const ChoiceProblem& problem, int exponent);

/// Totals at every vertex of the lower convex hull of all choices, fastest first. Each is
/// realised by a choice; no choice lies below the line through them.
[[nodiscard]] std::vector<Cost> convex_frontier(const ChoiceProblem& problem);

}  // namespace negawatt::solve
