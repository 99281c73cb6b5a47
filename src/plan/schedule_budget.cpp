// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_budget.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "plan/schedule_cycle.hpp"
#include "plan/schedule_labels.hpp"
#include "plan/schedule_splice.hpp"
#include "solve/choice.hpp"

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// A dual bound this close to its optimum is not worth another dynamic program, nor is, for many
// states, a gap this small another round of improvements.
constexpr double kDualGap = 1e-7;
constexpr double kLargeDualGap = 3e-6;
constexpr double kLargeGap = 3e-5;
// What the segment across the cut may owe before the cut is moved.
constexpr double kWrapGap = 1e-6;
// Up to this many invocations x pairs, every dynamic program is settled exactly at the cut.
constexpr std::size_t kFewStates = 5'000;
// Up to this many, the last one is, and labels close the gap.
constexpr std::size_t kLabelStates = 400'000;
// A long iteration's price is looked for near that of its first part of one in so many.
constexpr std::uint32_t kSampleShare = 16;
constexpr std::array kSamplePrices = {0.995, 1.005};
// Prices around the dual's: schedules there are material for splicing.
constexpr std::array kNearPrices = {1.0, 1.001, 0.999, 1.01, 0.99, 1.05, 0.95};
// A schedule divided between two prices, this far from the dual's to either side.
constexpr std::array kDividedPrices = {0.01, 0.003, 0.03, 0.1};
// Besides the dual's own price, labels are pruned at prices for much and for little time left.
constexpr std::array kLabelPrices = {1.0, 0.9, 1.1};

struct KnownSchedule {
  Assignment assignment;
  double time = 0.0;
  double energy = kNever;
};

/// A walk of the relaxation or a schedule: energy + price * time bounds the dual from above.
struct Plane {
  double time = 0.0;
  double energy = kNever;
};

/// Life of one search: the dual bound first, then better schedules, then both at once by labels.
class BudgetSearch {
 public:
  BudgetSearch(const ScheduleTables& tables, Seconds budget, const ScheduleLimits& limits)
      : tables_(tables),
        limits_(limits),
        budget_(budget.in_si()),
        longest_(longest_within(budget)),
        states_(std::size_t{tables.invocations()} * tables.pairs()),
        constants_(constant_costs(tables)),
        solver_(tables, limits) {}

  Result<BudgetOptimum> run() {
    NW_CHECK(find_schedule_within());
    find_schedule_over();
    if (!is_small()) start_near_price();
    solve_dual();
    collect_near();
    const bool owes = wrap_gap_ > kWrapGap * best_.energy;
    if (!is_good_enough() && owes && solver_.move_cut()) {
      planes_.clear();  // they were walks of the relaxation at the old cut
      solve_dual();
      collect_near();
    }
    if (!is_closed() && is_small()) minimise(price_, Closing::exact);
    splice_schedules();
    if (!is_good_enough()) divide_iteration();
    splice_schedules();
    if (is_small() && label_bytes_for(tables_, kLabelPrices.size()) <= limits_.bytes)
      close_by_labels();
    return BudgetOptimum{best_.assignment, std::min(bound_, best_.energy), price_};
  }

 private:
  [[nodiscard]] double gap() const { return (best_.energy - bound_) / best_.energy; }
  [[nodiscard]] bool is_closed() const { return !(gap() > limits_.gap); }
  [[nodiscard]] bool is_good_enough() const {
    return gap() <= (is_small() ? limits_.gap : kLargeGap);
  }
  [[nodiscard]] bool is_small() const { return states_ <= kLabelStates; }
  [[nodiscard]] bool keeps_budget(double time) const { return time <= longest_; }

  Status find_schedule_within();
  void find_schedule_over();
  /// Planes near the price that a sample of the iteration would pay.
  void start_near_price();
  /// Least energy + price * time; remembers the schedule and the bound it gives.
  CycleOptimum minimise(double price, Closing closing);
  /// Best known planes near the present price, from schedules.
  void choose_planes();
  void solve_dual();
  /// Schedules at prices near the dual's.
  void collect_near();
  /// Combines all schedules met with the best, one after the other.
  void splice_schedules();
  /// Schedules that pay a higher price of time up to some invocation and a lower one behind it:
  /// many alike layers all change sides at the dual's price, and some of them must not.
  void divide_iteration();
  void divide_at(double spread, std::uint32_t pair);
  void close_by_labels();
  /// Remembers a schedule.
  const KnownSchedule& take(const Assignment& assignment);

  const ScheduleTables& tables_;
  const ScheduleLimits& limits_;
  double budget_;
  double longest_;
  std::size_t states_;
  std::vector<std::optional<Cost>> constants_;
  CycleSolver solver_;

  KnownSchedule best_;  // least energy known within the budget
  std::vector<KnownSchedule> met_;
  std::size_t spliced_ = 0;    // so many of them are in best_ already
  Plane within_;               // of the dual, from within the budget
  Plane over_;                 // and from beyond it
  std::vector<Plane> planes_;  // other walks of the relaxation
  double bound_ = 0.0;
  double price_ = 0.0;
  double wrap_gap_ = 0.0;  // what it took to make the last relaxation's walk valid
};

const KnownSchedule& BudgetSearch::take(const Assignment& assignment) {
  const auto cost = tables_.assess(assignment);
  NW_ASSERT(cost.broken.empty());
  met_.push_back({assignment, cost.time, cost.energy});
  if (keeps_budget(cost.time) && cost.energy < best_.energy) best_ = met_.back();
  return met_.back();
}

CycleOptimum BudgetSearch::minimise(double price, Closing closing) {
  if (states_ <= kFewStates) closing = Closing::exact;
  auto found = solver_.minimise({.energy = 1.0, .time = price}, kNever, closing);
  if (found.assignment) {
    const double time = take(*found.assignment).time;
    if (closing == Closing::exact) found.bound_time = time;
  }
  wrap_gap_ = found.value - found.bound;
  if (found.bound - price * budget_ > bound_) {
    bound_ = found.bound - price * budget_;
    price_ = price;
  }
  return found;
}

Status BudgetSearch::find_schedule_within() {
  if (const auto pair = best_constant_pair(tables_, longest_)) {
    take(Assignment(tables_.invocations(), static_cast<std::uint16_t>(*pair)));
    return {};
  }
  const auto fastest = solver_.minimise({.energy = 0.0, .time = 1.0}, kNever, Closing::exact);
  if (!fastest.assignment)
    return failure(Code::infeasible,
                   "schedule: no sequence of clock changes fits the latencies and the pairs each "
                   "kernel was measured at");
  const double time = take(*fastest.assignment).time;
  if (keeps_budget(time)) return {};
  return failure(
      Code::infeasible,
      fmt::format("schedule: the fastest schedule takes {:.6g} s, the budget is {:.6g} s", time,
                  budget_));
}

void BudgetSearch::find_schedule_over() {
  const bool has_constant = std::ranges::any_of(
      constants_, [&](const auto& cost) { return cost && !keeps_budget(cost->time.in_si()); });
  if (has_constant) return;
  const auto found = minimise(0.0, Closing::quick);
  planes_.push_back({found.bound_time, found.bound});
}

void BudgetSearch::start_near_price() {
  const auto sample = tables_.first(tables_.invocations() / kSampleShare);
  const auto sampled = constant_costs(sample);
  const auto pair = best_constant_pair(tables_, longest_);
  if (!pair) return;
  const auto& of_sample = sampled[*pair];
  const auto& of_all = constants_[*pair];
  if (!of_sample || !of_all) return;
  const double share = of_sample->time / of_all->time;
  BudgetSearch coarse(sample, Seconds(share * budget_), limits_);
  if (!coarse.find_schedule_within()) return;
  coarse.find_schedule_over();
  coarse.solve_dual();
  for (const double factor : kSamplePrices) {
    const double price = factor * coarse.price_;
    const auto found = minimise(price, Closing::none);
    planes_.push_back({found.bound_time, found.bound - price * found.bound_time});
  }
}

void BudgetSearch::choose_planes() {
  within_ = over_ = {};
  const auto offer = [&](const Plane& plane) {
    auto& side = keeps_budget(plane.time) ? within_ : over_;
    if (plane.energy + price_ * plane.time < side.energy + price_ * side.time) side = plane;
  };
  for (const auto& cost : constants_)
    if (cost) offer({cost->time.in_si(), cost->energy.in_si()});
  for (const auto& known : met_) offer({known.time, known.energy});
  for (const auto& plane : planes_) offer(plane);
}

void BudgetSearch::solve_dual() {
  choose_planes();
  if (over_.energy == kNever) return;
  constexpr int kMostPlanes = 100;
  for (int planes = 0; planes < kMostPlanes && solver_.has_steps() && !is_closed(); ++planes) {
    const double price = (within_.energy - over_.energy) / (over_.time - within_.time);
    if (!(price > 0.0)) return;
    const double model = over_.energy + price * over_.time;
    const auto found = minimise(price, Closing::none);
    if (model - found.bound <= (is_small() ? kDualGap : kLargeDualGap) * best_.energy) return;
    (keeps_budget(found.bound_time) ? within_ : over_) = {found.bound_time,
                                                          found.bound - price * found.bound_time};
  }
}

void BudgetSearch::collect_near() {
  const double price = price_;
  for (const double factor : kNearPrices) {
    if (is_good_enough() || !solver_.has_steps()) return;
    minimise(factor * price, Closing::quick);
    if (!is_small()) splice_schedules();
    if (factor == 1.0 && price == 0.0) return;
  }
}

void BudgetSearch::divide_iteration() {
  const auto pair = best_.assignment[solver_.cut()];
  for (const double spread : kDividedPrices) {
    if (is_good_enough() || price_ == 0.0) return;
    divide_at(spread, pair);
  }
}

void BudgetSearch::divide_at(double spread, std::uint32_t pair) {
  std::uint32_t low = 0, high = tables_.invocations();
  while (low < high && solver_.has_steps()) {
    const auto from = low + (high - low) / 2;
    const auto divided = solver_.divided({.energy = 1.0, .time = price_ * (1.0 + spread)},
                                         {.from = from, .time = price_ * (1.0 - spread)}, pair);
    if (!divided) return;
    if (keeps_budget(take(*divided).time))
      high = from;
    else
      low = from + 1;
  }
}

void BudgetSearch::splice_schedules() {
  // The latest first: they are nearest to the dual's price. By index: take() appends.
  for (std::size_t at = met_.size(); at-- > spliced_ && !is_closed();) {
    const auto joined = splice(tables_, best_.assignment, met_[at].assignment, longest_);
    if (joined) take(*joined);
  }
  spliced_ = met_.size();
}

void BudgetSearch::close_by_labels() {
  LabelRequest request{.budget = budget_, .longest = longest_, .most_labels = limits_.labels};
  for (const double factor : kLabelPrices)
    if (price_ > 0.0 || request.prices.empty()) request.prices.push_back(factor * price_);
  // Energies just above the bound first: few labels, and what they rule out raises the bound.
  double step = std::max((best_.energy - bound_) / 256.0, limits_.gap * best_.energy);
  for (; !is_closed(); step *= 4.0) {
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
  }
}

}  // namespace

double longest_within(Seconds budget) { return budget.in_si() * (1.0 + solve::kBudgetTolerance); }

std::vector<std::optional<Cost>> constant_costs(const ScheduleTables& tables) {
  std::vector<double> calls(tables.kernels(), 0.0);
  for (const auto kernel : tables.sequence()) calls[kernel] += 1.0;
  std::vector<std::optional<Cost>> totals(tables.pairs(), Cost{});
  for (std::uint32_t kernel = 0; kernel < tables.kernels(); ++kernel) {
    if (calls[kernel] == 0.0) continue;
    for (std::uint32_t pair = 0; pair < tables.pairs(); ++pair) {
      const auto at = std::size_t{kernel} * tables.pairs() + pair;
      if (totals[pair])
        *totals[pair] +=
            calls[kernel] * Cost{Seconds(tables.times()[at]), Joules(tables.energies()[at])};
    }
    for (const auto pair : tables.missing(kernel)) totals[pair].reset();
  }
  return totals;
}

std::optional<std::uint32_t> best_constant_pair(const ScheduleTables& tables, double longest) {
  const auto totals = constant_costs(tables);
  std::optional<std::uint32_t> best;
  Cost least;
  for (std::uint32_t original = 0; original < tables.pairs(); ++original) {
    const auto pair = tables.sorted(original);
    const auto& total = totals[pair];
    if (!total || total->time.in_si() > longest) continue;
    const bool is_better =
        !best || std::pair(total->energy, total->time) < std::pair(least.energy, least.time);
    if (is_better) best = pair, least = *total;
  }
  return best;
}

Result<BudgetOptimum> least_energy_within_budget(const ScheduleTables& tables, Seconds budget,
                                                 const ScheduleLimits& limits) {
  return BudgetSearch(tables, budget, limits).run();
}

}  // namespace negawatt::plan
