// SPDX-License-Identifier: Apache-2.0
//
// Systems of equal costs: solved as one, told apart again.
#include "solve/equal_systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/transport_by_clp.hpp"
#include "tests/transport_instances.hpp"

namespace negawatt::solve {
namespace {

constexpr auto kUnlimited = TransportProblem::kUnlimited;

/// Every system `copies` times, each copy with a part of its room.
TransportProblem copied(const TransportProblem& of, std::size_t copies) {
  TransportProblem problem{.systems = copies * of.systems, .items = of.items};
  for (std::size_t g = 0; g < of.items.size(); ++g)
    for (std::size_t s = 0; s < problem.systems; ++s)
      problem.cost.push_back(of.cost_of(g, s % of.systems));
  for (std::size_t s = 0; s < problem.systems; ++s) {
    const auto all = of.capacity[s % of.systems];
    const auto share = all / copies;
    problem.capacity.push_back(s < of.systems ? all - share * (copies - 1) : share);
  }
  return problem;
}

TEST(EqualSystems, AreFilledOneAfterTheOther) {
  // Systems 0 and 2 are one kind, which all want; the dearest to move stay.
  const TransportProblem problem{
      .systems = 3, .items = {2, 3}, .cost = {1, 9, 1, 2, 5, 2}, .capacity = {1, kUnlimited, 2}};
  ASSERT_TRUE(EqualSystems(problem).are_there());
  const auto plan = transport(problem);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->shipments, (std::vector<Shipment>{{0, 0, 1}, {0, 2, 1}, {1, 1, 2}, {1, 2, 1}}));
  EXPECT_EQ(plan->prices, (std::vector<double>{3, 0, 3}));
  EXPECT_DOUBLE_EQ(plan->cost, 2 * 1 + 2 * 5 + 2);
  testing::expect_valid(problem, *plan);
}

TEST(EqualSystems, MergeIntoOneWithTheRoomOfAll) {
  const TransportProblem problem{.systems = 4,
                                 .items = {5, 6},
                                 .cost = {1, 2, 1, 2, 3, 4, 3, 5},
                                 .capacity = {2, 3, kUnlimited, 7}};
  const auto merged = EqualSystems(problem).merged();
  EXPECT_EQ(merged.systems, 3U);
  EXPECT_EQ(merged.cost, (std::vector<double>{1, 2, 2, 3, 4, 5}));
  EXPECT_EQ(merged.capacity, (std::vector<std::uint64_t>{2 + 11, 3, 7}));
}

TEST(EqualSystems, CostWhatClpSaysTheyCost) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto problem = copied(testing::make_problem({.groups = 10 + 7 * (seed % 20),
                                                       .systems = 1 + seed % 4,
                                                       .most_items = 1 + 20 * (seed % 3),
                                                       .fullness = seed % 2 == 0 ? 0.98 : 0.6,
                                                       .has_ties = seed % 4 == 0,
                                                       .forbidden = seed % 5 == 0 ? 0.2 : 0.0},
                                                      seed),
                                1 + seed % 3);
    const auto plan = transport(problem);
    const auto least = testing::least_cost_by_clp(problem);
    ASSERT_EQ(plan.has_value(), least.has_value()) << seed;
    if (!plan) continue;
    EXPECT_NEAR(plan->cost, *least, 1e-7 * (1.0 + std::abs(*least))) << seed;
    testing::expect_valid(problem, *plan);
  }
}

TEST(EqualSystems, AddNoPathsToASolution) {
  // Work is counted, not timed: twenty equal systems take no more paths than one.
  const auto one =
      testing::make_problem({.groups = 20'000, .systems = 2, .most_items = 3, .fullness = 0.9}, 11);
  const auto plan = transport(one);
  const auto copies = transport(copied(one, 20));
  ASSERT_TRUE(plan && copies);
  EXPECT_EQ(copies->paths, plan->paths);
  EXPECT_DOUBLE_EQ(copies->cost, plan->cost);
}

}  // namespace
}  // namespace negawatt::solve
