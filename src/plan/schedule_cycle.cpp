// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_cycle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Sums of the same numbers in another order differ by less.
constexpr double kRounding = 1e-12;
// A cut in a stretch that is long enough seldom needs to move again.
constexpr int kMostMoves = 3;
// Pairs tried at the cut by a quick closing, and the relative gap that ends it.
constexpr double kQuickGap = 1e-5;
constexpr int kQuickPairs = 2;

/// Before the invocation that takes longest at its fastest pair: it absorbs most of a latency.
std::uint32_t longest_invocation(const ScheduleTables& tables) {
  std::vector<std::int64_t> fastest(tables.kernels(), 0);
  for (std::uint32_t kernel = 0; kernel < tables.kernels(); ++kernel) {
    const auto* row = tables.ticks().data() + std::size_t{kernel} * tables.pairs();
    fastest[kernel] = *std::max_element(row, row + tables.pairs());
    for (std::uint32_t pair = 0; pair < tables.pairs(); ++pair)
      if (row[pair] > 0) fastest[kernel] = std::min(fastest[kernel], row[pair]);
  }
  const auto& sequence = tables.sequence();
  return static_cast<std::uint32_t>(
      std::ranges::max_element(sequence, {}, [&](auto kernel) { return fastest[kernel]; }) -
      sequence.begin());
}

/// Middle of the stretch of equal pairs that lasts longest around the cycle.
std::uint32_t middle_of_longest_stretch(const ScheduleTables& tables,
                                        const Assignment& assignment) {
  const auto n = tables.invocations();
  const auto behind_change = [&](std::uint32_t i) {
    return assignment[i] != assignment[i == 0 ? n - 1 : i - 1];
  };
  std::uint32_t start = 0;
  while (start < n && !behind_change(start)) ++start;
  if (start == n) return 0;
  std::int64_t longest = -1;
  std::int64_t dwell = 0;
  std::pair<std::uint32_t, std::uint32_t> best, stretch{start, start};
  for (std::uint32_t at = start; at < start + n; ++at) {
    if (behind_change(at % n)) stretch.first = at, dwell = 0;
    dwell += tables.ticks()[tables.cell(at % n, assignment[at % n])];
    stretch.second = at + 1;
    if (dwell > longest) longest = dwell, best = stretch;
  }
  std::int64_t half = 0;
  auto at = best.first;
  while (at + 1 < best.second && 2 * half < longest) {
    half += tables.ticks()[tables.cell(at % n, assignment[at % n])];
    ++at;
  }
  return at % n;
}

}  // namespace

CycleSolver::CycleSolver(const ScheduleTables& tables, const ScheduleLimits& limits)
    : tables_(tables),
      cut_tables_(tables.starting_at(longest_invocation(tables))),
      dp_(cut_tables_),
      cut_(longest_invocation(tables)),
      steps_per_run_(std::size_t{tables.invocations()} * tables.pairs() *
                     tables.latencies().size()),
      steps_left_(limits.steps),
      gap_(limits.gap) {}

void CycleSolver::run(Weights weights, DpStart start) {
  steps_left_ -= std::min(steps_left_, steps_per_run_);
  dp_.run(cut_tables_, weights, start);
}

void CycleSolver::cut_at(std::uint32_t invocation) {
  steps_left_ -= std::min(steps_left_, steps_per_run_);
  cut_ = invocation;
  cut_tables_ = tables_.starting_at(invocation);
  dp_ = ScheduleDp(cut_tables_);
}

bool CycleSolver::move_cut() {
  if (relaxed_.empty() || !has_steps()) return false;
  const auto middle = middle_of_longest_stretch(cut_tables_, relaxed_);
  if (middle == 0) return false;
  cut_at((cut_ + middle) % tables_.invocations());
  return true;
}

void CycleSolver::offer(Search& search, const Assignment& from_cut) const {
  const auto cost = cut_tables_.assess(from_cut);
  if (!cost.broken.empty()) return;
  const double value = search.weights.energy * cost.energy + search.weights.time * cost.time;
  if (value >= search.best.value) return;
  search.best.value = value;
  auto& assignment = search.best.assignment.emplace(from_cut);
  std::ranges::rotate(assignment, assignment.end() - cut_);
}

void CycleSolver::relax(Search& search) {
  run(search.weights, {});
  double constant = kNever, ending = kNever;
  std::uint32_t constant_pair = 0, ending_pair = 0;
  for (std::uint32_t pair = 0; pair < tables_.pairs(); ++pair) {
    if (dp_.constant_value(pair) < constant)
      constant = dp_.constant_value(pair), constant_pair = pair;
    if (dp_.end_value(pair) < ending) ending = dp_.end_value(pair), ending_pair = pair;
  }
  search.best.bound = std::max(search.best.bound, std::min(constant, ending));
  relaxed_.clear();
  if (constant < search.best.value) {
    relaxed_.assign(tables_.invocations(), static_cast<std::uint16_t>(constant_pair));
    offer(search, relaxed_);
  }
  if (ending < constant) {
    relaxed_ = dp_.walk(cut_tables_, ending_pair, dp_.last_change(cut_tables_, ending_pair));
    offer(search, relaxed_);
  }
}

CycleOptimum CycleSolver::minimise(Weights weights, double known, Closing closing) {
  Search search{.weights = weights, .best = {.bound = -kNever, .value = known}};
  for (int moves = 0;; ++moves) {
    relax(search);
    if (search.best.value < kNever)
      search.tolerance = std::max(kRounding, gap_) * std::abs(search.best.value);
    if (search.is_closed_by(search.best.bound) || closing != Closing::exact) break;
    if (moves == kMostMoves || !move_cut()) break;
  }
  if (!relaxed_.empty()) search.best.bound_time = cut_tables_.assess(relaxed_).time;
  if (!search.is_closed_by(search.best.bound)) {
    if (closing == Closing::quick)
      close_quickly(search);
    else if (closing == Closing::exact)
      search.best.bound = std::max(search.best.bound, close_exactly(search));
  }
  search.best.bound = std::min(search.best.bound, search.best.value);
  return search.best;
}

std::vector<std::pair<double, std::uint32_t>> CycleSolver::ends_by_value() const {
  std::vector<std::pair<double, std::uint32_t>> ends;
  ends.reserve(tables_.pairs());
  for (std::uint32_t pair = 0; pair < tables_.pairs(); ++pair)
    ends.emplace_back(dp_.end_value(pair), pair);
  std::ranges::sort(ends);
  return ends;
}

void CycleSolver::close_quickly(Search& search) {
  const auto ends = ends_by_value();
  for (int tries = 0; tries < std::min(kQuickPairs, static_cast<int>(ends.size())); ++tries) {
    const auto [relaxed, pair] = ends[static_cast<std::size_t>(tries)];
    if (search.is_closed_by(relaxed) || !has_steps()) return;
    run(search.weights, {.pair = pair});
    const auto window = held_before_cut(pair);
    if (!window.is_long_enough) continue;
    const double held = offer_held(search, pair, window.first);
    if (held - search.best.bound <= kQuickGap * held) return;
  }
}

std::optional<Assignment> CycleSolver::divided(Weights weights, LaterTime later,
                                               std::uint32_t pair) {
  steps_left_ -= std::min(steps_left_, steps_per_run_);
  dp_.run(cut_tables_, weights, {.pair = pair}, later);
  const auto window = held_before_cut(pair);
  const double value = dp_.end_value_up_to(pair, window.first);
  if (!window.is_long_enough || value == kNever) return std::nullopt;
  auto last = window.first;
  while (dp_.end_value_from(pair, last) > value) --last;
  auto assignment = dp_.walk(cut_tables_, pair, last);
  if (!cut_tables_.assess(assignment).broken.empty()) return std::nullopt;
  std::ranges::rotate(assignment, assignment.end() - cut_);
  return assignment;
}

double CycleSolver::close_exactly(Search& search) {
  double bound = kNever;
  for (const auto& [relaxed, pair] : ends_by_value()) {
    if (search.is_closed_by(relaxed)) return std::min(bound, relaxed);
    bound = std::min(bound, has_steps() ? settle(search, pair) : relaxed);
  }
  return bound;
}

CycleSolver::Window CycleSolver::held_before_cut(std::uint32_t pair) const {
  const auto needed = cut_tables_.latencies().back();
  Window window{.first = tables_.invocations()};
  std::int64_t held = 0;
  while (window.first > 0 && held < needed && cut_tables_.is_measured(window.first - 1, pair)) {
    --window.first;
    held += cut_tables_.ticks()[cut_tables_.cell(window.first, pair)];
  }
  window.is_long_enough = held >= needed;
  return window;
}

double CycleSolver::offer_held(Search& search, std::uint32_t pair, std::uint32_t latest) {
  const double value = dp_.end_value_up_to(pair, latest);
  if (search.is_closed_by(value)) return value;
  auto last = latest;
  while (dp_.end_value_from(pair, last) > value) --last;
  offer(search, dp_.walk(cut_tables_, pair, last));
  return value;
}

double CycleSolver::settle(Search& search, std::uint32_t pair) {
  run(search.weights, {.pair = pair});
  const auto window = held_before_cut(pair);
  if (!window.is_long_enough) return settle_short(search, pair, std::max(window.first, 1U));
  // Both read the same run, settle_short before it starts others.
  const double held = offer_held(search, pair, window.first);
  return std::min(held, settle_short(search, pair, window.first + 1));
}

double CycleSolver::settle_short(Search& search, std::uint32_t pair, std::uint32_t first) {
  const auto n = tables_.invocations();
  std::vector<double> bounds;
  for (auto boundary = first; boundary <= n; ++boundary)
    bounds.push_back(dp_.end_value_from(pair, boundary));
  std::vector<std::int64_t> credit(bounds.size(), 0);
  for (auto at = bounds.size(); at-- > 1;)
    credit[at - 1] =
        credit[at] +
        cut_tables_.ticks()[cut_tables_.cell(first + static_cast<std::uint32_t>(at) - 1, pair)];
  double settled = kNever;
  while (true) {
    const auto least = std::ranges::min_element(bounds);
    if (least == bounds.end()) return settled;
    if (search.is_closed_by(*least) || !has_steps()) return std::min(settled, *least);
    const auto at = static_cast<std::size_t>(least - bounds.begin());
    // Less credit only forbids more: the values bound every later change at the cut as well, and
    // are exact for this one.
    run(search.weights, {.pair = pair, .credit = credit[at]});
    for (auto later = at; later < bounds.size(); ++later)
      bounds[later] = std::max(bounds[later],
                               dp_.end_value_from(pair, first + static_cast<std::uint32_t>(later)));
    settled = std::min(settled, bounds[at]);
    if (!search.is_closed_by(bounds[at]))
      offer(search, dp_.walk(cut_tables_, pair, first + static_cast<std::uint32_t>(at)));
    bounds[at] = kNever;
  }
}

}  // namespace negawatt::plan
