// SPDX-License-Identifier: Apache-2.0
#include "solve/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace negawatt::solve {
namespace {

using ::testing::ElementsAre;

Cost cost(double seconds, double joules) { return {Seconds(seconds), Joules(joules)}; }

/// Two kernels with three options each, small enough to solve by hand.
ChoiceProblem two_kernels() {
  ChoiceProblem problem;
  problem.add_item(std::vector{cost(1, 100), cost(2, 60), cost(4, 50)});
  problem.add_item(std::vector{cost(1, 80), cost(2, 70), cost(3, 40)});
  return problem;
}

TEST(ChoiceProblem, GivesBackItsOptions) {
  const auto problem = two_kernels();
  EXPECT_EQ(problem.items(), 2U);
  EXPECT_EQ(problem.option_count(), 6U);
  EXPECT_EQ(problem.options(1)[2].energy, Joules(40));
}

TEST(ChoiceProblemDeathTest, RefusesWhatNoMeasurementCanBe) {
  ChoiceProblem problem;
  EXPECT_DEATH(problem.add_item({}), "options.empty");
  EXPECT_DEATH(problem.add_item(std::vector{cost(-1, 1)}), "time");
  EXPECT_DEATH(problem.add_item(std::vector{cost(1, std::nan(""))}), "energy");
}

TEST(TotalOf, LosesNothingAmongManyItems) {
  ChoiceProblem problem;
  problem.add_item(std::vector{cost(1e16, 0)});
  for (int i = 0; i < 1000; ++i) problem.add_item(std::vector{cost(1, 0.1)});
  const auto total = total_of(problem, std::vector<std::uint32_t>(1001, 0));
  EXPECT_EQ(total.time, Seconds(1e16 + 1000));
  EXPECT_EQ(total.energy, Joules(100));
}

TEST(LatestWithin, AllowsForTheRoundingOfSums) {
  // A plain sum of a million equal times falls 1.9e-11 short of the exact total.
  constexpr std::size_t kItems = 1'000'000;
  double plain = 0.0;
  for (std::size_t i = 0; i < kItems; ++i) plain += 0.3;
  ASSERT_LT(plain, 300'000 * (1 - 1e-11));
  EXPECT_GE(latest_within(Seconds(plain), kItems), Seconds(300'000));
  EXPECT_LT(latest_within(Seconds(1), 46), Seconds(1 + kBudgetTolerance));
}

TEST(LeastEnergyEachWithin, KeepsEveryItemsOwnBudget) {
  const std::vector budgets = {Seconds(2), Seconds(2.5)};
  const auto choice = least_energy_each_within(two_kernels(), budgets);
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->option, ElementsAre(1, 1));
  EXPECT_EQ(choice->total.energy, Joules(130));
  EXPECT_EQ(choice->lower_bound, Joules(130));
}

TEST(LeastEnergyEachWithin, NamesTheItemThatCannot) {
  const std::vector budgets = {Seconds(2), Seconds(0.5)};
  const auto choice = least_energy_each_within(two_kernels(), budgets);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::infeasible);
  EXPECT_EQ(choice.error().message, "item 1 takes at least 1 s, more than its budget of 0.5 s");
}

TEST(LeastEnergyEachWithin, TakesTheFasterOfEqualEnergiesThenTheLowerIndex) {
  ChoiceProblem problem;
  problem.add_item(std::vector{cost(3, 5), cost(2, 5), cost(2, 5), cost(1, 9)});
  EXPECT_THAT(least_energy_each_within(problem, std::vector{Seconds(9)})->option, ElementsAre(1));
}

TEST(LeastWeighted, WeighsJoulesAgainstSeconds) {
  EXPECT_THAT(least_weighted(two_kernels(), 1, 0).option, ElementsAre(2, 2));
  EXPECT_THAT(least_weighted(two_kernels(), 0, 1).option, ElementsAre(0, 0));
  EXPECT_THAT(least_weighted(two_kernels(), 1, 25).option, ElementsAre(1, 0));
}

TEST(LeastWeighted, TakesTheLesserEnergyOfEqualSums) {
  // 100 + 40 * 1 == 60 + 40 * 2, and 80 + 20 * 1 == 40 + 20 * 3.
  EXPECT_EQ(least_weighted(two_kernels(), 1, 40).option[0], 1U);
  EXPECT_EQ(least_weighted(two_kernels(), 1, 20).option[1], 2U);
}

TEST(LeastEnergyDelayEach, MinimisesTheProductOfEveryItem) {
  // EDP: 100, 120, 200 and 80, 140, 120. Exponent 0 is least energy.
  EXPECT_THAT(least_energy_delay_each(two_kernels(), 1).option, ElementsAre(0, 0));
  EXPECT_THAT(least_energy_delay_each(two_kernels(), 0).option, ElementsAre(2, 2));
}

}  // namespace
}  // namespace negawatt::solve
