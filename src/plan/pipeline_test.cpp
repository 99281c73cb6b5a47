// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plan/pipeline_score.hpp"
#include "tests/pipeline_instances.hpp"

namespace negawatt::plan {
namespace {

using testing::random_pipeline;

constexpr double kTolerance = 1e-9;

PipelineProblem one_stage() {
  PipelineProblem problem{.microbatches = 1, .blocking = Watts(1.0)};
  auto& stage = problem.profile.stages.emplace_back();
  stage.options[0] = {{500, Seconds(2.0), Joules(5.0)}, {1000, Seconds(1.0), Joules(10.0)}};
  stage.options[1] = {{500, Seconds(4.0), Joules(15.0)}, {1000, Seconds(2.0), Joules(30.0)}};
  return problem;
}

TEST(PipelinePlan, OfOneStageIsEveryCombinationOfItsClocks) {
  const auto problem = one_stage();
  EXPECT_EQ(pipeline_baseline(problem)->total.time, Seconds(3.0));
  EXPECT_EQ(pipeline_baseline(problem)->total.energy, Joules(40.0));
  // The backward saves 7.5 W, the forward 5 W.
  const auto frontier = pipeline_frontier(problem);
  ASSERT_TRUE(frontier) << frontier.error().message;
  std::vector<double> times;
  std::vector<double> energies;
  for (const auto& point : frontier->points()) {
    times.push_back(point.time.in_si());
    energies.push_back(point.energy.in_si());
  }
  EXPECT_EQ(times, (std::vector<double>{3, 4, 5, 6}));
  EXPECT_EQ(energies, (std::vector<double>{40, 35, 25, 20}));
  EXPECT_DOUBLE_EQ(frontier->lower_bound(Seconds(4.0)).in_si(), 32.5);
  EXPECT_DOUBLE_EQ(frontier->lower_bound(Seconds(9.0)).in_si(), 20.0);
  const auto plan = pipeline_plan(problem, Seconds(5.5));
  EXPECT_EQ(plan->total.time, Seconds(5.0));
  EXPECT_EQ(plan->instructions[0].mhz, 1000U);
  EXPECT_EQ(plan->instructions[1].mhz, 500U);
  EXPECT_EQ(plan->instructions[1].start, Seconds(1.0));
  EXPECT_DOUBLE_EQ(plan->lower_bound.in_si(), 22.5);
}

TEST(PipelinePlan, FinishesBeforeItsDeadlineWhenWaitingCostsMore) {
  // At 1 kW of blocking for stage 1, which has nothing but fast clocks, slowing stage 0 costs more
  // than it saves.
  PipelineProblem problem{.microbatches = 1, .blocking = Watts(1000.0)};
  problem.profile.stages.resize(2);
  for (auto& options : problem.profile.stages[0].options)
    options = {{500, Seconds(2.0), Joules(5.0)}, {1000, Seconds(1.0), Joules(10.0)}};
  for (auto& options : problem.profile.stages[1].options)
    options = {{1000, Seconds(1.0), Joules(10.0)}};
  const auto plan = pipeline_plan(problem, Seconds(100.0));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->total.time, Seconds(4.0));
  EXPECT_EQ(plan->total.energy, Joules(4040.0));
  EXPECT_DOUBLE_EQ(plan->lower_bound.in_si(), 4040.0);
}

TEST(PipelinePlan, SaysHowFastTheFastestIsWhenTheDeadlineIsTooShort) {
  const auto plan = pipeline_plan(one_stage(), Seconds(2.5));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::infeasible);
  EXPECT_EQ(plan.error().message, "no plan keeps a deadline of 2.5 s: the fastest takes 3 s");
  EXPECT_TRUE(pipeline_plan(one_stage(), Seconds(3.0)));
}

TEST(PipelineProblem, RefusesWhatIsNoPipeline) {
  auto problem = one_stage();
  problem.microbatches = 0;
  EXPECT_EQ(pipeline_frontier(problem).error().message, "0 microbatches, expected at least 1");
  problem.microbatches = 500'001;
  EXPECT_EQ(pipeline_frontier(problem).error().message,
            "1 stages with 500001 microbatches are 1000002 instructions, expected at most 1000000");
  problem = one_stage();
  problem.blocking = Watts(-1.0);
  EXPECT_EQ(pipeline_baseline(problem).error().message,
            "blocking power is -1 W, expected 0 or more");
  problem.blocking = Watts(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(pipeline_plan(problem, Seconds(9.0)).error().code, Code::invalid);
  problem = one_stage();
  problem.profile.name = "p.csv";
  problem.profile.stages[0].options[1].clear();
  EXPECT_EQ(pipeline_frontier(problem).error().message, "p.csv: a stage has no backward options");
  EXPECT_EQ(
      pipeline_plan(one_stage(), Seconds(std::numeric_limits<double>::infinity())).error().message,
      "deadline is inf s, expected a number of seconds");
}

/// Every plan of a tiny pipeline that no other beats, by trying all combinations of clocks.
std::vector<Cost> all_efficient(const PipelineProblem& problem) {
  auto choices = pipeline_baseline(problem)->instructions;
  const auto options_of = [&](const InstructionChoice& each) -> const auto& {
    return problem.profile.stages[each.stage].of(each.pass);
  };
  std::vector<std::size_t> at(choices.size(), 0);
  std::vector<Cost> costs;
  while (true) {
    for (std::size_t i = 0; i < at.size(); ++i) choices[i].mhz = options_of(choices[i])[at[i]].mhz;
    costs.push_back(score_pipeline(problem, choices).value());
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == options_of(choices[i]).size()) at[i++] = 0;
    if (i == at.size()) break;
  }
  std::ranges::sort(costs, [](Cost a, Cost b) {
    return a.time != b.time ? a.time < b.time : a.energy < b.energy;
  });
  std::vector<Cost> efficient;
  for (const auto& cost : costs)
    if (efficient.empty() || cost.energy < efficient.back().energy) efficient.push_back(cost);
  return efficient;
}

// Rounding and local search are no exact method: on tiny coarse pipelines they miss the optimum
// now and then. What is proven must hold always, what is found must be close on average.
TEST(PipelinePlan, IsCloseToTheBestOfAllCombinations) {
  int deadlines = 0;
  int optimal = 0;
  double excess = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto problem =
        random_pipeline({.stages = 2, .microbatches = 2, .clocks = 3, .seed = seed},
                        seed % 2 == 0 ? PipelineSchedule::gpipe : PipelineSchedule::one_f_one_b);
    for (const auto& best : all_efficient(problem)) {
      const auto plan = pipeline_plan(problem, best.time);
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_LE(plan->total.time.in_si(), best.time.in_si() + kTolerance);
      EXPECT_GE(plan->total.energy.in_si(), best.energy.in_si() - kTolerance) << "seed " << seed;
      EXPECT_LE(plan->lower_bound.in_si(), best.energy.in_si() + kTolerance) << "seed " << seed;
      ++deadlines;
      optimal += plan->total.energy.in_si() < best.energy.in_si() + kTolerance ? 1 : 0;
      excess += plan->total.energy / best.energy - 1.0;
    }
  }
  RecordProperty("optimal_percent", 100 * optimal / deadlines);
  EXPECT_GE(optimal, deadlines * 9 / 10) << deadlines;
  EXPECT_LE(excess / deadlines, 0.005);
}

RC_GTEST_PROP(PipelineFrontier, FallsLiesAboveItsBoundAndIsMadeOfRealPlans, ()) {
  const auto problem =
      random_pipeline({.stages = *rc::gen::inRange<std::uint32_t>(1, 5),
                       .microbatches = *rc::gen::inRange<std::uint32_t>(1, 6),
                       .clocks = 5,
                       .seed = *rc::gen::arbitrary<std::uint64_t>()},
                      *rc::gen::element(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe));
  const auto frontier = pipeline_frontier(problem);
  RC_ASSERT(frontier.has_value());
  const auto& points = frontier->points();
  const auto& corners = frontier->bound_corners();
  RC_ASSERT(std::abs((points.front().time - corners.front().time).in_si()) < kTolerance);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (k > 0) {  // RC_ASSERT evaluates all of its expression
      RC_ASSERT(points[k].time > points[k - 1].time);
      RC_ASSERT(points[k].energy < points[k - 1].energy);
    }
    auto plan = frontier->plan(k);
    RC_ASSERT(plan.lower_bound.in_si() <= points[k].energy.in_si() + kTolerance);
    const auto cost = score_pipeline(problem, plan.instructions);
    RC_ASSERT(cost.has_value());
    RC_ASSERT(cost->time == points[k].time);
    RC_ASSERT(cost->energy == points[k].energy);
  }
  for (std::size_t k = 1; k < corners.size(); ++k) {
    RC_ASSERT(corners[k].time >= corners[k - 1].time);
    RC_ASSERT(corners[k].energy.in_si() <= corners[k - 1].energy.in_si() + kTolerance);
  }
  RC_ASSERT(pipeline_baseline(problem)->total.time >= points.front().time);
}

RC_GTEST_PROP(PipelinePlan, IsNoWorseThanTheFrontierAndTwiceTheSame, ()) {
  const auto problem = random_pipeline(
      {.stages = 3, .microbatches = 4, .clocks = 5, .seed = *rc::gen::arbitrary<std::uint64_t>()},
      *rc::gen::element(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe));
  const auto frontier = pipeline_frontier(problem);
  const auto& points = frontier->points();
  const auto& point = points[*rc::gen::inRange<std::size_t>(0, points.size())];
  const auto plan = pipeline_plan(problem, point.time);
  RC_ASSERT(plan.has_value());
  RC_ASSERT(plan->total.time.in_si() <= point.time.in_si() * (1.0 + 1e-12));
  RC_ASSERT(plan->total.energy.in_si() <= point.energy.in_si() + kTolerance);
  const auto again = pipeline_plan(problem, point.time);
  for (std::size_t i = 0; i < plan->instructions.size(); ++i)
    RC_ASSERT(plan->instructions[i].mhz == again->instructions[i].mhz);
}

TEST(PipelineFrontier, OfAModelledA100IsCloseToItsBoundEverywhere) {
  for (const auto schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe}) {
    const auto problem = testing::a100_like_pipeline(12, schedule);
    const auto frontier = pipeline_frontier(problem);
    ASSERT_TRUE(frontier) << frontier.error().message;
    const auto& points = frontier->points();
    for (std::size_t k = 0; k + 1 < points.size(); ++k)  // just before the next point
      EXPECT_LT(gap_pct(points[k].energy, frontier->lower_bound(points[k + 1].time)), 0.3)
          << points[k].time.in_si();
    const auto baseline = pipeline_baseline(problem)->total;
    const auto saved = pipeline_plan(problem, baseline.time)->total;
    EXPECT_LT(change_pct(baseline.energy, saved.energy), -5.0);
  }
}

}  // namespace
}  // namespace negawatt::plan
