// SPDX-License-Identifier: Apache-2.0
#include "report/iteration.hpp"

#include <gtest/gtest.h>

#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using testing::kAuto;
using testing::kLow;
using testing::Sample;

TEST(Iteration, VisitsInvocationsBackToBackAtTheirSegmentsClocks) {
  const Sample sample;
  std::vector<double> starts;
  std::vector<trace::ClockPair> clocks;
  const auto time = for_each_invocation(sample.report(), [&](const Invocation& invocation) {
    starts.push_back(invocation.start.in_si());
    clocks.push_back(invocation.option->clocks);
  });
  EXPECT_EQ(starts, (std::vector<double>{0.0, 0.26, 0.76, 1.02, 1.52}));
  EXPECT_EQ(clocks, (std::vector{kLow, kAuto, kLow, kAuto, kAuto}));
  EXPECT_DOUBLE_EQ(time.in_si(), sample.plan.total.time.in_si());
}

TEST(Iteration, KernelsAddUpToTheBaselineAndThePlan) {
  const Sample sample;
  const auto uses = kernel_uses(sample.report());
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[0].baseline.energy, Joules(150));
  EXPECT_EQ(uses[0].planned.energy, Joules(120));
  EXPECT_EQ(uses[0].clocks, kLow);
  EXPECT_EQ(uses[0].pairs_used, 1U);
  EXPECT_EQ(uses[0].reason, plan::Reason::least_energy);
  EXPECT_EQ(uses[2].planned.energy, uses[2].baseline.energy);
  EXPECT_EQ(uses[2].reason, plan::Reason::only_pair);
  Cost baseline;
  Cost planned;
  for (const auto& use : uses) {
    baseline += use.baseline;
    planned += use.planned;
  }
  EXPECT_DOUBLE_EQ(baseline.energy.in_si(), sample.plan.baseline.energy.in_si());
  EXPECT_DOUBLE_EQ(planned.energy.in_si(), sample.plan.total.energy.in_si());
  EXPECT_DOUBLE_EQ(planned.time.in_si(), sample.plan.total.time.in_si());
}

TEST(Iteration, AScheduleMayRunOneKernelAtTwoPairs) {
  Sample sample;
  sample.make_schedule();
  sample.plan.segments = {{0, 1, kLow, {}}, {2, 4, kAuto, {}}};
  const auto uses = kernel_uses(sample.report());
  EXPECT_EQ(uses[0].pairs_used, 2U);
  EXPECT_EQ(uses[0].planned.energy, Joules(135));  // once 60 J, once 75 J
  EXPECT_EQ(uses[0].reason, plan::Reason::shared);
  EXPECT_EQ(uses[2].reason, plan::Reason::only_pair);
}

TEST(Iteration, CountsPairsThatAnotherPairBeatsInBoth) {
  Sample sample;
  sample.make_schedule();
  auto& options = sample.table.kernels[0].options;
  options.push_back(testing::option({trace::Clock::locked_mhz(2100), {}}, 0.27, 61));
  EXPECT_EQ(kernel_uses(sample.report())[0].dominated, 1U);
}

TEST(Iteration, GroupsKeepTheOrderOfFirstAppearance) {
  const Sample sample;
  const auto groups = group_uses(kernel_uses(sample.report()));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "forward");
  EXPECT_EQ(groups[0].kernels, 2U);
  EXPECT_EQ(groups[0].baseline.energy, Joules(350));
  EXPECT_EQ(groups[0].planned.energy, Joules(320));
  EXPECT_EQ(groups[1].name, "optimizer");
}

TEST(Iteration, YardsticksLeaveOutWhatIsUnknown) {
  Sample sample;
  std::vector<std::string> keys;
  for (const auto& row : yardsticks(sample.plan)) keys.push_back(row.key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"baseline", "static", "local", "global", "plan", "bound"}));
  EXPECT_FALSE(yardsticks(sample.plan).back().time.has_value());
  sample.plan.best_static.reset();
  sample.plan.local.reset();
  keys.clear();
  for (const auto& row : yardsticks(sample.plan)) keys.push_back(row.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"baseline", "global", "plan", "bound"}));
}

TEST(IterationDeathTest, RefusesSegmentsThatDoNotCoverTheSequence) {
  Sample sample;
  sample.plan.segments.pop_back();
  EXPECT_DEATH(static_cast<void>(kernel_uses(sample.report())), "position == report.sequence.size");
}

}  // namespace
}  // namespace negawatt::report
