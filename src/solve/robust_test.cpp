// SPDX-License-Identifier: Apache-2.0
#include "solve/robust.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/robust_simulation.hpp"

namespace negawatt::solve {
namespace {

using simulation::near_equal;
using simulation::realistic;
using simulation::Score;
using simulation::Setting;
using simulation::simulate;
using simulation::Size;
using simulation::World;

constexpr Size kSmall{.kernels = 10, .core_clocks = 5, .memory_clocks = 4};

/// Three standard errors above the rate that is allowed.
double allowed(double confidence, int runs) {
  const double rate = 1.0 - confidence;
  return rate + 3.0 * std::sqrt(rate * confidence / runs);
}

void expect_unbiased(const Score& score) {
  EXPECT_NEAR(score.time_bias.mean, 0.0, 3.5 * score.time_bias.error);
  EXPECT_NEAR(score.energy_bias.mean, 0.0, 3.5 * score.energy_bias.error);
}

RobustProblem two_kernels() {
  RobustProblem problem;
  const std::vector<Cost> first = {{Seconds(1.0), Joules(100.0)}, {Seconds(1.1), Joules(70.0)}};
  const std::vector<Cost> second = {{Seconds(2.0), Joules(300.0)}, {Seconds(1.9), Joules(290.0)}};
  problem.options.add_item(first);
  problem.options.add_item(second);
  problem.deviations.assign(4, {Seconds(0.001), Joules(0.5)});
  problem.baseline = {0, 0};
  return problem;
}

TEST(Robust, FindsTheObviousPlanAndPromisesWhatItIsWorth) {
  const auto robust = least_energy_with_confidence(two_kernels());
  ASSERT_TRUE(robust) << robust.error().message;
  // Both kernels change: exactly the baseline's 3 s, which noise lets nobody certify; the second
  // kernel alone saves 10 J at -0.1 s.
  EXPECT_EQ(robust->choice.option, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_NEAR(robust->choice.total.energy.in_si(), 390.0, 1e-9);
  EXPECT_NEAR(robust->choice.lower_bound.in_si(), 360.0, 1e-9);
  const Promise& promise = robust->promise;
  EXPECT_NEAR(promise.searched.time.in_si(), 2.9, 1e-9);
  EXPECT_NEAR(promise.expected.time.in_si(), 2.9, 5.0 * promise.expected_sd.time.in_si());
  EXPECT_NEAR(promise.expected.energy.in_si(), 390.0, 5.0 * promise.expected_sd.energy.in_si());
  // Two independent options differ: at least sqrt(2) times one error, at most that of the
  // estimating part alone.
  EXPECT_GE(promise.expected_sd.time.in_si(), std::sqrt(2.0) * 0.001);
  EXPECT_LE(promise.expected_sd.time.in_si(), std::sqrt(2.0 / 0.15) * 0.001 + 1e-12);
}

TEST(Robust, PromisesExactlyTheBaselineWhenNothingIsCertified) {
  RobustProblem problem = two_kernels();
  problem.deviations.assign(4, {Seconds(0.5), Joules(50.0)});
  const auto robust = least_energy_with_confidence(problem);
  ASSERT_TRUE(robust);
  EXPECT_EQ(robust->choice.option, problem.baseline);
  EXPECT_EQ(robust->promise.expected.energy, Joules(400.0));
  EXPECT_EQ(robust->promise.expected_sd.time, Seconds(0.0));
  EXPECT_EQ(robust->promise.time_at_confidence, Seconds(3.0));
}

TEST(Robust, SameSeedSamePlanAndPromise) {
  const auto one = least_energy_with_confidence(two_kernels());
  const auto two = least_energy_with_confidence(two_kernels());
  RobustProblem other = two_kernels();
  other.seed = 2;
  const auto three = least_energy_with_confidence(other);
  ASSERT_TRUE(one && two && three);
  EXPECT_EQ(one->promise.expected.energy, two->promise.expected.energy);
  EXPECT_EQ(one->promise.expected_sd.time, two->promise.expected_sd.time);
  EXPECT_NE(one->promise.expected.energy, three->promise.expected.energy);
}

TEST(Robust, SaysWhatIsOutOfRange) {
  const auto message = [](auto change) {
    RobustProblem problem = two_kernels();
    change(problem);
    const auto robust = least_energy_with_confidence(problem);
    EXPECT_FALSE(robust);
    EXPECT_EQ(robust ? Code::internal : robust.error().code, Code::invalid);
    return robust ? std::string() : robust.error().message;
  };
  EXPECT_EQ(message([](RobustProblem& p) { p.confidence = 1.0; }),
            "confidence 1: expected at least 0.5 and below 1");
  EXPECT_EQ(message([](RobustProblem& p) { p.confidence = 0.4; }),
            "confidence 0.4: expected at least 0.5 and below 1");
  EXPECT_EQ(message([](RobustProblem& p) { p.slowdown = -0.01; }),
            "slowdown -0.01: expected a fraction of at least 0");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Deviation bad : {Deviation{Seconds(-1.0), Joules(0.0)}, Deviation{Seconds(nan), {}},
                              Deviation{Seconds(1.0), Joules(1.0), 1.5}})
    EXPECT_NE(message([&](RobustProblem& p) { p.deviations[2] = bad; }).find("expected finite"),
              std::string::npos);
}

TEST(Robust, EnergyOfPowerTimesTimeIsCorrelatedWithTime) {
  // 100 W: a time error of 0.1 s is 10 J; power adds an independent error to make 12.5 J.
  const Cost mean{Seconds(2.0), Joules(200.0)};
  EXPECT_NEAR(deviation_of_product(mean, Seconds(0.1), Joules(12.5)).correlation, 0.8, 1e-15);
  // An energy error below what time alone explains: as far correlated as can be.
  EXPECT_EQ(deviation_of_product(mean, Seconds(0.1), Joules(5.0)).correlation, 1.0);
  EXPECT_EQ(deviation_of_product(mean, Seconds(0.1), Joules(0.0)).correlation, 0.0);
}

TEST(Robust, DeviationsOfKernelsThatShareClocksAddAsVariances) {
  const Deviation sum = Deviation{Seconds(3.0), Joules(5.0), 1.0} +  //
                        Deviation{Seconds(4.0), Joules(12.0), 0.0};
  EXPECT_NEAR(sum.time.in_si(), 5.0, 1e-15);
  EXPECT_NEAR(sum.energy.in_si(), 13.0, 1e-14);
  EXPECT_NEAR(sum.correlation, 15.0 / 65.0, 1e-15);
}

RC_GTEST_PROP(Robust, IsThePlainOptimumWithoutDeviations, ()) {
  RobustProblem problem;
  const auto items = *rc::gen::inRange(1, 6);
  for (int item = 0; item < items; ++item) {
    std::vector<Cost> options;
    const auto count = *rc::gen::inRange(1, 6);
    for (int option = 0; option < count; ++option)
      options.push_back(
          {Seconds(0.1 * *rc::gen::inRange(1, 50)), Joules(0.1 * *rc::gen::inRange(1, 500))});
    problem.options.add_item(options);
    problem.baseline.push_back(*rc::gen::inRange(0U, static_cast<std::uint32_t>(count)));
  }
  problem.deviations.resize(problem.options.option_count());
  problem.slowdown = 0.01 * *rc::gen::inRange(0, 30);
  const Cost baseline = total_of(problem.options, problem.baseline);
  const auto plain = least_energy_within(problem.options, (1.0 + problem.slowdown) * baseline.time);
  const auto robust = least_energy_with_confidence(problem);
  RC_ASSERT(plain && robust);
  RC_ASSERT(robust->choice.total.energy == plain->total.energy);
  RC_ASSERT(robust->choice.lower_bound == plain->lower_bound);
  RC_ASSERT(std::abs((robust->promise.expected.energy - plain->total.energy).in_si()) < 1e-9);
  RC_ASSERT(std::abs((robust->promise.time_at_confidence - plain->total.time).in_si()) < 1e-9);
  RC_ASSERT(robust->promise.expected_sd.energy == Joules(0.0));
}

/// Every departure from the baseline violates by a hair: what is not certified luck is violation.
class RobustAtConfidence : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Levels, RobustAtConfidence, ::testing::Values(0.5, 0.9, 0.95, 0.99));

TEST_P(RobustAtConfidence, KeepsTheBudgetWhereEveryDepartureViolatesIt) {
  constexpr int kRuns = 1000;
  const World world = near_equal(kSmall, {.least = 0.005, .most = 0.005}, 1e-9);
  const Score score = simulate({world}, {.confidence = GetParam()}, {kRuns, 1000});
  EXPECT_LE(score.violations, allowed(GetParam(), kRuns));
  // The promise is used up, not kept by never changing anything.
  EXPECT_GE(score.violations, 0.25 * (1.0 - GetParam()));
  EXPECT_GE(score.naive_violations, 0.5);
  expect_unbiased(score);
}

TEST_P(RobustAtConfidence, KeepsTheBudgetAmongManyNearEqualOptions) {
  constexpr int kRuns = 600;
  const World world = near_equal(kSmall, {.least = 0.02, .most = 0.02, .correlation = 0.6}, 0.006);
  const Score score =
      simulate({world}, {.slowdown = 0.005, .confidence = GetParam()}, {kRuns, 2000});
  EXPECT_LE(score.violations, allowed(GetParam(), kRuns));
  EXPECT_GE(score.naive_violations, 0.5);
  expect_unbiased(score);
}

TEST_P(RobustAtConfidence, KeepsTheBudgetOfRealisticKernels) {
  constexpr int kWorlds = 10;
  constexpr int kRuns = 50;
  std::vector<World> worlds;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed)
    worlds.push_back(realistic(kSmall, {.correlation = 0.3}, seed));
  const Score score = simulate(worlds, {.slowdown = 0.02, .confidence = GetParam()}, {kRuns, 3000});
  EXPECT_LE(score.violations, allowed(GetParam(), kWorlds * kRuns));
  EXPECT_GT(score.saving.mean, 0.0);
  expect_unbiased(score);
}

TEST(Robust, PaperSizedTablesKeepBudgetAndPromiseWherePlainPlanningFails) {
  constexpr int kRuns = 25;
  std::vector<World> worlds;
  for (std::uint64_t seed = 0; seed < 6; ++seed) worlds.push_back(realistic({}, {}, seed));
  const Score score = simulate(worlds, {.slowdown = 0.01, .confidence = 0.9}, {kRuns, 4000});
  EXPECT_LE(score.violations, allowed(0.9, 6 * kRuns));
  EXPECT_GE(score.naive_violations, 0.5);
  expect_unbiased(score);
  EXPECT_LT(score.naive_energy_bias.mean, -0.3);  // points of energy that the table overstates
  EXPECT_LT(score.naive_time_bias.mean, -0.15);
  EXPECT_GT(score.saving.mean, 0.7 * score.best_saving.mean);
}

TEST(Robust, StatedDeviationOfThePromiseIsItsError) {
  constexpr int kRuns = 100;
  std::vector<World> worlds;
  for (std::uint64_t seed = 0; seed < 10; ++seed) worlds.push_back(realistic(kSmall, {}, seed));
  const Score score = simulate(worlds, {.slowdown = 0.05, .confidence = 0.9}, {kRuns, 5000});
  EXPECT_NEAR(score.time_spread, 1.0, 0.1);
  EXPECT_NEAR(score.energy_spread, 1.0, 0.1);
}

TEST(Robust, TimeAtConfidenceHoldsAndIsTighterThanABudgetThatIsNotShort) {
  constexpr int kRuns = 1000;
  const World world = realistic(kSmall, {.least = 0.01, .most = 0.01}, 11);
  const Setting setting{.slowdown = 1.5, .confidence = 0.9};
  const Score score = simulate({world}, setting, {kRuns, 6000});
  EXPECT_EQ(score.violations, 0.0);
  EXPECT_LE(score.above_bound, allowed(0.9, kRuns));
  EXPECT_GE(score.above_bound, 0.1 - 3.0 * std::sqrt(0.1 * 0.9 / kRuns));
}

}  // namespace
}  // namespace negawatt::solve
