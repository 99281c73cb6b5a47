// SPDX-License-Identifier: Apache-2.0
#include "report/wording.hpp"

#include <gtest/gtest.h>

#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using testing::cost;
using testing::kLow;
using testing::Sample;

TEST(Wording, SignificantDigitsSurviveRoundingUp) {
  EXPECT_EQ(significant(5.3596), "5.36");
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(999.6), "1000");
  EXPECT_EQ(significant(0.012345), "0.0123");
  EXPECT_EQ(significant(1814.95, 4), "1815");
  EXPECT_EQ(significant(0.0), "0");
}

TEST(Wording, QuantitiesCarryAPrefixAndAUnit) {
  EXPECT_EQ(quantity(Seconds(5.3596)), "5.36 s");
  EXPECT_EQ(quantity(Seconds(0.00021)), "210 us");
  EXPECT_EQ(quantity(Seconds(0.99996)), "1.00 s");
  EXPECT_EQ(quantity(Joules(1814.95), 4), "1.815 kJ");
  EXPECT_EQ(quantity(Joules(-0.25)), "-250 mJ");
  EXPECT_EQ(quantity(Joules(0)), "0 J");
  EXPECT_EQ(quantity(Watts(3.2e6)), "3.20 MW");
  EXPECT_EQ(quantity(Joules(1e-15)), "0.00000100 nJ");
}

TEST(Wording, ChangesAreSignedAndNeverMinusZero) {
  EXPECT_EQ(change(-15.638), "-15.64 %");
  EXPECT_EQ(change(-0.004), "+0.00 %");
  EXPECT_EQ(change(0.0374), "+0.04 %");
  EXPECT_EQ(change(12345.6), "+12346 %");
}

TEST(Wording, CountsAreGroupedAndInflected) {
  EXPECT_EQ(counted(1, "kernel"), "1 kernel");
  EXPECT_EQ(counted(100000, "kernel"), "100,000 kernels");
  EXPECT_EQ(counted(1234567, ""), "1,234,567");
  EXPECT_EQ(counted(0, "change"), "0 changes");
}

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
            "That is 3.70 % less energy than the best single fixed setting (core 1410 MHz, memory "
            "5001 MHz).");
  sample.plan.best_static->total.energy = sample.plan.total.energy;
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
