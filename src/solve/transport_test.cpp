// SPDX-License-Identifier: Apache-2.0
#include "solve/transport.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tests/transport_by_clp.hpp"
#include "tests/transport_instances.hpp"

namespace negawatt::solve {
namespace {

using ::negawatt::testing::by_force;
using ::negawatt::testing::expect_valid;
using ::negawatt::testing::least_cost_by_clp;
using ::negawatt::testing::make_problem;
using ::negawatt::testing::Shape;

constexpr auto kUnlimited = TransportProblem::kUnlimited;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Transport, PricesRoomByWhatOneMoreItemThereWouldSave) {
  // Both groups want system 0, which takes three of their four items: the one that loses least by
  // leaving it is one of the second group (3 - 2 against 9 - 1).
  const TransportProblem problem{
      .systems = 2, .items = {2, 2}, .cost = {1, 9, 2, 3}, .capacity = {3, kUnlimited}};
  const auto plan = transport(problem);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->shipments, (std::vector<Shipment>{{0, 0, 2}, {1, 0, 1}, {1, 1, 1}}));
  EXPECT_DOUBLE_EQ(plan->cost, 7.0);
  EXPECT_DOUBLE_EQ(plan->prices[0], 1.0);
  EXPECT_DOUBLE_EQ(plan->prices[1], 0.0);
  expect_valid(problem, *plan);
}

TEST(Transport, MovesThroughAThirdSystemWhereThatIsCheapest) {
  // Group 0 may not go to 2, group 1 may not go to 0: making room on 0 moves one group on.
  const TransportProblem problem{.systems = 3,
                                 .items = {2, 1},
                                 .cost = {0, 1, kInfinity, kInfinity, 0, 5},
                                 .capacity = {1, 1, 1}};
  const auto plan = transport(problem);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->shipments, (std::vector<Shipment>{{0, 0, 1}, {0, 1, 1}, {1, 2, 1}}));
  EXPECT_DOUBLE_EQ(plan->cost, 6.0);
}

TEST(Transport, GivesEveryItemItsCheapestSystemWithoutLimits) {
  auto problem = make_problem({.groups = 500, .systems = 5, .most_items = 9, .fullness = 1}, 3);
  problem.capacity.assign(5, kUnlimited);
  const auto plan = transport(problem);
  ASSERT_TRUE(plan) << plan.error().message;
  double least = 0.0;
  for (std::size_t g = 0; g < 500; ++g)
    least += *std::min_element(problem.cost.begin() + static_cast<std::ptrdiff_t>(5 * g),
                               problem.cost.begin() + static_cast<std::ptrdiff_t>(5 * g + 5)) *
             static_cast<double>(problem.items[g]);
  EXPECT_NEAR(plan->cost, least, 1e-9 * std::abs(least));
  EXPECT_EQ(plan->prices, std::vector<double>(5, 0.0));
  expect_valid(problem, *plan);
}

TEST(Transport, SaysThatItemsDoNotFit) {
  const TransportProblem full{.systems = 2, .items = {5}, .cost = {1, 2}, .capacity = {2, 2}};
  const auto plan = transport(full);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::infeasible);
  EXPECT_EQ(plan.error().message, "the systems have room for 4 of 5");

  const TransportProblem blocked{
      .systems = 2, .items = {1, 3}, .cost = {1, 1, 1, kInfinity}, .capacity = {2, kUnlimited}};
  const auto none = transport(blocked);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::infeasible);
  EXPECT_EQ(none.error().message, "1 of group 1 find no room on a system that can take them");
  auto named = blocked;
  named.name_of_group = [](std::size_t group) {
    return "letters of post " + std::to_string(group);
  };
  EXPECT_EQ(transport(named).error().message,
            "1 of letters of post 1 find no room on a system that can take them");
}

TEST(Transport, RefusesWhatIsNoProblem) {
  EXPECT_FALSE(transport({.systems = 0}));
  EXPECT_FALSE(transport({.systems = 1, .items = {1}, .cost = {}, .capacity = {1}}));
  EXPECT_FALSE(transport({.systems = 1,
                          .items = {1},
                          .cost = {std::numeric_limits<double>::quiet_NaN()},
                          .capacity = {1}}));
  EXPECT_FALSE(transport(
      {.systems = 1, .items = {kUnlimited, 2}, .cost = {1, 1}, .capacity = {kUnlimited}}));
}

TEST(Transport, TakesCostsOfAnySize) {
  for (const double unit : {1e-300, 1.0, 1e300}) {
    const TransportProblem problem{.systems = 2,
                                   .items = {2, 2},
                                   .cost = {1 * unit, 9 * unit, 2 * unit, 3 * unit},
                                   .capacity = {3, kUnlimited}};
    const auto plan = transport(problem);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_NEAR(plan->cost / unit, 7.0, 1e-12);
  }
  const auto nothing = transport({.systems = 1, .capacity = {0}});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->cost, 0.0);
}

TEST(Transport, IsAsGoodAsTryingAllSolutions) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto problem = make_problem({.groups = 1 + seed % 4,
                                       .systems = 2 + seed % 2,
                                       .most_items = 2,
                                       .fullness = 0.9,
                                       .has_ties = seed % 3 == 0,
                                       .forbidden = seed % 5 == 0 ? 0.3 : 0.0},
                                      seed);
    const auto plan = transport(problem);
    const double least = by_force(problem);
    ASSERT_EQ(plan.has_value(), least < kInfinity) << seed;
    if (!plan) continue;
    EXPECT_NEAR(plan->cost, least, 1e-9 * (1.0 + std::abs(least))) << seed;
    expect_valid(problem, *plan);
  }
}

TEST(Transport, IsAsGoodAsClp) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto problem = make_problem({.groups = 20 + 17 * (seed % 20),
                                       .systems = 2 + seed % 9,
                                       .most_items = 1 + 40 * (seed % 3),
                                       .fullness = seed % 2 == 0 ? 0.98 : 0.6,
                                       .has_ties = seed % 4 == 0,
                                       .forbidden = seed % 5 == 0 ? 0.2 : 0.0},
                                      seed);
    const auto plan = transport(problem);
    const auto least = least_cost_by_clp(problem);
    ASSERT_EQ(plan.has_value(), least.has_value()) << seed;
    if (!plan) continue;
    EXPECT_NEAR(plan->cost, *least, 1e-7 * (1.0 + std::abs(*least))) << seed;
    expect_valid(problem, *plan);
  }
}

TEST(Transport, IsAsGoodAsClpWhereSamplesGuideIt) {
  // More groups than the first sample has, so that prices come from samples; costs that rise with
  // the index make the samples unlike the whole.
  auto problem =
      make_problem({.groups = 9'000, .systems = 4, .most_items = 3, .fullness = 0.95}, 7);
  for (std::size_t g = 0; g < problem.items.size(); ++g)
    problem.cost[g * 4] -= static_cast<double>(g) / 300.0;
  const auto plan = transport(problem);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_NEAR(plan->cost, *least_cost_by_clp(problem), 1e-7 * std::abs(plan->cost));
  expect_valid(problem, *plan);
}

/// All want system 0, which has room for ten: the others pay for system 1, the cheapest first.
void expect_ten_dearest_stay(std::vector<double> costs) {
  TransportProblem problem{.systems = 2, .items = std::vector<std::uint64_t>(costs.size(), 1)};
  for (const double cost : costs) {
    problem.cost.push_back(0.0);
    problem.cost.push_back(cost);
  }
  problem.capacity = {10, kUnlimited};
  const auto plan = transport(problem);
  ASSERT_TRUE(plan) << plan.error().message;
  std::ranges::sort(costs);
  const double cheapest_that_stays = costs[costs.size() - 10];
  costs.resize(costs.size() - 10);
  EXPECT_DOUBLE_EQ(plan->cost, std::accumulate(costs.begin(), costs.end(), 0.0));
  // More room would save the one, less room would cost the other.
  EXPECT_GE(plan->prices[0], costs.back());
  EXPECT_LE(plan->prices[0], cheapest_that_stays);
  expect_valid(problem, *plan);
}

TEST(Transport, FindsMovesThatItsShortListsHadLeftOut) {
  // Too few groups for a sample, and twice the moves that a list keeps.
  std::vector<double> costs;
  for (std::size_t g = 0; g < 2'048; ++g) costs.push_back(static_cast<double>(g * 7'919 % 2'048));
  expect_ten_dearest_stay(costs);
}

TEST(Transport, RecoversFromASampleThatMisleads) {
  // Every group that is sampled costs far more to move than the others.
  std::vector<double> costs;
  for (std::size_t g = 0; g < 12'000; ++g)
    costs.push_back(static_cast<double>(g * 7'919 % 12'000) + (g % 8 == 0 ? 1e6 : 0.0));
  expect_ten_dearest_stay(costs);
}

RC_GTEST_PROP(TransportProperty, MoreRoomNeverCostsMoreAndNoMoreThanItsPrice, ()) {
  const Shape shape{.groups = *rc::gen::inRange<std::size_t>(1, 60),
                    .systems = *rc::gen::inRange<std::size_t>(2, 7),
                    .most_items = *rc::gen::inRange<std::uint64_t>(1, 20),
                    .fullness = 0.9,
                    .has_ties = *rc::gen::arbitrary<bool>()};
  auto problem = make_problem(shape, *rc::gen::arbitrary<std::uint64_t>());
  const auto before = transport(problem);
  RC_PRE(before.has_value());
  const auto system = *rc::gen::inRange<std::size_t>(0, shape.systems);
  ++problem.capacity[system];
  const auto after = transport(problem);
  RC_ASSERT(after.has_value());
  const double tolerance = 1e-9 * (1.0 + std::abs(before->cost));
  RC_ASSERT(after->cost <= before->cost + tolerance);
  RC_ASSERT(after->cost >= before->cost - before->prices[system] - tolerance);
}

RC_GTEST_PROP(TransportProperty, GroupsAreOnlyAShorthandForTheirItems, ()) {
  const Shape shape{.groups = *rc::gen::inRange<std::size_t>(1, 20),
                    .systems = *rc::gen::inRange<std::size_t>(2, 5),
                    .most_items = 5,
                    .fullness = 0.9};
  const auto problem = make_problem(shape, *rc::gen::arbitrary<std::uint64_t>());
  TransportProblem single{.systems = problem.systems, .capacity = problem.capacity};
  for (std::size_t g = 0; g < problem.items.size(); ++g)
    for (std::uint64_t i = 0; i < problem.items[g]; ++i) {
      single.items.push_back(1);
      for (std::size_t s = 0; s < problem.systems; ++s)
        single.cost.push_back(problem.cost_of(g, s));
    }
  const auto grouped = transport(problem);
  const auto one_by_one = transport(single);
  RC_ASSERT(grouped.has_value() == one_by_one.has_value());
  if (grouped)
    RC_ASSERT(std::abs(grouped->cost - one_by_one->cost) <= 1e-9 * (1 + std::abs(grouped->cost)));
}

}  // namespace
}  // namespace negawatt::solve
