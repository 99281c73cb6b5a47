// SPDX-License-Identifier: Apache-2.0
#include "report/wording.hpp"

#include <gtest/gtest.h>

#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using testing::cost;
using testing::kLow;
using testing::Sample;

TEST(Wording, HeadlineSaysWhatIsSavedAndWhatItCosts) {
  Sample sample;
  EXPECT_EQ(headline(sample.plan),
            "This plan uses 5.45 % less energy than the driver's default clocks, and takes 0.800 % "
            "longer.");
  sample.plan.total = cost(2.5, 520);
  EXPECT_EQ(
      headline(sample.plan),
      "This plan uses 5.45 % less energy than the driver's default clocks, in the same time.");
  sample.plan.total = cost(2.0, 560);
  EXPECT_EQ(headline(sample.plan),
            "This plan uses 1.82 % more energy than the driver's default clocks, and is 20.0 % "
            "faster.");
  sample.plan.baseline_clocks = kLow;
  sample.plan.total = cost(2.0, 550);
  EXPECT_EQ(headline(sample.plan),
            "This plan uses as much energy as the baseline (core 1410 MHz, memory 5001 MHz), and "
            "is 20.0 % faster.");
}

TEST(Wording, HeadlineSaysThatNothingIsToGainOnlyWithProof) {
  Sample sample;
  sample.plan.total = sample.plan.baseline;
  sample.plan.bound = sample.plan.baseline.energy;
  EXPECT_NE(headline(sample.plan).find("no choice of clocks of this table"), std::string::npos);
  sample.plan.bound = Joules(500);
  EXPECT_NE(headline(sample.plan).find("no choice found"), std::string::npos);
}

TEST(Wording, ComparesWithTheBestFixedSetting) {
  Sample sample;
  EXPECT_EQ(against_static(sample.plan), "");  // it is the baseline itself
  sample.plan.best_static = plan::StaticPair{kLow, cost(2.5, 540)};
  EXPECT_EQ(against_static(sample.plan),
            "It uses 3.70 % less energy than the best single fixed setting (core 1410 MHz, memory "
            "5001 MHz), and takes 0.800 % longer.");
  sample.plan.best_static->total.energy = sample.plan.total.energy;
  EXPECT_EQ(against_static(sample.plan),
            "It uses as much energy as one fixed setting (core 1410 MHz, memory 5001 MHz), and "
            "takes 0.800 % longer.");
  sample.plan.best_static->total.time = sample.plan.total.time;
  EXPECT_EQ(against_static(sample.plan),
            "One fixed setting (core 1410 MHz, memory 5001 MHz) does as well.");
  sample.plan.best_static.reset();
  EXPECT_EQ(against_static(sample.plan), "");
}

TEST(Wording, ProofNamesTheGapThatRemains) {
  Sample sample;
  EXPECT_EQ(proof(sample.plan), "proven optimal");
  sample.plan.bound = Joules(514.8);
  EXPECT_EQ(proof(sample.plan), "at most 1.0 % above the optimum");
}

TEST(Wording, TaskNamesObjectiveScopeAndGranularity) {
  plan::PlanRequest request{.slowdown = 0.01};
  EXPECT_EQ(task(request), "least energy with at most +1.00 % time, one pair per kernel");
  request.scope = plan::Scope::local;
  request.objective = plan::Objective::ed2p;
  request.granularity = plan::Granularity::group;
  EXPECT_EQ(task(request), "least energy x time^2 for every kernel by itself, one pair per group");
}

TEST(Wording, SwitchesAreFreeExceptInASchedule) {
  Sample sample;
  EXPECT_TRUE(changes_are_free(sample.plan));
  sample.make_schedule();
  EXPECT_FALSE(changes_are_free(sample.plan));
}

}  // namespace
}  // namespace negawatt::report
