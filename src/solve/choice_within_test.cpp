// SPDX-License-Identifier: Apache-2.0
//
// Least energy within a budget: by hand, against brute force, and properties that any exact
// solver has. choice_oracle_test.cpp holds it against another solver at larger sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "solve/choice.hpp"
#include "tests/choice_by_force.hpp"
#include "tests/choice_instances.hpp"

namespace negawatt::solve {
namespace {

using ::negawatt::testing::budget_between;
using ::negawatt::testing::Dice;
using ::negawatt::testing::InstanceKind;
using ::negawatt::testing::item_options;
using ::negawatt::testing::least_energy_by_force;
using ::negawatt::testing::make_instance;
using ::testing::ElementsAre;

Cost cost(double seconds, double joules) { return {Seconds(seconds), Joules(joules)}; }

constexpr InstanceKind kKinds[] = {InstanceKind::gpu, InstanceKind::random,
                                   InstanceKind::weakly_correlated,
                                   InstanceKind::strongly_correlated, InstanceKind::integral};

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

TEST(LeastEnergyWithin, TakesAnOptionOffTheHullWhenItFillsTheBudget) {
  // 4 s: the second's (2, 70) lies above its hull, and is better than leaving a second unused.
  const auto choice = least_energy_within(two_kernels(), Seconds(4));
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->option, ElementsAre(1, 1));
  EXPECT_EQ(choice->total.energy, Joules(130));
}

TEST(LeastEnergyWithin, PricesASecondAtTheNextStepOfTheHull) {
  // After 1 -> 2 s of the first (40 W) the second's 1 -> 3 s is next: 40 J in 2 s.
  EXPECT_EQ(least_energy_within(two_kernels(), Seconds(4))->price, Watts(20));
  EXPECT_EQ(least_energy_within(two_kernels(), Seconds(2.5))->price, Watts(40));
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

TEST(LeastEnergyWithin, OfNothingIsNothing) {
  const auto choice = least_energy_within(ChoiceProblem(), Seconds(0));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->total.energy, Joules(0));
  EXPECT_FALSE(least_energy_within(ChoiceProblem(), Seconds(-1)));
}

TEST(LeastEnergyWithin, AcceptsABudgetSummedInAnyOrder) {
  // One way to run every kernel: the plain sum of the times, forwards or backwards, must fit.
  Dice dice(3);
  ChoiceProblem problem;
  std::vector<double> times;
  for (int i = 0; i < 30'000; ++i) times.push_back(std::exp(dice.between(-9, 0)));
  for (const double time : times) problem.add_item(std::vector{cost(time, 1)});
  double forwards = 0.0;
  for (const double time : times) forwards += time;
  double backwards = 0.0;
  std::for_each(times.rbegin(), times.rend(), [&](double time) { backwards += time; });
  ASSERT_NE(forwards, backwards);
  EXPECT_TRUE(least_energy_within(problem, Seconds(forwards)));
  EXPECT_TRUE(least_energy_within(problem, Seconds(backwards)));
  EXPECT_FALSE(least_energy_within(problem, Seconds(forwards * (1 - 1e-10))));
}

TEST(LeastEnergyWithin, EqualsBruteForceOnTinyInstances) {
  for (const auto kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Dice dice(seed);
      ChoiceProblem problem;
      const auto items = 1 + dice.below(6);
      for (std::uint32_t i = 0; i < items; ++i) {
        problem.add_item(item_options(dice, kind, 1 + dice.below(5)));
      }
      const Seconds budget = budget_between(problem, dice.between(0.0, 1.05));
      const auto choice = least_energy_within(problem, budget);
      ASSERT_TRUE(choice) << choice.error().message;
      const double expected = least_energy_by_force(problem, budget);
      EXPECT_NEAR(choice->total.energy.in_si(), expected, 1e-12 * (1 + std::abs(expected)))
          << name_of(kind) << " seed " << seed;
      EXPECT_LE(choice->total.time, latest_within(budget, items));
      EXPECT_EQ(choice->total.energy, total_of(problem, choice->option).energy);
      EXPECT_EQ(choice->lower_bound, choice->total.energy);
    }
  }
}

TEST(LeastEnergyWithin, EqualsBruteForceWhenAllItemsAreTheSame) {
  for (const auto kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Dice dice(seed);
      const auto options = item_options(dice, kind, 4);
      ChoiceProblem problem;
      for (int i = 0; i < 6; ++i) problem.add_item(options);
      const Seconds budget = budget_between(problem, dice.roll());
      const double expected = least_energy_by_force(problem, budget);
      EXPECT_NEAR(least_energy_within(problem, budget)->total.energy.in_si(), expected,
                  1e-12 * (1 + std::abs(expected)))
          << name_of(kind) << " seed " << seed;
    }
  }
}

TEST(LeastEnergyWithin, ProvesManyCopiesOfAFewKernels) {
  // 24 layers of the same 20 kernels: the copies' partial choices coincide and are merged.
  Dice dice(7);
  std::vector<std::vector<Cost>> kernels;
  for (int i = 0; i < 20; ++i) kernels.push_back(item_options(dice, InstanceKind::gpu, 66));
  ChoiceProblem problem;
  for (int layer = 0; layer < 24; ++layer) {
    for (const auto& options : kernels) problem.add_item(options);
  }
  const auto choice = least_energy_within(problem, budget_between(problem, 0.2));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->lower_bound, choice->total.energy);
  EXPECT_LT(choice->states, 1'000'000U);
}

TEST(LeastEnergyWithin, SolvesSubsetSumsToTheLastDigit) {
  const auto problem = make_instance({InstanceKind::strongly_correlated, 200, 60}, 1);
  const auto choice = least_energy_within(problem, budget_between(problem, 0.4));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->lower_bound, choice->total.energy);
  EXPECT_LE(choice->total.time, latest_within(budget_between(problem, 0.4), 200));
}

TEST(LeastEnergyWithin, TellsAnHonestGapWhenItMayNotSearchOn) {
  int unproven = 0;
  for (const auto kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const auto problem = make_instance({kind, 12, 8}, seed);
      const Seconds budget = budget_between(problem, 0.3);
      const auto exact = least_energy_within(problem, budget).value();
      ASSERT_EQ(exact.lower_bound, exact.total.energy);
      const double tolerance = 1e-11 * std::abs(exact.total.energy.in_si());
      for (const std::size_t states : {0U, 3U, 30U, 300U}) {
        const auto choice = least_energy_within(problem, budget, {.states = states}).value();
        EXPECT_GE(choice.total.energy.in_si(), exact.total.energy.in_si() - tolerance);
        EXPECT_LE(choice.lower_bound.in_si(), exact.total.energy.in_si() + tolerance);
        EXPECT_LE(choice.total.time, latest_within(budget, problem.items()));
        EXPECT_LE(choice.states, states);
        unproven += choice.lower_bound < choice.total.energy ? 1 : 0;
      }
    }
  }
  EXPECT_GT(unproven, 100);  // or the limits above limit nothing
}

// ---- Properties of any exact answer, on problems that RapidCheck makes up and shrinks.

using Table = std::vector<std::vector<std::pair<int, int>>>;  // per item, per option: time, energy

Table any_table() {
  const auto number = rc::gen::inRange(0, 30);
  const auto item = rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(number, number)));
  return *rc::gen::resize(8, rc::gen::nonEmpty(rc::gen::container<Table>(item)));
}

struct Scale {
  double seconds = 1.0;
  double joules = 1.0;
};

ChoiceProblem problem_of(const Table& table, Scale scale = {}) {
  ChoiceProblem problem;
  for (const auto& item : table) {
    std::vector<Cost> options;
    for (const auto& [time, energy] : item) {
      options.push_back(cost(scale.seconds * time, scale.joules * energy));
    }
    problem.add_item(options);
  }
  return problem;
}

Seconds any_budget(const ChoiceProblem& problem) {
  return budget_between(problem, *rc::gen::inRange(0, 21) / 20.0);
}

double energy_within(const ChoiceProblem& problem, Seconds budget) {
  return least_energy_within(problem, budget).value().total.energy.in_si();
}

RC_GTEST_PROP(ExactChoice, KeepsTheBudgetAndItsBound, ()) {
  const auto problem = problem_of(any_table());
  const Seconds budget = any_budget(problem);
  const auto choice = least_energy_within(problem, budget).value();
  RC_ASSERT(choice.total.time <= latest_within(budget, problem.items()));
  RC_ASSERT(choice.lower_bound <= choice.total.energy);
  RC_ASSERT(choice.price >= Watts(0));
}

RC_GTEST_PROP(ExactChoice, NeverUsesMoreEnergyWithMoreBudget, ()) {
  const auto problem = problem_of(any_table());
  const Seconds budget = any_budget(problem);
  const Seconds more(*rc::gen::inRange(0, 40) / 4.0);
  RC_ASSERT(energy_within(problem, budget + more) <= energy_within(problem, budget));
}

RC_GTEST_PROP(ExactChoice, DoesNotDependOnTheUnits, ()) {
  const auto table = any_table();
  const auto problem = problem_of(table);
  const auto scaled = problem_of(table, {.seconds = 1e-3 / 3, .joules = 700});
  const Seconds budget = any_budget(problem);
  const double expected = 700 * energy_within(problem, budget);
  RC_ASSERT(std::abs(energy_within(scaled, (1e-3 / 3) * budget) - expected) <= 1e-9);
}

RC_GTEST_PROP(ExactChoice, IgnoresAnOptionThatAnotherBeats, ()) {
  auto table = any_table();
  const auto problem = problem_of(table);
  const Seconds budget = any_budget(problem);
  auto& item = table[*rc::gen::inRange<std::size_t>(0, table.size())];
  const auto better = item[*rc::gen::inRange<std::size_t>(0, item.size())];
  item.insert(item.begin(), {better.first + 1, better.second + 1});
  RC_ASSERT(energy_within(problem_of(table), budget) == energy_within(problem, budget));
}

RC_GTEST_PROP(ExactChoice, DoesNotDependOnTheOrderOfTheItems, ()) {
  auto table = any_table();
  const auto problem = problem_of(table);
  const Seconds budget = any_budget(problem);
  std::rotate(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(table.size() / 2),
              table.end());
  RC_ASSERT(energy_within(problem_of(table), budget) == energy_within(problem, budget));
}

RC_GTEST_PROP(ExactChoice, LiesOnOrAboveTheConvexFrontier, ()) {
  const auto problem = problem_of(any_table());
  for (const Cost& vertex : convex_frontier(problem)) {
    RC_ASSERT(std::abs(energy_within(problem, vertex.time) - vertex.energy.in_si()) <= 1e-9);
  }
}

}  // namespace
}  // namespace negawatt::solve
