// SPDX-License-Identifier: Apache-2.0
//
// How long pipeline planning takes and how good it gets, and how both grow with the microbatches.
// The pipeline ships with the code: eight stages modelled on an A100, all different (seven equal
// stages, as published profiles have, are up to three times faster). Where ../shared/data holds
// the published GPT-3 175B profile, the same runs on it follow, labelled 'published'.
// Counters: instructions, points found, corners of the bound, largest gap at any deadline.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "plan/pipeline.hpp"
#include "plan/pipeline_search.hpp"
#include "tests/pipeline_instances.hpp"

namespace negawatt {
namespace {

using plan::PipelineSchedule;

std::optional<plan::PipelineProblem> published(std::uint32_t microbatches,
                                               PipelineSchedule schedule) {
  std::ifstream file(NEGAWATT_SOURCE_DIR
                     "/../shared/data/pipeline-perseus/gpt3-175b+a100_sxm_bf16.csv");
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  auto profile = trace::parse_pipeline_profile(bytes, "gpt3-175b");
  if (!profile) return std::nullopt;
  return plan::PipelineProblem{*std::move(profile), microbatches, schedule, Watts(83.64)};
}

/// Arguments: published or not, schedule, microbatches.
std::optional<plan::PipelineProblem> problem_of(benchmark::State& state) {
  const auto schedule = static_cast<PipelineSchedule>(state.range(1));
  const auto microbatches = static_cast<std::uint32_t>(state.range(2));
  state.SetLabel(state.range(0) != 0 ? "published" : "modelled");
  if (state.range(0) == 0) return testing::a100_like_pipeline(microbatches, schedule);
  auto problem = published(microbatches, schedule);
  if (!problem) state.SkipWithError("needs ../shared/data/pipeline-perseus");
  return problem;
}

double largest_gap_pct(const plan::PipelineFrontier& frontier) {
  const auto& points = frontier.points();
  double largest = 0.0;
  for (std::size_t k = 0; k + 1 < points.size(); ++k)
    largest =
        std::max(largest, gap_pct(points[k].energy, frontier.lower_bound(points[k + 1].time)));
  return largest;
}

void whole_frontier(benchmark::State& state) {
  const auto problem = problem_of(state);
  if (!problem) return;
  plan::PipelineFrontier frontier;
  for (auto _ : state) {
    frontier = plan::pipeline_frontier(*problem).value();
    benchmark::DoNotOptimize(frontier);
  }
  state.counters["instructions"] =
      static_cast<double>(2 * problem->profile.stages.size() * problem->microbatches);
  state.counters["points"] = static_cast<double>(frontier.points().size());
  state.counters["corners"] = static_cast<double>(frontier.bound_corners().size());
  state.counters["gap_pct"] = largest_gap_pct(frontier);
}

void bound_only(benchmark::State& state) {
  const auto problem = problem_of(state);
  if (!problem) return;
  const plan::PipelineSearch search(*problem);
  for (auto _ : state) {
    auto corners = search.bound();
    benchmark::DoNotOptimize(corners);
  }
}

void one_deadline(benchmark::State& state) {
  const auto problem = problem_of(state);
  if (!problem) return;
  const auto deadline = plan::pipeline_baseline(*problem)->total.time * 1.03;
  plan::PipelinePlan plan;
  for (auto _ : state) {
    plan = plan::pipeline_plan(*problem, deadline).value();
    benchmark::DoNotOptimize(plan);
  }
  state.counters["gap_pct"] = gap_pct(plan.total.energy, plan.lower_bound);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"published", "gpipe", "microbatches"})->Unit(benchmark::kMillisecond);
  for (const int is_published : {1, 0})
    for (const int microbatches : {12, 24, 48, 96}) bench->Args({is_published, 0, microbatches});
  for (const int is_published : {1, 0}) bench->Args({is_published, 1, 12});
}
BENCHMARK(whole_frontier)->Apply(sizes);
BENCHMARK(bound_only)->Apply(sizes);
BENCHMARK(one_deadline)->Apply(sizes);

}  // namespace
}  // namespace negawatt
BENCHMARK_MAIN();
