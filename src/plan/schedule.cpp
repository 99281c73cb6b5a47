// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "plan/schedule_budget.hpp"
#include "plan/schedule_cycle.hpp"
#include "plan/schedule_delay.hpp"
#include "plan/schedule_dp.hpp"
#include "plan/schedule_tables.hpp"

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Result<ScheduleTables> tables_within(const ScheduleProblem& problem, const ScheduleLimits& limits) {
  NW_TRY(auto tables, ScheduleTables::build(problem));
  const auto bytes = ScheduleDp::bytes_for(tables);
  if (bytes > limits.bytes)
    return failure(Code::invalid,
                   fmt::format("schedule: {} invocations at {} clock pairs with {} latencies need "
                               "{} MiB, the limit is {} MiB",
                               tables.invocations(), tables.pairs(), tables.latencies().size(),
                               bytes >> 20U, limits.bytes >> 20U));
  return tables;
}

Schedule schedule_of(const ScheduleTables& tables, const Assignment& assignment) {
  const auto cost = tables.assess(assignment);
  NW_ASSERT(cost.broken.empty());
  Schedule schedule;
  schedule.total = {Seconds(cost.time), Joules(cost.energy)};
  schedule.switches = cost.switches;
  for (std::uint32_t i = 0; i < assignment.size(); ++i) {
    if (i == 0 || assignment[i] != assignment[i - 1])
      schedule.segments.push_back({i, i, tables.original(assignment[i])});
    schedule.segments.back().last = i;
  }
  return schedule;
}

/// `bound` and `value` of an objective without budget.
Schedule with_scaled_bound(Schedule schedule, double bound, double value) {
  const double share = value > 0.0 ? std::min(1.0, bound / value) : 1.0;
  schedule.lower_bound = schedule.total.energy * share;
  return schedule;
}

tl::unexpected<Error> no_schedule() {
  return failure(Code::infeasible,
                 "schedule: no sequence of clock changes fits the latencies and the pairs each "
                 "kernel was measured at");
}

}  // namespace

Result<Schedule> evaluate(const ScheduleProblem& problem,
                          std::span<const ScheduleSegment> segments) {
  NW_TRY(const auto tables, ScheduleTables::build(problem));
  Assignment assignment;
  assignment.reserve(tables.invocations());
  for (const auto& segment : segments) {
    if (segment.first != assignment.size() || segment.last < segment.first ||
        segment.last >= tables.invocations() || segment.pair >= tables.pairs())
      return failure(
          Code::invalid,
          fmt::format("schedule: segment {}..{} at pair {} does not follow invocation {} of {}",
                      segment.first, segment.last, segment.pair, assignment.size(),
                      tables.invocations()));
    assignment.resize(std::size_t{segment.last} + 1,
                      static_cast<std::uint16_t>(tables.sorted(segment.pair)));
  }
  if (assignment.size() != tables.invocations())
    return failure(Code::invalid, fmt::format("schedule: the segments end at invocation {} of {}",
                                              assignment.size(), tables.invocations()));
  const auto cost = tables.assess(assignment);
  if (!cost.broken.empty()) return failure(Code::invalid, "schedule: " + cost.broken);
  return schedule_of(tables, assignment);
}

Result<std::optional<Schedule>> best_static_schedule(const ScheduleProblem& problem,
                                                     Seconds budget) {
  NW_TRY(const auto tables, ScheduleTables::build(problem));
  const auto pair = best_constant_pair(tables, longest_within(budget));
  if (!pair) return std::optional<Schedule>();
  auto schedule =
      schedule_of(tables, Assignment(tables.invocations(), static_cast<std::uint16_t>(*pair)));
  schedule.lower_bound = schedule.total.energy;
  return std::optional(std::move(schedule));
}

Result<Schedule> least_energy_schedule(const ScheduleProblem& problem, Seconds budget,
                                       ScheduleLimits limits) {
  NW_TRY(const auto tables, tables_within(problem, limits));
  NW_TRY(const auto optimum, least_energy_within_budget(tables, budget, limits));
  auto schedule = schedule_of(tables, optimum.assignment);
  NW_ASSERT(schedule.total.time.in_si() <= longest_within(budget));
  schedule.lower_bound = Joules(std::min(optimum.bound, schedule.total.energy.in_si()));
  schedule.price = Watts(optimum.price);
  return schedule;
}

Result<Schedule> least_weighted_schedule(const ScheduleProblem& problem, double energy_weight,
                                         double time_weight, ScheduleLimits limits) {
  NW_ASSERT(energy_weight >= 0.0 && time_weight >= 0.0 && energy_weight + time_weight > 0.0);
  NW_TRY(const auto tables, tables_within(problem, limits));
  CycleSolver solver(tables, limits);
  const auto optimum =
      solver.minimise({.energy = energy_weight, .time = time_weight}, kNever, Closing::exact);
  if (!optimum.assignment) return no_schedule();
  return with_scaled_bound(schedule_of(tables, *optimum.assignment), optimum.bound, optimum.value);
}

Result<Schedule> least_energy_delay_schedule(const ScheduleProblem& problem, int exponent,
                                             ScheduleLimits limits) {
  NW_ASSERT(exponent >= 1);
  NW_TRY(const auto tables, tables_within(problem, limits));
  const auto optimum = least_energy_delay_product(tables, exponent, limits);
  if (!optimum) return no_schedule();
  return with_scaled_bound(schedule_of(tables, optimum->assignment), optimum->bound,
                           optimum->value);
}

}  // namespace negawatt::plan
