// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/schedule_instances.hpp"

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double least_energy_by_enumeration(const ScheduleProblem& problem, Seconds budget) {
  return testing::brute_force(
      problem, [&](Cost cost) { return cost.time <= budget ? cost.energy.in_si() : kNever; });
}

TEST(Schedule, KeepsTheBudgetAtLeastEnergyOnTinyCycles) {
  testing::Instances instances(3);
  int solved = 0, exact = 0;
  for (int round = 0; round < 1500; ++round) {
    SCOPED_TRACE(round);
    testing::InstanceShape shape;
    shape.most_invocations = round % 3 == 0 ? 7 : 6;
    shape.longest_latency = round % 2 == 0 ? 6 : 20;
    const auto problem = instances.next(shape);
    const auto n = static_cast<int>(problem.sequence.size());
    const Seconds budget(instances.uniform(2 * n, 6 * n));
    const double least = least_energy_by_enumeration(problem, budget);
    const auto schedule = least_energy_schedule(problem, budget);
    if (!std::isfinite(least)) {
      ASSERT_FALSE(schedule);
      EXPECT_EQ(schedule.error().code, Code::infeasible);
      continue;
    }
    ASSERT_TRUE(schedule) << schedule.error().message;
    ++solved;
    EXPECT_LE(schedule->lower_bound.in_si(), least * (1 + 1e-9));
    EXPECT_GE(schedule->total.energy.in_si(), least * (1 - 1e-9));
    EXPECT_LE(schedule->total.time, budget);
    if (schedule->total.energy.in_si() <= least * (1 + 1e-9)) ++exact;
    const auto checked = evaluate(problem, schedule->segments);
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(checked->total.energy, schedule->total.energy);
  }
  EXPECT_GT(solved, 500);
  EXPECT_EQ(exact, solved);
}

}  // namespace
}  // namespace negawatt::plan
