// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_clocks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <vector>

#include "tests/pipeline_instances.hpp"

namespace negawatt::plan {
namespace {

TEST(ClockOptions, KeepsWhatNoOtherClockBeatsOnceWaitingIsPaidFor) {
  // At 10 W of blocking: 700 MHz is 1 s slower and 4 J dearer than 800 MHz, but saves 10 J of
  // waiting. 900 MHz is as fast as 1000 MHz and cheaper. 600 MHz wastes more than waiting costs.
  const std::vector<trace::PassOption> options = {{600, Seconds(4.0), Joules(30.0)},
                                                  {700, Seconds(3.0), Joules(9.0)},
                                                  {800, Seconds(2.0), Joules(5.0)},
                                                  {900, Seconds(1.0), Joules(7.0)},
                                                  {1000, Seconds(1.0), Joules(8.0)}};
  const auto efficient = efficient_options(options, Watts(10.0));
  ASSERT_EQ(efficient.size(), 3U);
  EXPECT_EQ(efficient[0].mhz, 900U);
  EXPECT_DOUBLE_EQ(efficient[0].energy, -3.0);
  EXPECT_EQ(efficient[1].mhz, 800U);
  EXPECT_DOUBLE_EQ(efficient[1].energy, -15.0);
  EXPECT_EQ(efficient[2].mhz, 700U);
  EXPECT_DOUBLE_EQ(efficient[2].energy, -21.0);
  EXPECT_EQ(convex_options(efficient).size(), 3U);
}

/// A planner for a small pipeline and what the tests ask of its plans.
struct Bench {
  explicit Bench(std::uint64_t seed)
      : problem(testing::random_pipeline(
            {.stages = 3, .microbatches = 4, .clocks = 5, .seed = seed},
            seed % 2 == 0 ? PipelineSchedule::gpipe : PipelineSchedule::one_f_one_b)),
        graph(pipeline_instructions(3, 4, problem.schedule)),
        planner(graph, options()) {}

  std::vector<ClockOptions> options() const {
    std::vector<ClockOptions> by_kind;
    for (const auto& stage : problem.profile.stages)
      for (const auto pass : trace::kPasses)
        by_kind.push_back(efficient_options(stage.of(pass), problem.blocking));
    return by_kind;
  }

  PassClocks random_plan(std::mt19937_64& random) const {
    PassClocks plan;
    for (std::size_t i = 0; i < graph.size(); ++i)
      plan.push_back(static_cast<std::uint16_t>(random() % planner.options(i).size()));
    return plan;
  }

  PipelineProblem problem;
  std::vector<PipelineInstruction> graph;
  PassClockPlanner planner;
};

RC_GTEST_PROP(PassClockPlanner, SpendingSlackKeepsTheDeadlineAndLeavesNone, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Bench bench(seed);
  std::mt19937_64 random(seed);
  auto plan = bench.random_plan(random);
  const double energy = bench.planner.energy(plan);
  const double deadline = bench.planner.makespan(plan) + 0.125 * static_cast<double>(random() % 9);
  bench.planner.spend_slack(plan, deadline);
  RC_ASSERT(bench.planner.makespan(plan) <= deadline + 1e-9);
  RC_ASSERT(bench.planner.energy(plan) <= energy);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[i] + 1U == bench.planner.options(i).size()) continue;
    auto slower = plan;
    ++slower[i];
    RC_ASSERT(bench.planner.makespan(slower) > deadline + 1e-9);
  }
}

RC_GTEST_PROP(PassClockPlanner, RoundingTheTimesOfAPlanIsAsGoodAsThePlan, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Bench bench(seed);
  std::mt19937_64 random(seed);
  const auto plan = bench.random_plan(random);
  const double deadline = bench.planner.makespan(plan);
  const std::vector<double> end(bench.planner.ends().begin(), bench.planner.ends().end());
  std::vector<double> start(end);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] -= bench.planner.options(i)[plan[i]].time;

  const auto forward = bench.planner.rounded_forward(end);
  RC_ASSERT(bench.planner.makespan(forward) <= deadline + 1e-9);
  RC_ASSERT(bench.planner.energy(forward) <= bench.planner.energy(plan) + 1e-9);
  const auto backward = bench.planner.rounded_backward(start, deadline);
  RC_ASSERT(bench.planner.makespan(backward) <= deadline + 1e-9);
  RC_ASSERT(bench.planner.energy(backward) <= bench.planner.energy(plan) + 1e-9);
}

}  // namespace
}  // namespace negawatt::plan
