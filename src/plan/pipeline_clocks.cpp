// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_clocks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/result.hpp"
#include "plan/pipeline_graph.hpp"
#include "solve/choice.hpp"
#include "solve/hull.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::plan {
namespace {

// Sweeps over the whole plan until none of them finds slack; two nearly always do.
constexpr int kMostSweeps = 8;
// Below the tolerance of a deadline, so that a plan that rounds twice still keeps it.
constexpr double kRounding = solve::kBudgetTolerance / 4;

Cost cost_of(const ClockOption& option) { return {Seconds(option.time), Joules(option.energy)}; }

/// Moves a choice on to the slowest, so cheapest, option that fits into `window`; true if it moved.
bool slow_down(std::uint16_t& choice, const ClockOptions& options, double window) {
  std::size_t k = choice;
  while (k + 1 < options.size() && options[k + 1].time <= window) ++k;
  return std::exchange(choice, static_cast<std::uint16_t>(k)) != k;
}

std::uint16_t slowest_within(const ClockOptions& options, double window) {
  const auto above = std::ranges::upper_bound(options, window, {}, &ClockOption::time);
  return static_cast<std::uint16_t>(
      std::max<std::ptrdiff_t>(0, std::distance(options.begin(), above) - 1));
}

}  // namespace

ClockOptions efficient_options(std::span<const trace::PassOption> options, Watts blocking) {
  std::vector<Cost> costs;
  costs.reserve(options.size());
  for (const auto& option : options)
    costs.push_back({option.time, option.energy - blocking * option.time});
  ClockOptions efficient;
  for (const auto k : solve::pareto_options(costs))
    efficient.push_back({costs[k].time.in_si(), costs[k].energy.in_si(), options[k].mhz});
  return efficient;
}

std::vector<Cost> convex_options(const ClockOptions& options) {
  std::vector<Cost> costs;
  costs.reserve(options.size());
  for (const auto& option : options) costs.push_back(cost_of(option));
  std::vector<Cost> hull;
  for (const auto k : solve::hull_options(costs)) hull.push_back(costs[k]);
  return hull;
}

PassClockPlanner::PassClockPlanner(const std::vector<PipelineInstruction>& instructions,
                                   std::vector<ClockOptions> by_kind)
    : instructions_(instructions),
      by_kind_(std::move(by_kind)),
      end_(instructions.size() + 1, 0.0),
      start_(instructions.size() + 1, 0.0) {
  const auto none = static_cast<std::uint32_t>(size());
  for (auto& instruction : instructions_) {
    for (auto* neighbour : {&instruction.before_on_stage, &instruction.before_in_data,
                            &instruction.after_on_stage, &instruction.after_in_data})
      if (*neighbour == kNoInstruction) *neighbour = none;
  }
}

double PassClockPlanner::makespan(const PassClocks& plan) {
  double last = 0.0;
  for (std::size_t i = 0; i < size(); ++i) {
    end_[i] = ready(i) + options(i)[plan[i]].time;
    last = std::max(last, end_[i]);
  }
  return last;
}

double PassClockPlanner::energy(const PassClocks& plan) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < size(); ++i) sum += options(i)[plan[i]].energy;
  return sum;
}

PassClocks PassClockPlanner::rounded_forward(std::span<const double> end) {
  PassClocks plan(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const double begin = ready(i);
    plan[i] = slowest_within(options(i), end[i] * (1.0 + kRounding) - begin);
    end_[i] = begin + options(i)[plan[i]].time;
  }
  return plan;
}

PassClocks PassClockPlanner::rounded_backward(std::span<const double> start, double deadline) {
  PassClocks plan(size());
  start_[size()] = deadline;
  const double tolerance = deadline * kRounding;
  for (auto i = size(); i-- > 0;) {
    const double finish = due(i);
    plan[i] = slowest_within(options(i), finish - start[i] + tolerance);
    start_[i] = finish - options(i)[plan[i]].time;
  }
  return plan;
}

void PassClockPlanner::spend_slack(PassClocks& plan, double deadline) {
  deadline *= 1.0 + kRounding;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const bool slowed =
        sweep % 2 == 0 ? slow_backward(plan, deadline) : slow_forward(plan, deadline);
    if (!slowed) break;
  }
}

bool PassClockPlanner::slow_forward(PassClocks& plan, double deadline) {
  start_[size()] = deadline;
  for (auto i = size(); i-- > 0;) start_[i] = due(i) - options(i)[plan[i]].time;
  bool slowed = false;
  for (std::size_t i = 0; i < size(); ++i) {
    const double begin = ready(i);
    slowed |= slow_down(plan[i], options(i), due(i) - begin);
    end_[i] = begin + options(i)[plan[i]].time;
  }
  return slowed;
}

bool PassClockPlanner::slow_backward(PassClocks& plan, double deadline) {
  (void)makespan(plan);  // sets end_
  start_[size()] = deadline;
  bool slowed = false;
  for (auto i = size(); i-- > 0;) {
    const double finish = due(i);
    slowed |= slow_down(plan[i], options(i), finish - ready(i));
    start_[i] = finish - options(i)[plan[i]].time;
  }
  return slowed;
}

}  // namespace negawatt::plan
