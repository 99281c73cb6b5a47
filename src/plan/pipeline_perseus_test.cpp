// SPDX-License-Identifier: Apache-2.0
//
// The published case: GPT-3 175B on eight A100 stages (Perseus, SOSP 2024), against the plans of
// its authors and against the linear program solved by CLP.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/csv.hpp"
#include "plan/pipeline.hpp"
#include "tests/shared_data.hpp"
#include "tests/time_cost_by_clp.hpp"

namespace negawatt::plan {
namespace {

constexpr const char* kProfile = "pipeline-perseus/gpt3-175b+a100_sxm_bf16.csv";
constexpr double kLargestGapPct = 0.3;

PipelineProblem published_case(const std::string& profile, std::uint32_t microbatches) {
  return {.profile = trace::parse_pipeline_profile(profile, "gpt3.csv").value(),
          .microbatches = microbatches,
          .schedule = PipelineSchedule::one_f_one_b,
          .blocking = Watts(83.64)};
}

std::vector<Cost> read_plans(const std::string& bytes, const char* time, const char* energy) {
  CsvReader csv(bytes, "plans.csv");
  EXPECT_TRUE(csv.read_header());
  std::vector<Cost> plans;
  while (csv.next().value())
    plans.push_back({Seconds(csv.number(csv.find(time)).value()),
                     Joules(csv.number(csv.find(energy)).value())});
  return plans;
}

/// The best point of the frontier within a deadline.
Cost best_within(const PipelineFrontier& frontier, Seconds deadline) {
  Cost best = frontier.points().front();
  for (const auto& point : frontier.points())
    if (point.time <= deadline) best = point;
  return best;
}

/// Written down without merging any events: two for every instruction.
solve::Project plain_project(const PipelineProblem& problem) {
  const auto graph =
      pipeline_instructions(static_cast<std::uint32_t>(problem.profile.stages.size()),
                            problem.microbatches, problem.schedule);
  const auto count = static_cast<std::uint32_t>(graph.size());
  solve::Project project{.events = 2 * count + 2, .source = 2 * count, .sink = 2 * count + 1};
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<Cost> options;  // all of them: the program finds the hull by itself
    for (const auto& option : problem.profile.stages[graph[i].stage].of(graph[i].pass))
      options.push_back({option.time, option.energy - problem.blocking * option.time});
    project.activities.push_back({2 * i, 2 * i + 1, options});
    project.precedences.push_back({project.source, 2 * i});
    project.precedences.push_back({2 * i + 1, project.sink});
    for (const auto before : {graph[i].before_on_stage, graph[i].before_in_data})
      if (before != kNoInstruction) project.precedences.push_back({2 * before + 1, 2 * i});
  }
  return project;
}

TEST(PublishedPipeline, HasTheKnownBaselines) {
  NW_SHARED_FILE_OR_SKIP(profile, kProfile);
  const struct {
    std::uint32_t microbatches;
    double time;
    double energy;
  } known[] = {
      {12, 2.8365, 7339.0}, {24, 4.6712, 14007.7}, {48, 8.3406, 27345.0}, {96, 15.6794, 54019.7}};
  for (const auto& expected : known) {
    const auto total = pipeline_baseline(published_case(profile, expected.microbatches))->total;
    EXPECT_NEAR(total.time.in_si(), expected.time, 5e-5);
    EXPECT_NEAR(total.energy.in_si(), expected.energy, 0.05);
  }
}

TEST(PublishedPipeline, BoundIsThatOfAnIndependentLinearProgram) {
  NW_SHARED_FILE_OR_SKIP(profile, kProfile);
  const auto problem = published_case(profile, 12);
  const auto frontier = pipeline_frontier(problem);
  const auto project = plain_project(problem);
  const struct {
    double deadline;
    double bound;
    double published;
  } known[] = {{2.8397, 6142.4, 6212.1},
               {2.9, 5922.1, 5983.4},
               {3.0, 5716.9, 5769.4},
               {3.2, 5596.8, 5644.9}};
  for (const auto& at : known) {
    const Seconds deadline(at.deadline);
    const auto bound = frontier->lower_bound(deadline).in_si();
    EXPECT_NEAR(bound, at.bound, 0.1);
    const auto independent = testing::least_energy_by_clp(project, deadline);
    ASSERT_TRUE(independent);
    EXPECT_NEAR(bound, independent->in_si() + 8 * 83.64 * at.deadline, 0.001);
    const auto plan = pipeline_plan(problem, deadline);
    EXPECT_LE(plan->total.time, deadline);
    EXPECT_LT(plan->total.energy.in_si(), at.published);
    EXPECT_LT(gap_pct(plan->total.energy, plan->lower_bound), kLargestGapPct);
  }
}

/// The gap is largest just before the next point, where the one before is still the best.
void expect_small_gap_at_every_deadline(const PipelineFrontier& frontier) {
  const auto& points = frontier.points();
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto until = k + 1 < points.size() ? points[k + 1].time : 2.0 * points[k].time;
    EXPECT_LT(gap_pct(points[k].energy, frontier.lower_bound(until)), kLargestGapPct)
        << until.in_si() << " s";
  }
}

void expect_every_row_beaten(std::uint32_t microbatches) {
  NW_SHARED_FILE_OR_SKIP(profile, kProfile);
  const auto path =
      "pipeline-perseus/a100_sxm_gpt3-175b_mb" + std::to_string(microbatches) + "_rescored.csv";
  NW_SHARED_FILE_OR_SKIP(rows, path);
  const auto frontier = pipeline_frontier(published_case(profile, microbatches));
  ASSERT_TRUE(frontier) << frontier.error().message;
  expect_small_gap_at_every_deadline(*frontier);
  const auto published = read_plans(rows, "rescored_time_s", "rescored_energy_j");
  EXPECT_GT(published.size(), 600U);
  for (const auto& row : published) {
    const auto ours = best_within(*frontier, row.time);
    EXPECT_LE(ours.time, row.time);
    EXPECT_LE(ours.energy.in_si(), row.energy.in_si()) << "at " << row.time.in_si() << " s";
  }
}

TEST(PublishedPipeline, EveryRescoredPlanOf12MicrobatchesIsBeaten) { expect_every_row_beaten(12); }

TEST(PublishedPipeline, EveryRescoredPlanOf24MicrobatchesIsBeaten) { expect_every_row_beaten(24); }

// The published plans for 48 and 96 microbatches were never scored on the profile: their energies
// come from a fitted curve. Four in ten or more lie below what the linear program proves to be
// possible. Of the others we beat nearly all; the rest are closer to the bound than our gap.
void expect_possible_claims_beaten(std::uint32_t microbatches) {
  NW_SHARED_FILE_OR_SKIP(profile, kProfile);
  const auto path =
      "pipeline-perseus/a100_sxm_gpt3-175b_mb" + std::to_string(microbatches) + ".csv";
  NW_SHARED_FILE_OR_SKIP(rows, path);
  const auto frontier = pipeline_frontier(published_case(profile, microbatches));
  ASSERT_TRUE(frontier) << frontier.error().message;
  expect_small_gap_at_every_deadline(*frontier);
  std::size_t possible = 0;
  std::size_t beaten = 0;
  for (const auto& row : read_plans(rows, "time", "energy")) {
    const bool is_possible = row.time >= frontier->points().front().time &&
                             row.energy >= frontier->lower_bound(row.time);
    if (!is_possible) continue;
    ++possible;
    beaten += best_within(*frontier, row.time).energy <= row.energy ? 1 : 0;
  }
  EXPECT_GT(possible, 1000U);
  EXPECT_GE(beaten, possible * 97 / 100);
}

TEST(PublishedPipeline, PossibleClaimsFor48MicrobatchesAreBeaten) {
  expect_possible_claims_beaten(48);
}

TEST(PublishedPipeline, PossibleClaimsFor96MicrobatchesAreBeaten) {
  expect_possible_claims_beaten(96);
}

TEST(PublishedPipeline, PlansForASweepOfDeadlinesAreWithin0Point3PercentOfTheBound) {
  NW_SHARED_FILE_OR_SKIP(profile, kProfile);
  const struct {
    std::uint32_t microbatches;
    int deadlines;
  } sweeps[] = {{12, 12}, {24, 5}, {48, 2}, {96, 2}};
  for (const auto& sweep : sweeps) {
    const auto problem = published_case(profile, sweep.microbatches);
    const auto fastest = pipeline_baseline(problem)->total.time;
    for (int k = 0; k < sweep.deadlines; ++k) {
      const auto deadline = fastest * (1.0 + 0.2 * (k + 0.3) / sweep.deadlines);
      const auto plan = pipeline_plan(problem, deadline);
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_LE(plan->total.time.in_si(), deadline.in_si() * (1.0 + 1e-12));
      EXPECT_LT(gap_pct(plan->total.energy, plan->lower_bound), kLargestGapPct)
          << sweep.microbatches << " microbatches within " << deadline.in_si() << " s";
    }
  }
}

}  // namespace
}  // namespace negawatt::plan
