// SPDX-License-Identifier: Apache-2.0
//
// Least energy within a budget: against complete enumeration, and by laws it must obey.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/schedule.hpp"
#include "solve/choice.hpp"
#include "tests/schedule_instances.hpp"

namespace negawatt::plan {
namespace {

using testing::Instances;
using testing::InstanceShape;

constexpr double kNever = std::numeric_limits<double>::infinity();

double least_by_enumeration(const ScheduleProblem& problem, Seconds budget) {
  return testing::brute_force(
      problem, [&](Cost cost) { return cost.time <= budget ? cost.energy.in_si() : kNever; });
}

/// Returns whether the problem has a solution.
bool expect_optimal(const ScheduleProblem& problem, Seconds budget) {
  const double least = least_by_enumeration(problem, budget);
  const auto schedule = least_energy_schedule(problem, budget);
  if (!std::isfinite(least)) {
    EXPECT_FALSE(schedule);
    EXPECT_EQ(schedule.error().code, Code::infeasible);
    return false;
  }
  EXPECT_TRUE(schedule) << schedule.error().message;
  if (!schedule) return false;
  EXPECT_LE(schedule->lower_bound.in_si(), least * (1 + 1e-9));
  EXPECT_NEAR(schedule->total.energy.in_si(), least, least * 1e-9);
  EXPECT_LE(gap_pct(schedule->total.energy, schedule->lower_bound), 1e-6);
  EXPECT_LE(schedule->total.time, budget);
  const auto checked = evaluate(problem, schedule->segments);
  EXPECT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->total.energy, schedule->total.energy);
  EXPECT_EQ(checked->switches, schedule->switches);
  return true;
}

void expect_optimal_on(Instances instances, int rounds, InstanceShape shape) {
  int solved = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    shape.longest_latency = round % 2 == 0 ? 6 : 20;
    const auto problem = instances.next(shape);
    const auto n = static_cast<int>(problem.sequence.size());
    if (expect_optimal(problem, Seconds(instances.uniform(2 * n, 6 * n)))) ++solved;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(solved, rounds / 2);
}

TEST(ScheduleBudget, IsProvenOptimalOnTinyCycles) {
  expect_optimal_on(Instances(3), 1000, {.most_invocations = 6});
  expect_optimal_on(Instances(4), 100, {.most_invocations = 7, .missing_percent = 40});
}

TEST(ScheduleBudget, IsProvenOptimalOnLongerCyclesOfThreePairs) {
  expect_optimal_on(Instances(5), 40, {.most_invocations = 10, .cores = 3, .memories = 1});
}

TEST(ScheduleBudget, IsProvenOptimalWhenOnlyTheMemoryClockChanges) {
  expect_optimal_on(Instances(6), 60, {.most_invocations = 9, .cores = 1, .memories = 3});
}

ScheduleProblem with_latencies(ScheduleProblem problem, double factor) {
  for (auto* domain : {&problem.switching.core, &problem.switching.memory}) {
    domain->any.latency *= factor;
    for (auto& target : domain->targets) target.cost.latency *= factor;
  }
  return problem;
}

double energy_of(const ScheduleProblem& problem, Seconds budget) {
  const auto schedule = least_energy_schedule(problem, budget);
  return schedule ? schedule->total.energy.in_si() : kNever;
}

TEST(ScheduleBudget, LongerLatencyNeverSavesEnergy) {
  Instances instances(7);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const auto problem = instances.next(
        {.most_invocations = 12, .longest_latency = 8, .per_target = round % 2 == 0});
    const auto n = static_cast<double>(problem.sequence.size());
    double before = 0.0;
    for (const double factor : {0.0, 0.25, 0.5, 1.0, 2.0, 4.0}) {
      const double energy = energy_of(with_latencies(problem, factor), Seconds(4.5 * n));
      EXPECT_GE(energy, before * (1 - 1e-7)) << "latencies times " << factor;
      before = energy;
    }
  }
}

TEST(ScheduleBudget, WithoutLatencyEqualsAFreeChoicePerInvocation) {
  Instances instances(8);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const auto problem = instances.next(
        {.most_invocations = 30, .cores = 3, .longest_latency = 0, .energies = false});
    solve::ChoiceProblem choice;
    for (const auto kernel : problem.sequence) {
      std::vector<Cost> options;
      for (std::size_t pair = 0; pair < problem.pairs.size(); ++pair)
        if (const auto& cost = problem.costs[kernel * problem.pairs.size() + pair])
          options.push_back(*cost);
      choice.add_item(options);
    }
    const Seconds budget(4.0 * static_cast<double>(problem.sequence.size()));
    const auto chosen = solve::least_energy_within(choice, budget);
    const auto schedule = least_energy_schedule(problem, budget);
    ASSERT_EQ(chosen.has_value(), schedule.has_value());
    if (!chosen) continue;
    EXPECT_NEAR(schedule->total.energy.in_si(), chosen->total.energy.in_si(), 1e-6);
  }
}

TEST(ScheduleBudget, WithHugeLatencyEqualsTheBestStaticPair) {
  Instances instances(9);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const auto problem = with_latencies(
        instances.next({.most_invocations = 20, .per_target = false, .missing_percent = 0}), 1e9);
    if (problem.switching.core.any.latency == Seconds(0) ||
        problem.switching.memory.any.latency == Seconds(0))
      continue;
    const Seconds budget(5.0 * static_cast<double>(problem.sequence.size()));
    const auto best_static = best_static_schedule(problem, budget);
    ASSERT_TRUE(best_static);
    const auto schedule = least_energy_schedule(problem, budget);
    ASSERT_EQ(schedule.has_value(), best_static->has_value());
    if (!schedule) continue;
    EXPECT_EQ(schedule->total.energy, (*best_static)->total.energy);
    EXPECT_EQ(schedule->switches, 0U);
    EXPECT_LE(gap_pct(schedule->total.energy, schedule->lower_bound), 1e-6);
  }
}

RC_GTEST_PROP(ScheduleBudget, IsNeverWorseThanTheBestStaticPairAndAlwaysValid, ()) {
  Instances instances(*rc::gen::arbitrary<std::uint32_t>());
  const auto problem = instances.next({.most_invocations = 120, .cores = 3, .memories = 3});
  const Seconds budget(instances.uniform(2, 8) * static_cast<double>(problem.sequence.size()));
  const auto schedule = least_energy_schedule(problem, budget, {.labels = 5'000});
  const auto best_static = best_static_schedule(problem, budget);
  RC_ASSERT(best_static.has_value());
  if (!schedule) {
    RC_ASSERT(!best_static->has_value());
    RC_ASSERT(schedule.error().code == Code::infeasible);
    return;
  }
  RC_ASSERT(evaluate(problem, schedule->segments).has_value());
  RC_ASSERT(schedule->total.time <= budget * (1 + solve::kBudgetTolerance));
  RC_ASSERT(schedule->lower_bound <= schedule->total.energy);
  if (*best_static) RC_ASSERT(schedule->total.energy <= (*best_static)->total.energy);
}

RC_GTEST_PROP(ScheduleBudget, ScalesWithTimesAndEnergiesAndDoesNotKnowWhereTheIterationStarts, ()) {
  Instances instances(*rc::gen::arbitrary<std::uint32_t>());
  const auto problem = instances.next({.most_invocations = 12});
  const Seconds budget(4.0 * static_cast<double>(problem.sequence.size()));
  const double energy = energy_of(problem, budget);
  auto scaled = with_latencies(problem, 4.0);
  for (auto& cost : scaled.costs)
    if (cost) cost = Cost{4.0 * cost->time, 0.5 * cost->energy};
  for (auto* domain : {&scaled.switching.core, &scaled.switching.memory}) {
    domain->any.energy *= 0.5;
    for (auto& target : domain->targets) target.cost.energy *= 0.5;
  }
  const auto turn = instances.uniform(0, static_cast<int>(problem.sequence.size()) - 1);
  std::ranges::rotate(scaled.sequence, scaled.sequence.begin() + turn);
  const double expected = 0.5 * energy;
  const double found = energy_of(scaled, 4.0 * budget);
  RC_ASSERT(std::isfinite(expected) == std::isfinite(found));
  if (std::isfinite(expected)) RC_ASSERT(std::abs(found - expected) <= 1e-7 * expected);
}

TEST(ScheduleBudget, ProvesASmallGapOnAThousandInvocationsOfALayeredModel) {
  for (const double latency : {0.001, 0.006, 0.015}) {
    SCOPED_TRACE(latency);
    auto problem = testing::layered_iteration(1000, {1});
    problem.switching.core.any.latency = Seconds(latency);
    problem.switching.memory.any.latency = Seconds(2.5 * latency);
    const auto budget = 1.05 * testing::time_at_highest_clocks(problem);
    const auto schedule = least_energy_schedule(problem, budget, {.labels = 100'000});
    ASSERT_TRUE(schedule) << schedule.error().message;
    EXPECT_LE(gap_pct(schedule->total.energy, schedule->lower_bound), 0.01);
    EXPECT_LE(schedule->total.time, budget);
    EXPECT_TRUE(evaluate(problem, schedule->segments));
    EXPECT_LT(schedule->total.energy,
              0.98 * (*best_static_schedule(problem, budget))->total.energy);
  }
}

TEST(ScheduleBudget, KeepsTheTimeOfTheFastestPairExactly) {
  // The budget is that of a static plan, summed in another order.
  auto problem = testing::layered_iteration(5000, {2});
  problem.switching.core.any.latency = Seconds(100);
  problem.switching.memory.any.latency = Seconds(100);
  const auto schedule = least_energy_schedule(problem, testing::time_at_highest_clocks(problem));
  ASSERT_TRUE(schedule) << schedule.error().message;
}

}  // namespace
}  // namespace negawatt::plan
