// SPDX-License-Identifier: Apache-2.0
#include "report/lanes.hpp"

#include <gtest/gtest.h>

#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using testing::kAuto;
using testing::kLow;
using testing::Sample;

/// Time that a lane shows for each of its labels.
std::vector<double> shown_s(const Lane& lane) {
  std::vector<double> shown(lane.labels.size(), 0.0);
  double start = 0.0;
  for (const auto& run : lane.runs) {
    shown[run.label] += run.end.in_si() - start;
    start = run.end.in_si();
  }
  return shown;
}

/// 20,000 calls that alternate between a kernel of 3 ms at one pair and one of 1 ms at another.
struct Alternating : Sample {
  Alternating() {
    constexpr std::uint32_t kPairs = 10'000;
    table.kernels = {
        {"long", "a", kPairs, {testing::option(kAuto, 0.003, 1), testing::option(kLow, 9, 1)}},
        {"short", "a", kPairs, {testing::option(kAuto, 9, 1), testing::option(kLow, 0.001, 1)}}};
    sequence.clear();
    plan.segments.clear();
    plan.choices.clear();
    for (std::uint32_t i = 0; i < kPairs; ++i) {
      sequence.insert(sequence.end(), {0, 1});
      plan.segments.push_back({2 * i, 2 * i, kAuto, testing::cost(0.003, 1)});
      plan.segments.push_back({2 * i + 1, 2 * i + 1, kLow, testing::cost(0.001, 1)});
    }
  }
};

TEST(Lanes, AShortIterationIsShownExactly) {
  const Sample sample;
  const auto iteration = iteration_lanes(sample.report());
  ASSERT_EQ(iteration.lanes.size(), 4U);
  const auto& group = iteration.lanes[0];
  EXPECT_EQ(group.labels, (std::vector<std::string>{"forward", "optimizer"}));
  ASSERT_EQ(group.runs.size(), 2U);
  EXPECT_DOUBLE_EQ(group.runs[0].end.in_si(), 1.52);
  EXPECT_EQ(iteration.lanes[1].runs.size(), 5U);
  const auto& core = iteration.lanes[2];
  EXPECT_EQ(core.labels, (std::vector<std::string>{"auto", "1410 MHz"}));
  EXPECT_EQ(core.runs.size(), 4U);
  EXPECT_FALSE(core.sliced);
  EXPECT_DOUBLE_EQ(shown_s(core)[1], 0.52);
  EXPECT_DOUBLE_EQ(core.runs.back().end.in_si(), 2.52);
}

TEST(Lanes, ALongIterationIsSlicedAndKeepsEveryShareOfTime) {
  const Alternating sample;
  const auto iteration = iteration_lanes(sample.report(), 500);
  const auto& core = iteration.lanes[2];
  EXPECT_TRUE(core.sliced);
  EXPECT_EQ(core.all, 20'000U);
  EXPECT_LE(core.runs.size(), 500U);
  EXPECT_GE(core.runs.size(), 100U);
  // 30 s and 10 s; a slice is 80 ms.
  EXPECT_NEAR(shown_s(core)[0], 30.0, 0.081);
  EXPECT_NEAR(shown_s(core)[1], 10.0, 0.081);
  EXPECT_NEAR(core.runs.back().end.in_si(), 40.0, 1e-9);
  EXPECT_FALSE(iteration.lanes[0].sliced);  // one group, one run
  EXPECT_EQ(iteration.lanes[0].runs.size(), 1U);
}

TEST(Lanes, ACallLongerThanASliceFillsAllItsSlices) {
  const Sample sample;
  const auto iteration = iteration_lanes(sample.report(), 3);
  const auto& kernel = iteration.lanes[1];
  EXPECT_TRUE(kernel.sliced);
  // Slices end at 0.84, 1.68 and 2.52 s; adam runs from 1.52 s to the end.
  EXPECT_EQ(kernel.runs.back().label, 2U);
  EXPECT_NEAR(kernel.runs.back().end.in_si(), 2.52, 1e-12);
}

}  // namespace
}  // namespace negawatt::report
