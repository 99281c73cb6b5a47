// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_cycle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/schedule_instances.hpp"

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kManySteps = 1'000'000'000;

void expect_exact(const ScheduleProblem& problem, Weights weights) {
  const auto tables = ScheduleTables::build(problem);
  ASSERT_TRUE(tables) << tables.error().message;
  CycleSolver solver(*tables, {.steps = kManySteps, .gap = 0.0});
  const auto optimum = solver.minimise(weights, kNever, Closing::exact);
  const double least = testing::brute_force(problem, [&](Cost cost) {
    return weights.energy * cost.energy.in_si() + weights.time * cost.time.in_si();
  });
  if (!std::isfinite(least)) {
    EXPECT_FALSE(optimum.assignment);
    EXPECT_EQ(optimum.bound, kNever);
    return;
  }
  ASSERT_TRUE(optimum.assignment);
  EXPECT_NEAR(optimum.value, least, 1e-9 * least);
  EXPECT_NEAR(optimum.bound, least, 1e-9 * least);
}

TEST(ScheduleCycle, WeightedSumsAreExactAroundTheCycle) {
  testing::Instances instances(1);
  for (int round = 0; round < 1500; ++round) {
    testing::InstanceShape shape;
    shape.most_invocations = round % 3 == 0 ? 7 : 5;
    shape.longest_latency = round % 2 == 0 ? 8 : 20;
    shape.missing_percent = round % 5 == 0 ? 40 : 5;
    const auto problem = instances.next(shape);
    SCOPED_TRACE(round);
    expect_exact(problem, {.energy = 1.0, .time = 0.25 * instances.uniform(0, 20)});
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ScheduleCycle, LeastTimeIsExact) {
  testing::Instances instances(2);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    expect_exact(instances.next({.longest_latency = 15, .missing_percent = 30}),
                 {.energy = 0.0, .time = 1.0});
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace negawatt::plan
