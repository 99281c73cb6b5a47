// SPDX-License-Identifier: Apache-2.0
#include "plan/pipeline_graph.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace negawatt::plan {
namespace {

using Graph = std::vector<PipelineInstruction>;

/// What a stage does in order, as "F0 F1 B0 B1".
std::string order_of(const Graph& graph, std::uint32_t stage) {
  auto at = std::ranges::find_if(graph, [&](const PipelineInstruction& each) {
    return each.stage == stage && each.before_on_stage == kNoInstruction;
  });
  std::string text;
  for (auto i = static_cast<std::uint32_t>(at - graph.begin()); i != kNoInstruction;
       i = graph[i].after_on_stage) {
    text += text.empty() ? "" : " ";
    text += graph[i].pass == trace::Pass::forward ? "F" : "B";
    text += std::to_string(graph[i].microbatch);
  }
  return text;
}

TEST(PipelineGraph, OrdersOneForwardOneBackward) {
  const auto graph = pipeline_instructions(3, 4, PipelineSchedule::one_f_one_b);
  EXPECT_EQ(order_of(graph, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(order_of(graph, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(order_of(graph, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(PipelineGraph, WarmsUpWithAllMicrobatchesWhenThereAreFew) {
  const auto graph = pipeline_instructions(4, 2, PipelineSchedule::one_f_one_b);
  EXPECT_EQ(order_of(graph, 0), "F0 F1 B0 B1");
  EXPECT_EQ(order_of(graph, 3), "F0 B0 F1 B1");
}

TEST(PipelineGraph, OrdersGpipeBackwardsInReverse) {
  const auto graph = pipeline_instructions(2, 3, PipelineSchedule::gpipe);
  EXPECT_EQ(order_of(graph, 0), "F0 F1 F2 B2 B1 B0");
  EXPECT_EQ(order_of(graph, 1), "F0 F1 F2 B2 B1 B0");
}

void expect_linked(const Graph& graph, std::uint32_t stages) {
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const auto& each = graph[i];
    const bool is_forward = each.pass == trace::Pass::forward;
    const bool is_edge = is_forward ? each.stage == 0 : each.stage + 1 == stages;
    RC_ASSERT((each.before_in_data == kNoInstruction) == is_edge);
    if (!is_edge) {
      const auto& before = graph[each.before_in_data];
      RC_ASSERT(each.before_in_data < i);
      RC_ASSERT(before.after_in_data == i);
      RC_ASSERT(before.pass == each.pass);
      RC_ASSERT(before.microbatch == each.microbatch);
      RC_ASSERT(before.stage == (is_forward ? each.stage - 1 : each.stage + 1));
    }
    if (each.before_on_stage != kNoInstruction) {
      RC_ASSERT(each.before_on_stage < i);
      RC_ASSERT(graph[each.before_on_stage].after_on_stage == i);
      RC_ASSERT(graph[each.before_on_stage].stage == each.stage);
    }
  }
}

RC_GTEST_PROP(PipelineGraph, LinksEveryInstructionToItsInput, ()) {
  const auto stages = *rc::gen::inRange<std::uint32_t>(1, 7);
  const auto microbatches = *rc::gen::inRange<std::uint32_t>(1, 9);
  const auto schedule = *rc::gen::element(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe);
  const auto graph = pipeline_instructions(stages, microbatches, schedule);
  RC_ASSERT(graph.size() == 2 * stages * microbatches);
  expect_linked(graph, stages);
}

double longest_path(const Graph& graph, const std::vector<double>& lasts) {
  std::vector<double> end(graph.size());
  double last = 0.0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    double start = 0.0;
    for (const auto before : {graph[i].before_on_stage, graph[i].before_in_data})
      if (before != kNoInstruction) start = std::max(start, end[before]);
    end[i] = start + lasts[i];
    last = std::max(last, end[i]);
  }
  return last;
}

double longest_path(const PipelineEvents& events, const std::vector<double>& lasts) {
  std::vector<double> time(events.count, 0.0);
  bool changed = true;
  const auto after = [&](std::uint32_t from, std::uint32_t to, double by) {
    if (time[from] + by <= time[to]) return;
    time[to] = time[from] + by;
    changed = true;
  };
  while (changed) {
    changed = false;
    for (std::size_t i = 0; i < lasts.size(); ++i) after(events.start[i], events.end[i], lasts[i]);
    for (const auto& each : events.precedences) after(each.before, each.after, 0.0);
  }
  return time[events.sink];
}

RC_GTEST_PROP(PipelineEvents, MergingEventsKeepsTheIterationTime, ()) {
  const auto graph = pipeline_instructions(
      *rc::gen::inRange<std::uint32_t>(1, 6), *rc::gen::inRange<std::uint32_t>(1, 7),
      *rc::gen::element(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe));
  const auto events = pipeline_events(graph);
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> lasts(graph.size());
  for (auto& each : lasts) each = static_cast<double>(1 + random() % 20);
  RC_ASSERT(longest_path(events, lasts) == longest_path(graph, lasts));
}

TEST(PipelineEvents, KeepsOnlyPrecedencesThatBind) {
  // One stage is a chain: its 2 M instructions run between 2 M + 1 events.
  const auto chain = pipeline_events(pipeline_instructions(1, 5, PipelineSchedule::one_f_one_b));
  EXPECT_EQ(chain.count, 11U);
  EXPECT_TRUE(chain.precedences.empty());
}

}  // namespace
}  // namespace negawatt::plan
