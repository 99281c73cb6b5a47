// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_score.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/pipeline_instances.hpp"

namespace negawatt::plan {
namespace {

using trace::Pass;

/// Two stages; forward 1 s 10 J, backward 2 s 30 J at 1000 MHz, twice as long at half the energy
/// at 500 MHz. Blocking at 3 W.
PipelineProblem two_stages(std::uint32_t microbatches) {
  PipelineProblem problem{.microbatches = microbatches, .blocking = Watts(3.0)};
  problem.profile.stages.resize(2);
  for (auto& stage : problem.profile.stages) {
    stage.options[0] = {{500, Seconds(2.0), Joules(5.0)}, {1000, Seconds(1.0), Joules(10.0)}};
    stage.options[1] = {{500, Seconds(4.0), Joules(15.0)}, {1000, Seconds(2.0), Joules(30.0)}};
  }
  return problem;
}

std::vector<InstructionChoice> everything_at(const PipelineProblem& problem, std::uint32_t mhz) {
  std::vector<InstructionChoice> choices;
  for (std::uint32_t s = 0; s < problem.profile.stages.size(); ++s)
    for (std::uint32_t m = 0; m < problem.microbatches; ++m)
      for (const Pass pass : trace::kPasses) choices.push_back({s, m, pass, mhz});
  return choices;
}

TEST(ScorePipeline, AddsWaitingToWork) {
  // F0 0..1 on stage 0, F0 1..2 and B0 2..4 on stage 1, B0 4..6 on stage 0.
  const auto problem = two_stages(1);
  auto choices = everything_at(problem, 1000);
  const auto cost = score_pipeline(problem, choices);
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_EQ(cost->time, Seconds(6.0));
  EXPECT_EQ(cost->energy, Joules(80.0 + 3.0 * (2 * 6.0 - 6.0)));
  const auto& last = *std::ranges::max_element(choices, {}, &InstructionChoice::end);
  EXPECT_EQ(last.stage, 0U);
  EXPECT_EQ(last.pass, Pass::backward);
  EXPECT_EQ(last.start, Seconds(4.0));
}

TEST(ScorePipeline, RunsTheTwoSchedulesInTheirOrders) {
  // 1F1B: stage 1 runs F0 B0 F1 B1 from 1 to 7 without a pause, stage 0 its last backward 7..9.
  auto problem = two_stages(2);
  auto choices = everything_at(problem, 1000);
  EXPECT_EQ(score_pipeline(problem, choices)->time, Seconds(9.0));
  // GPipe: stage 1 runs F0 F1 B1 B0 from 1 to 7 as well; its B0 is the last, so is stage 0's.
  problem.schedule = PipelineSchedule::gpipe;
  EXPECT_EQ(score_pipeline(problem, choices)->time, Seconds(9.0));
  const auto first_backward = std::ranges::find_if(choices, [](const InstructionChoice& each) {
    return each.stage == 1 && each.pass == Pass::backward && each.microbatch == 1;
  });
  EXPECT_EQ(first_backward->start, Seconds(3.0));
}

TEST(ScorePipeline, RefusesWhatIsNoPlan) {
  const auto problem = two_stages(1);
  auto choices = everything_at(problem, 999);
  EXPECT_EQ(score_pipeline(problem, choices).error().message,
            "stage 0 forward has no row at 999 MHz");
  choices = everything_at(problem, 1000);
  choices.pop_back();
  EXPECT_EQ(score_pipeline(problem, choices).error().message, "3 instructions planned, expected 4");
  choices = everything_at(problem, 1000);
  choices[1] = choices[0];
  EXPECT_EQ(score_pipeline(problem, choices).error().message,
            "stage 0, microbatch 0, forward is planned twice");
  choices = everything_at(problem, 1000);
  choices[0].microbatch = 1;
  EXPECT_EQ(score_pipeline(problem, choices).error().message,
            "stage 0, microbatch 1 is not in the pipeline");
}

RC_GTEST_PROP(ScorePipeline, AgreesWithThePlannersOwnTiming, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto stages = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto microbatches = *rc::gen::inRange<std::uint32_t>(1, 8);
  const auto schedule = *rc::gen::element(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe);
  const auto problem = testing::random_pipeline({stages, microbatches, 4, seed}, schedule);
  const auto graph = pipeline_instructions(stages, microbatches, schedule);
  std::vector<ClockOptions> options;
  for (const auto& stage : problem.profile.stages)
    for (const auto pass : trace::kPasses)
      options.push_back(efficient_options(stage.of(pass), problem.blocking));
  PassClockPlanner planner(graph, options);

  std::mt19937_64 random(seed);
  PassClocks clocks;
  std::vector<InstructionChoice> choices;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    clocks.push_back(static_cast<std::uint16_t>(random() % planner.options(i).size()));
    choices.push_back(
        {graph[i].stage, graph[i].microbatch, graph[i].pass, planner.options(i)[clocks[i]].mhz});
  }
  const auto cost = score_pipeline(problem, choices);
  RC_ASSERT(cost.has_value());
  const double time = planner.makespan(clocks);
  RC_ASSERT(cost->time == Seconds(time));
  const double waiting = problem.blocking.in_si() * stages * time;
  RC_ASSERT(std::abs(cost->energy.in_si() - planner.energy(clocks) - waiting) < 1e-9);
  for (std::size_t i = 0; i < graph.size(); ++i)
    RC_ASSERT(choices[i].end == Seconds(planner.ends()[i]));
}

}  // namespace
}  // namespace negawatt::plan
