// SPDX-License-Identifier: Apache-2.0
//
// What a schedule costs and which rules it keeps, by hand; the objectives without a budget; what a
// person is told about a problem that makes no sense.
#include "plan/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/schedule_instances.hpp"

namespace negawatt::plan {
namespace {

using trace::Clock;

/// Two pairs: fast 1 s at 100 J, slow 2 s at 60 J, for either of two equal kernels; a change takes
/// 3 s and 5 J.
ScheduleProblem two_speeds(std::size_t invocations) {
  ScheduleProblem problem;
  problem.pairs = {{Clock::locked_mhz(2000), Clock::automatic()},
                   {Clock::locked_mhz(1000), Clock::automatic()}};
  problem.costs = {Cost{Seconds(1), Joules(100)}, Cost{Seconds(2), Joules(60)},
                   Cost{Seconds(1), Joules(100)}, Cost{Seconds(2), Joules(60)}};
  for (std::size_t i = 0; i < invocations; ++i)
    problem.sequence.push_back(static_cast<std::uint32_t>(i % 2));
  problem.switching.core.any = {Seconds(3), Joules(5)};
  return problem;
}

std::string broken_rule(const ScheduleProblem& problem,
                        const std::vector<ScheduleSegment>& segments) {
  const auto schedule = evaluate(problem, segments);
  return schedule ? "valid" : schedule.error().message;
}

TEST(Schedule, CountsKernelsAndChangesAroundTheCycle) {
  const auto schedule = evaluate(two_speeds(6), std::vector<ScheduleSegment>{{0, 2, 0}, {3, 5, 1}});
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(schedule->total.time, Seconds(3 * 1 + 3 * 2));
  EXPECT_EQ(schedule->total.energy, Joules(3 * 100 + 3 * 60 + 2 * 5));
  EXPECT_EQ(schedule->switches, 2U);
}

TEST(Schedule, JoinsTheLastSegmentToTheFirstWhereBothHaveTheSamePair) {
  // The fast pair is held for 2 + 1 s across the end of the iteration: just long enough.
  const auto problem = two_speeds(6);
  EXPECT_EQ(broken_rule(problem, {{0, 0, 0}, {1, 3, 1}, {4, 5, 0}}), "valid");
  EXPECT_EQ(
      evaluate(problem, std::vector<ScheduleSegment>{{0, 0, 0}, {1, 3, 1}, {4, 5, 0}})->switches,
      2U);
  EXPECT_EQ(broken_rule(problem, {{0, 0, 0}, {1, 4, 1}, {5, 5, 0}}),
            "schedule: the clocks core 2000, memory auto hold for 2 s before invocation 1, but the "
            "change to core 1000, memory auto takes 3 s to take effect");
}

TEST(Schedule, SaysWhichRuleASegmentBreaks) {
  auto problem = two_speeds(4);
  EXPECT_EQ(broken_rule(problem, {{0, 1, 0}}), "schedule: the segments end at invocation 2 of 4");
  EXPECT_EQ(broken_rule(problem, {{0, 1, 0}, {3, 3, 0}}),
            "schedule: segment 3..3 at pair 0 does not follow invocation 2 of 4");
  EXPECT_EQ(broken_rule(problem, {{0, 4, 0}}),
            "schedule: segment 0..4 at pair 0 does not follow invocation 0 of 4");
  EXPECT_EQ(broken_rule(problem, {{0, 3, 2}}),
            "schedule: segment 0..3 at pair 2 does not follow invocation 0 of 4");
  problem.costs[3].reset();
  EXPECT_EQ(broken_rule(problem, {{0, 3, 1}}),
            "schedule: invocation 1 runs kernel 1 at core 1000, memory auto, where it was not "
            "measured");
}

TEST(Schedule, SpendsTheBudgetOnTheSegmentThatSavesMost) {
  // 9 s hold three slow invocations and two changes; a static slow plan would take 12 s.
  const auto schedule = least_energy_schedule(two_speeds(6), Seconds(9));
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(schedule->total.energy, Joules(490));
  EXPECT_EQ(schedule->lower_bound, Joules(490));
  EXPECT_EQ(least_energy_schedule(two_speeds(6), Seconds(12))->total.energy, Joules(360));
}

TEST(Schedule, SaysHowFastItCouldBe) {
  const auto schedule = least_energy_schedule(two_speeds(6), Seconds(5));
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().code, Code::infeasible);
  EXPECT_EQ(schedule.error().message,
            "schedule: the fastest schedule takes 6 s, the budget is 5 s");
}

TEST(Schedule, SaysWhenNoSequenceOfChangesFits) {
  // Each kernel runs at its own pair only, and neither lasts as long as a change takes.
  auto problem = two_speeds(2);
  problem.costs[1].reset();
  problem.costs[2].reset();
  const auto schedule = least_energy_schedule(problem, Seconds(100));
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().message,
            "schedule: no sequence of clock changes fits the latencies and the pairs each kernel "
            "was measured at");
  EXPECT_FALSE(least_weighted_schedule(problem, 1, 1));
  EXPECT_FALSE(least_energy_delay_schedule(problem, 1));
  problem.switching.core.any.latency = Seconds(1);
  EXPECT_EQ(least_energy_schedule(problem, Seconds(100))->total.energy, Joules(100 + 60 + 10));
}

TEST(Schedule, RefusesAProblemThatContradictsItself) {
  const auto message = [](const ScheduleProblem& problem, ScheduleLimits limits = {}) {
    const auto schedule = least_energy_schedule(problem, Seconds(100), limits);
    return schedule ? std::string("accepted") : schedule.error().message;
  };
  auto problem = two_speeds(4);
  problem.pairs[1] = problem.pairs[0];
  EXPECT_EQ(message(problem), "schedule: the pair core 2000, memory auto is there twice");
  problem = two_speeds(4);
  problem.sequence[2] = 2;
  EXPECT_EQ(message(problem), "schedule: the sequence names kernel 2 of 2");
  problem = two_speeds(0);
  EXPECT_EQ(message(problem), "schedule: the sequence has no invocation");
  problem = two_speeds(4);
  problem.costs.pop_back();
  EXPECT_EQ(message(problem), "schedule: 3 costs are no whole rows of 2 clock pairs");
  problem = two_speeds(4);
  problem.costs[0]->time = Seconds(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(message(problem),
            "schedule: kernel 0 takes nan s and 100 J at core 2000, memory auto, expected finite "
            "numbers that are not negative");
  problem = two_speeds(4);
  problem.costs[0].reset();
  problem.costs[1].reset();
  EXPECT_EQ(message(problem), "schedule: kernel 0 was measured at no clock pair");
  problem = two_speeds(4);
  problem.switching.core.any.latency = Seconds(-1);
  EXPECT_EQ(message(problem),
            "schedule: a clock change has a latency or energy that is negative or not finite");
  problem = two_speeds(4);
  problem.costs[0]->time = Seconds(1e7);
  EXPECT_EQ(message(problem), "schedule: an iteration may take 2e+07 s, expected at most 1e+06");
  EXPECT_EQ(message(two_speeds(200'000), {.bytes = std::size_t{1} << 20U}),
            "schedule: 200000 invocations at 2 clock pairs with 1 latencies need 4 MiB, the limit "
            "is 1 MiB");
}

TEST(Schedule, MinimisesWeightedSumsAndProductsAsEnumerationDoes) {
  testing::Instances instances(11);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const auto problem = instances.next({.longest_latency = round % 2 == 0 ? 6 : 15});
    const auto weighted = least_weighted_schedule(problem, 0.5, 2.0);
    const auto value = [](Cost cost) {
      return 0.5 * cost.energy.in_si() + 2.0 * cost.time.in_si();
    };
    const double least = testing::brute_force(problem, value);
    ASSERT_EQ(weighted.has_value(), std::isfinite(least));
    if (!weighted) continue;
    EXPECT_NEAR(value(weighted->total), least, 1e-9 * least);
    EXPECT_LE(gap_pct(weighted->total.energy, weighted->lower_bound), 1e-6);
    for (const int exponent : {1, 2}) {
      const auto product = [&](Cost cost) {
        return cost.energy.in_si() * std::pow(cost.time.in_si(), exponent);
      };
      const auto found = least_energy_delay_schedule(problem, exponent);
      ASSERT_TRUE(found);
      const double best = testing::brute_force(problem, product);
      EXPECT_NEAR(product(found->total), best, 1e-9 * best);
      EXPECT_LE(gap_pct(found->total.energy, found->lower_bound), 1e-6);
      EXPECT_TRUE(evaluate(problem, found->segments));
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace negawatt::plan
