// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_clocks.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/shared_data.hpp"

namespace negawatt::plan {
namespace {

using trace::Clock;
using trace::ClockPair;
using trace::KernelTable;
using trace::Sequence;

constexpr ClockPair kAutomatic{};
constexpr std::string_view kHeader = "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n";

KernelTable table_of(const std::string& rows, std::string_view header = kHeader) {
  auto table = trace::parse_kernel_table(std::string(header) + rows, "k.csv");
  EXPECT_TRUE(table) << table.error().message;
  return std::move(table).value();
}

KernelTable shipped(const std::string& file) {
  auto table =
      trace::parse_kernel_table(testing::repository_file("data/gpt3-xl-3080ti/" + file), file);
  EXPECT_TRUE(table) << table.error().message;
  return std::move(table).value();
}

Sequence shipped_sequence(const KernelTable& table) {
  return trace::parse_sequence(testing::repository_file("data/gpt3-xl-3080ti/sequence.csv"),
                               "sequence.csv", table)
      .value();
}

ClockPlan planned(const KernelTable& table, const PlanRequest& request) {
  auto plan = plan_clocks(table, trace::sequence_in_table_order(table).value(), request);
  EXPECT_TRUE(plan) << plan.error().message;
  return std::move(plan).value();
}

std::string error_of(const KernelTable& table, const PlanRequest& request) {
  const auto plan = plan_clocks(table, trace::sequence_in_table_order(table).value(), request);
  return plan ? "accepted" : plan.error().message;
}

double time_change(const ClockPlan& plan, Cost cost) {
  return change_pct(plan.baseline.time, cost.time);
}
double energy_change(const ClockPlan& plan, Cost cost) {
  return change_pct(plan.baseline.energy, cost.energy);
}

// arXiv 2601.08539: 46 kernels, 897 invocations; the printed plan is +0.00 % / -15.64 %.
TEST(PublishedAccounting, ThePaperIterationTakesFivePointThreeSixSecondsAnd1815Joules) {
  const auto table = shipped("kernels.csv");
  EXPECT_EQ(table.kernels.size(), 46U);
  const auto plan = planned(table, {});
  EXPECT_NEAR(plan.baseline.time.in_si(), 5.360, 0.0005);
  EXPECT_NEAR(plan.baseline.energy.in_si(), 1815.0, 0.05);
}

TEST(PublishedAccounting, TheChosenClocksSaveFifteenPointSixFourPercentWith823Changes) {
  const auto table = shipped("kernels.csv");
  const auto sequence = shipped_sequence(table);
  EXPECT_EQ(sequence.size(), 897U);
  // The printed plan rounds to +0.00 % but is 0.0004 % slower, so it needs that much room.
  const auto plan = plan_clocks(table, sequence, {.slowdown = 0.00001}).value();
  EXPECT_NEAR(time_change(plan, plan.total), 0.00, 0.005);
  EXPECT_NEAR(energy_change(plan, plan.total), -15.64, 0.005);
  EXPECT_EQ(plan.switches, 823U);
  EXPECT_EQ(plan.segments.size(), 824U);
  EXPECT_EQ(gap_pct(plan.total.energy, plan.bound), 0.0);
}

struct PassRow {
  double slowdown_pct;
  Objective objective;
  Scope scope;
  double time_pct;
  double energy_pct;
};

/// Names the row in the test's name.
std::ostream& operator<<(std::ostream& out, const PassRow& row) {
  return out << (row.objective == Objective::edp ? "edp " : "waste ")
             << (row.scope == Scope::local ? "local " : "global ") << row.slowdown_pct << " %";
}

class PublishedPasses : public ::testing::TestWithParam<PassRow> {};

TEST_P(PublishedPasses, MatchThePrintedTable) {
  const auto& row = GetParam();
  const auto plan = planned(
      shipped("passes.csv"),
      {.objective = row.objective, .slowdown = row.slowdown_pct / 100.0, .scope = row.scope});
  EXPECT_NEAR(time_change(plan, plan.total), row.time_pct, 0.005);
  EXPECT_NEAR(energy_change(plan, plan.total), row.energy_pct, 0.005);
  EXPECT_EQ(gap_pct(plan.total.energy, plan.bound), 0.0);
}

INSTANTIATE_TEST_SUITE_P(
    Table2AndRelaxed, PublishedPasses,
    ::testing::Values(PassRow{0.0, Objective::waste, Scope::global, -0.10, -2.07},
                      PassRow{0.0, Objective::waste, Scope::local, -0.20, -1.98},
                      PassRow{0.0, Objective::edp, Scope::global, 10.21, -25.42},
                      PassRow{0.0, Objective::edp, Scope::local, 10.21, -25.42},
                      PassRow{0.1, Objective::waste, Scope::global, 0.09, -9.66},
                      PassRow{1.0, Objective::waste, Scope::global, 0.09, -9.66},
                      PassRow{2.0, Objective::waste, Scope::global, 1.16, -10.85},
                      PassRow{5.0, Objective::waste, Scope::global, 4.05, -16.21},
                      PassRow{10.0, Objective::waste, Scope::global, 8.61, -22.24}));

TEST(PublishedPasses, OneStaticPairSavesNinePointSixTwoPercent) {
  const auto plan =
      planned(shipped("passes.csv"), {.slowdown = 0.001, .granularity = Granularity::one_pair});
  const ClockPair expected{Clock::automatic(), Clock::locked_mhz(9501)};
  EXPECT_EQ(plan.choices[0].clocks, expected);
  EXPECT_NEAR(time_change(plan, plan.total), 0.04, 0.005);
  EXPECT_NEAR(energy_change(plan, plan.total), -9.62, 0.005);
  ASSERT_TRUE(plan.best_static);
  EXPECT_EQ(plan.best_static->clocks, expected);
  EXPECT_EQ(plan.best_static->total.energy, plan.total.energy);
  // Without any room the only static pair that is not slower is the automatic one.
  const auto strict = planned(shipped("passes.csv"), {});
  EXPECT_EQ(strict.best_static->clocks, kAutomatic);
}

TEST(PlanClocks, TakesAutomaticClocksAsBaselineWhereTheTableHasThem) {
  const auto table = table_of("a,g,1,auto,auto,1,10\na,g,1,900,auto,2,8\n");
  EXPECT_EQ(planned(table, {}).baseline_clocks, kAutomatic);
}

TEST(PlanClocks, TakesTheHighestPairAsBaselineOtherwise) {
  const auto table = table_of("a,g,1,900,500,2,8\na,g,1,1800,400,1,9\na,g,1,1800,500,1,10\n");
  const ClockPair highest{Clock::locked_mhz(1800), Clock::locked_mhz(500)};
  EXPECT_EQ(planned(table, {}).baseline_clocks, highest);
}

TEST(PlanClocks, NamesTheKernelThatLacksTheBaselinePair) {
  const auto table = table_of("a,g,1,auto,auto,1,10\nb,g,1,900,500,1,10\n");
  EXPECT_EQ(error_of(table, {}),
            "k.csv: kernel 'b' has no row at the baseline (core auto, memory auto)");
}

TEST(PlanClocks, SaysSoWhenNothingCanBeThatFast) {
  const auto table = table_of("a,g,1,auto,auto,1,10\n");
  const auto plan = plan_clocks(table, {0}, {.slowdown = -0.5});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::infeasible);
}

TEST(PlanClocks, RefusesContradictoryRequests) {
  const auto table = table_of("a,g,1,auto,auto,1,10\n");
  EXPECT_EQ(error_of(table, {.slowdown = -1.0}),
            "the slowdown must be a finite number above -100 %");
  EXPECT_EQ(error_of(table, {.lambda = 1.5}), "lambda must lie between 0 and 1");
  EXPECT_EQ(error_of(table, {.confidence = 0.95}),
            "k.csv: a confidence needs the columns time_sd_s and energy_sd_j");
  EXPECT_EQ(error_of(table, {.granularity = Granularity::schedule, .scope = Scope::local}),
            "a schedule has one budget for the iteration: scope local does not apply");
}

TEST(PlanClocks, ExplainsEveryChoice) {
  // a: the slow pair saves most per second; b: no room is left; c: one pair only.
  const auto table = table_of(
      "a,g,1,auto,auto,1,10\na,g,1,900,auto,1.1,5\na,g,1,950,auto,1.2,9\n"
      "b,g,1,auto,auto,1,10\nb,g,1,900,auto,1.1,9\n"
      "c,g,1,auto,auto,1,10\n");
  const auto plan = planned(table, {.slowdown = 0.04});
  ASSERT_EQ(plan.choices.size(), 3U);
  EXPECT_EQ(plan.choices[0].reason, Reason::least_energy);
  EXPECT_EQ(plan.choices[0].dominated, 1U);
  EXPECT_EQ(plan.choices[0].pairs, 3U);
  EXPECT_EQ(plan.choices[1].reason, Reason::budget_bound);
  EXPECT_EQ(plan.choices[2].reason, Reason::only_pair);
  EXPECT_GT(plan.price, Watts(0));
}

TEST(PlanClocks, CoarserPlansAreNeverBetter) {
  const auto table = table_of(
      "a,g,3,auto,auto,1,10\na,g,3,900,auto,1.2,6\na,g,3,700,auto,1.5,5\n"
      "b,g,2,auto,auto,1,10\nb,g,2,900,auto,1.05,7\nb,g,2,700,auto,1.1,4\n"
      "c,h,1,auto,auto,2,10\nc,h,1,900,auto,2.0,9\nc,h,1,700,auto,3.0,8\n");
  for (const double slowdown : {0.0, 0.05, 0.1, 0.2, 0.5}) {
    const auto kernel = planned(table, {.slowdown = slowdown});
    const auto group = planned(table, {.slowdown = slowdown, .granularity = Granularity::group});
    const auto whole = planned(table, {.slowdown = slowdown, .granularity = Granularity::one_pair});
    EXPECT_LE(kernel.total.energy, group.total.energy);
    EXPECT_LE(group.total.energy, whole.total.energy);
    EXPECT_EQ(kernel.global->energy, kernel.total.energy);
    EXPECT_LE(kernel.global->energy, kernel.local->energy);
    EXPECT_EQ(whole.best_static->total.energy, whole.total.energy);
  }
}

TEST(PlanClocks, AFrontierRunsFromFastestToLeastEnergy) {
  const auto plan = planned(shipped("passes.csv"), {.frontier = true});
  ASSERT_GT(plan.frontier.size(), 3U);
  for (std::size_t i = 1; i < plan.frontier.size(); ++i) {
    EXPECT_GT(plan.frontier[i].time, plan.frontier[i - 1].time);
    EXPECT_LT(plan.frontier[i].energy, plan.frontier[i - 1].energy);
  }
}

TEST(PlanClocks, AScheduleWithoutLatencyIsAsGoodAsFreeSwitching) {
  const auto table = shipped("kernels.csv");
  const auto sequence = shipped_sequence(table);
  const PlanRequest request{.slowdown = 0.006, .granularity = Granularity::schedule};
  const auto plan = plan_clocks(table, sequence, request).value();
  EXPECT_LE(plan.total.energy, plan.global->energy * (1.0 + 1e-9));
  EXPECT_TRUE(plan.choices.empty());
}

TEST(PlanClocks, AScheduleNeverLosesToTheBestStaticPairAndNeverGainsFromLatency) {
  const auto table = shipped("kernels.csv");
  const auto sequence = shipped_sequence(table);
  Joules previous(0);
  for (const double latency : {0.0, 0.001, 0.006, 0.015, 0.1, 10.0}) {
    PlanRequest request{.slowdown = 0.006, .granularity = Granularity::schedule};
    request.switching.core.any.latency = Seconds(latency);
    request.switching.memory.any.latency = Seconds(latency);
    const auto plan = plan_clocks(table, sequence, request).value();
    EXPECT_LE(plan.total.energy, plan.best_static->total.energy);
    EXPECT_LE(plan.bound, plan.total.energy * (1.0 + 1e-12));
    // Each plan may be above its optimum by its own proven gap.
    EXPECT_GE(plan.total.energy, previous);
    previous = plan.bound;
  }
  EXPECT_EQ(previous, planned(table, {.slowdown = 0.006}).best_static->total.energy);
}

}  // namespace
}  // namespace negawatt::plan
