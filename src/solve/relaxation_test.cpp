// SPDX-License-Identifier: Apache-2.0
#include "solve/relaxation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solve/hull.hpp"
#include "tests/choice_by_force.hpp"
#include "tests/choice_instances.hpp"

namespace negawatt::solve {
namespace {

using ::negawatt::testing::for_each_choice;
using ::negawatt::testing::InstanceKind;
using ::negawatt::testing::least_by_force;
using ::negawatt::testing::make_instance;

Cost cost(double seconds, double joules) { return {Seconds(seconds), Joules(joules)}; }

constexpr InstanceKind kKinds[] = {InstanceKind::gpu, InstanceKind::random,
                                   InstanceKind::weakly_correlated,
                                   InstanceKind::strongly_correlated, InstanceKind::integral};

TEST(HullWalk, TakesTheStepsInOrderOfWhatASecondSaves) {
  ChoiceProblem problem;
  problem.add_item(std::vector{cost(1, 100), cost(2, 60), cost(4, 50)});
  problem.add_item(std::vector{cost(1, 80), cost(2, 70), cost(3, 40)});
  const HullWalk walk = hull_walk(problem);
  EXPECT_EQ(walk.fastest, (std::vector<std::uint32_t>{0, 0}));
  ASSERT_EQ(walk.steps.size(), 3U);
  EXPECT_EQ(walk.steps[0].rate, Watts(40));
  EXPECT_EQ(walk.steps[1].rate, Watts(20));
  EXPECT_EQ(walk.steps[1].item, 1U);
  EXPECT_EQ(walk.steps[1].to, 2U);
  EXPECT_EQ(walk.steps[2].rate, Watts(5));
}

TEST(ConvexFrontier, IsTheHullOfAllChoices) {
  for (const auto kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto problem = make_instance({kind, 4, 5}, seed);
      std::vector<Cost> all;
      for_each_choice(problem, [&](Cost total) { all.push_back(total); });
      const auto frontier = convex_frontier(problem);
      // Every vertex is a choice, and no choice lies below an edge.
      for (const Cost& vertex : frontier) {
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](Cost total) {
          return std::abs((total.time - vertex.time).in_si()) < 1e-12 &&
                 std::abs((total.energy - vertex.energy).in_si()) < 1e-9;
        }));
      }
      for (std::size_t k = 1; k < frontier.size(); ++k) {
        const Watts rate = saving_rate(frontier[k - 1], frontier[k]);
        const Joules line = frontier[k].energy + rate * frontier[k].time;
        for (const Cost& total : all) {
          EXPECT_GE((total.energy + rate * total.time).in_si(), line.in_si() - 1e-9)
              << name_of(kind) << " seed " << seed;
        }
      }
      const auto fastest = least_by_force(problem, [](Cost c) { return c.time.in_si(); });
      const auto least = least_by_force(problem, [](Cost c) { return c.energy.in_si(); });
      EXPECT_NEAR(frontier.front().time.in_si(), fastest, 1e-12);
      EXPECT_NEAR(frontier.back().energy.in_si(), least, 1e-9);
    }
  }
}

TEST(ConvexFrontier, SavesLessPerSecondFromEdgeToEdge) {
  const auto frontier = convex_frontier(make_instance({InstanceKind::gpu, 200, 66}, 3));
  ASSERT_GT(frontier.size(), 500U);
  for (std::size_t k = 2; k < frontier.size(); ++k) {
    EXPECT_LE(saving_rate(frontier[k - 1], frontier[k]).in_si(),
              saving_rate(frontier[k - 2], frontier[k - 1]).in_si() * (1 + 1e-6));
  }
}

TEST(LeastEnergyDelay, EqualsBruteForce) {
  for (const auto kind : kKinds) {
    if (kind == InstanceKind::integral) continue;  // a product with zero times says nothing
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto problem = make_instance({kind, 4, 5}, seed);
      for (const int exponent : {0, 1, 2, 5}) {
        const auto product = [=](Cost total) {
          return total.energy.in_si() * std::pow(total.time.in_si(), exponent);
        };
        const auto choice = least_energy_delay(problem, exponent);
        const double expected = least_by_force(problem, product);
        EXPECT_NEAR(product(choice.total), expected, 1e-12 * expected)
            << name_of(kind) << " seed " << seed << " exponent " << exponent;
        EXPECT_EQ(choice.total.energy, total_of(problem, choice.option).energy);
      }
    }
  }
}

}  // namespace
}  // namespace negawatt::solve
