// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_budget.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "plan/choice.hpp"
#include "plan/schedule_cycle.hpp"
#include "plan/schedule_labels.hpp"
#include "plan/schedule_splice.hpp"

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;
// A dual bound this close to its optimum is not worth another dynamic program.
constexpr double kDualGap = 1e-7;
// Up to this many invocations x pairs, the wrap is settled exactly at every price.
constexpr std::size_t kFewStates = 5'000;
// Up to this many, labels close the gap.
constexpr std::size_t kLabelStates = 400'000;
// Prices besides the dual's own: schedules near it are material for splicing and bounds for labels.
constexpr std::array kNearPrices = {0.999, 1.001, 0.99, 1.01, 0.95, 1.05};
constexpr std::array kLabelPrices = {1.0, 0.9, 1.1};

struct KnownSchedule {
  Assignment assignment;
  double time = 0.0;
  double energy = kNever;
};

/// Life of one search: the dual bound first, then better schedules and, if need be, a better bound.
class BudgetSearch {
 public:
  BudgetSearch(const ScheduleTables& tables, Seconds budget, const ScheduleLimits& limits)
      : tables_(tables),
        limits_(limits),
        budget_(budget.in_si()),
        longest_(longest_within(budget)),
        solver_(tables, limits.steps, limits.gap) {}

  Result<BudgetOptimum> run() {
    NW_CHECK(find_both_sides());
    if (!is_closed() && !keeps_budget(over_)) solve_dual();
    if (!is_closed()) splice_schedules();
    if (!is_closed() && labels_fit()) close_by_labels();
    return BudgetOptimum{best_.assignment, std::min(bound_, best_.energy), price_};
  }

 private:
  [[nodiscard]] bool is_closed() const {
    return best_.energy - bound_ <= limits_.gap * std::abs(best_.energy);
  }
  [[nodiscard]] bool keeps_budget(const KnownSchedule& known) const {
    return known.time <= longest_;
  }
  Status find_both_sides();
  Status find_fastest();
  CycleOptimum minimise(double price, double known);
  void solve_dual();
  /// Collects schedules at prices near the dual's and combines them with the best.
  void splice_schedules();
  [[nodiscard]] bool labels_fit() const;
  void close_by_labels();
  /// Adds a schedule to the two sides; returns what it costs.
  KnownSchedule take(const Assignment& assignment);

  const ScheduleTables& tables_;
  const ScheduleLimits& limits_;
  double budget_;
  double longest_;
  CycleSolver solver_;

  KnownSchedule best_;    // least energy known within the budget
  KnownSchedule within_;  // the dual's plane from within the budget
  KnownSchedule over_;    // and from beyond it
  std::vector<KnownSchedule> met_;
  double bound_ = 0.0;
  double price_ = 0.0;
};

KnownSchedule BudgetSearch::take(const Assignment& assignment) {
  const auto cost = tables_.assess(assignment);
  NW_ASSERT(cost.broken.empty());
  KnownSchedule known{assignment, cost.time, cost.energy};
  if (keeps_budget(known) && known.energy < best_.energy) best_ = known;
  met_.push_back(known);
  return known;
}

CycleOptimum BudgetSearch::minimise(double price, double known) {
  const auto states = std::size_t{tables_.invocations()} * tables_.pairs();
  const auto found = solver_.minimise({.energy = 1.0, .time = price}, known,
                                      states <= kFewStates ? Closing::exact : Closing::quick);
  if (found.bound - price * budget_ > bound_) {
    bound_ = found.bound - price * budget_;
    price_ = price;
  }
  return found;
}

Status BudgetSearch::find_both_sides() {
  if (const auto pair = best_constant_pair(tables_, longest_)) {
    within_ = take(Assignment(tables_.invocations(), static_cast<std::uint16_t>(*pair)));
  } else {
    NW_CHECK(find_fastest());
  }
  const auto frugal = minimise(0.0, kNever);
  NW_ASSERT(frugal.assignment);
  over_ = take(*frugal.assignment);
  return {};
}

Status BudgetSearch::find_fastest() {
  const auto fastest = solver_.minimise({.energy = 0.0, .time = 1.0}, kNever, Closing::exact);
  if (!fastest.assignment)
    return failure(Code::infeasible,
                   "schedule: no sequence of clock changes fits the latencies and the pairs each "
                   "kernel was measured at");
  within_ = take(*fastest.assignment);
  if (keeps_budget(within_)) return {};
  return failure(
      Code::infeasible,
      fmt::format("schedule: the fastest schedule takes {:.6g} s, the budget is {:.6g} s",
                  within_.time, budget_));
}

void BudgetSearch::solve_dual() {
  constexpr int kMostPlanes = 100;
  for (int planes = 0; planes < kMostPlanes && solver_.has_steps(); ++planes) {
    const double price = (within_.energy - over_.energy) / (over_.time - within_.time);
    if (!(price > 0.0)) return;
    const double model = over_.energy + price * over_.time;
    const auto found = minimise(price, model);
    if (!found.assignment || found.value >= model * (1.0 - kRounding)) return;
    const auto known = take(*found.assignment);
    (keeps_budget(known) ? within_ : over_) = known;
    if (is_closed() || model - found.bound <= kDualGap * best_.energy) return;
  }
}

void BudgetSearch::splice_schedules() {
  const double price = price_;
  for (const double factor : kNearPrices) {
    if (!solver_.has_steps()) break;
    const auto found = minimise(factor * price, kNever);
    if (found.assignment) take(*found.assignment);
  }
  // By index: take() appends.
  for (std::size_t at = met_.size(); at-- > 0 && !is_closed();) {
    const auto joined = splice(tables_, best_.assignment, met_[at].assignment, longest_);
    if (joined) take(*joined);
  }
}

bool BudgetSearch::labels_fit() const {
  const auto states = std::size_t{tables_.invocations()} * tables_.pairs();
  return states <= kLabelStates && label_bytes_for(tables_, kLabelPrices.size()) <= limits_.bytes;
}

void BudgetSearch::close_by_labels() {
  LabelRequest request{.budget = budget_, .longest = longest_, .most_labels = limits_.labels};
  for (const double factor : kLabelPrices)
    if (price_ > 0.0 || request.prices.empty()) request.prices.push_back(factor * price_);
  // Energies just above the bound first: few labels, and what they rule out raises the bound.
  double step = std::max((best_.energy - bound_) / 256.0, limits_.gap * best_.energy);
  while (!is_closed()) {
    request.energy_below = std::min(best_.energy, bound_ + step);
    const auto answer = search_labels(solver_.cut_tables(), request);
    if (answer.assignment) {
      auto assignment = *answer.assignment;
      std::ranges::rotate(assignment, assignment.end() - solver_.cut());
      take(assignment);
    }
    if (!answer.is_complete) return;
    bound_ = std::min(request.energy_below, best_.energy);
    request.most_labels -= answer.labels;
    step *= 4.0;
  }
}

}  // namespace

double longest_within(Seconds budget) { return budget.in_si() * (1.0 + kBudgetTolerance); }

std::optional<std::uint32_t> best_constant_pair(const ScheduleTables& tables, double budget) {
  std::vector<double> calls(tables.kernels(), 0.0);
  for (const auto kernel : tables.sequence()) calls[kernel] += 1.0;
  std::optional<std::uint32_t> best;
  Cost least;
  for (std::uint32_t original = 0; original < tables.pairs(); ++original) {
    const auto pair = tables.sorted(original);
    Cost total;
    bool is_measured = true;
    for (std::uint32_t kernel = 0; kernel < tables.kernels() && is_measured; ++kernel) {
      if (calls[kernel] == 0.0) continue;
      const auto at = std::size_t{kernel} * tables.pairs() + pair;
      is_measured = std::ranges::find(tables.missing(kernel), pair) == tables.missing(kernel).end();
      total += calls[kernel] * Cost{Seconds(tables.times()[at]), Joules(tables.energies()[at])};
    }
    if (!is_measured || total.time.in_si() > budget) continue;
    const bool is_better = !best || total.energy < least.energy ||
                           (total.energy == least.energy && total.time < least.time);
    if (is_better) best = pair, least = total;
  }
  return best;
}

Result<BudgetOptimum> least_energy_within_budget(const ScheduleTables& tables, Seconds budget,
                                                 const ScheduleLimits& limits) {
  return BudgetSearch(tables, budget, limits).run();
}

}  // namespace negawatt::plan
