// SPDX-License-Identifier: Apache-2.0
#include "plan/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/choice_instances.hpp"

namespace negawatt::plan {
namespace {

using ::negawatt::testing::budget_between;
using ::negawatt::testing::Dice;
using ::negawatt::testing::InstanceKind;
using ::negawatt::testing::item_options;
using ::negawatt::testing::make_instance;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Cost cost(double seconds, double joules) { return {Seconds(seconds), Joules(joules)}; }

/// Calls `visit` with the total of every choice there is.
void for_each_choice(const ChoiceProblem& problem, const std::function<void(Cost)>& visit) {
  std::vector<std::uint32_t> option(problem.items(), 0);
  for (;;) {
    visit(total_of(problem, option));
    std::size_t i = 0;
    while (i < option.size() && ++option[i] == problem.options(i).size()) option[i++] = 0;
    if (i == option.size()) return;
  }
}

double brute_force_energy(const ChoiceProblem& problem, Seconds budget) {
  double least = std::numeric_limits<double>::infinity();
  for_each_choice(problem, [&](Cost total) {
    if (total.time <= latest_within(budget, problem.items())) {
      least = std::min(least, total.energy.in_si());
    }
  });
  return least;
}

/// Two kernels with three options each, small enough to solve by hand.
ChoiceProblem two_kernels() {
  ChoiceProblem problem;
  problem.add_item(std::vector{cost(1, 100), cost(2, 60), cost(4, 50)});
  problem.add_item(std::vector{cost(1, 80), cost(2, 70), cost(3, 40)});
  return problem;
}

TEST(LeastEnergyWithin, SpendsTheBudgetWhereItSavesMost) {
  const auto choice = least_energy_within(two_kernels(), Seconds(5));
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->option, ElementsAre(1, 2));
  EXPECT_EQ(choice->total.energy, Joules(100));
  EXPECT_EQ(choice->total.time, Seconds(5));
  EXPECT_EQ(choice->lower_bound, Joules(100));
}

TEST(LeastEnergyWithin, PricesASecondAtTheNextStepOfTheHull) {
  // After 1 -> 2 s of the first (40 W) the second's 1 -> 3 s is next: 40 J in 2 s.
  const auto choice = least_energy_within(two_kernels(), Seconds(4));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->total.energy, Joules(130));
  EXPECT_EQ(choice->price, Watts(20));
}

TEST(LeastEnergyWithin, IsFreeOfTheBudgetWhenItIsLong) {
  const auto choice = least_energy_within(two_kernels(), Seconds(100));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->total.energy, Joules(90));
  EXPECT_EQ(choice->price, Watts(0));
}

TEST(LeastEnergyWithin, SaysHowMuchTimeIsNeededAtLeast) {
  const auto choice = least_energy_within(two_kernels(), Seconds(1.5));
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::infeasible);
  EXPECT_EQ(choice.error().message, "the fastest choice takes 2 s, more than the budget of 1.5 s");
}

TEST(LeastEnergyWithin, EqualsBruteForceOnTinyInstances) {
  for (const auto kind : {InstanceKind::gpu, InstanceKind::random,
                          InstanceKind::strongly_correlated, InstanceKind::integral}) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      Dice dice(seed);
      ChoiceProblem problem;
      const auto items = 1 + dice.below(5);
      for (std::uint32_t i = 0; i < items; ++i) {
        problem.add_item(item_options(dice, kind, 1 + dice.below(5)));
      }
      const Seconds budget = budget_between(problem, dice.between(0.0, 1.05));
      const auto choice = least_energy_within(problem, budget);
      ASSERT_TRUE(choice) << choice.error().message;
      const double expected = brute_force_energy(problem, budget);
      EXPECT_NEAR(choice->total.energy.in_si(), expected, 1e-12 * (1 + std::abs(expected)))
          << name_of(kind) << " seed " << seed;
      EXPECT_LE(choice->total.time, latest_within(budget, items));
      EXPECT_EQ(choice->lower_bound, choice->total.energy);
    }
  }
}

}  // namespace
}  // namespace negawatt::plan
