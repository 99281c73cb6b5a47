// SPDX-License-Identifier: Apache-2.0
//
// Random transportation problems, what every solution of one must keep, and the least cost of a
// tiny one by trying all.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "solve/transport.hpp"

namespace negawatt::testing {

using solve::TransportPlan;
using solve::TransportProblem;

struct Shape {
  std::size_t groups;
  std::size_t systems;
  std::uint64_t most_items;
  double fullness;         ///< items / room
  bool has_ties = false;   ///< costs are small whole numbers
  double forbidden = 0.0;  ///< share of the pairs
};

inline TransportProblem make_problem(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  TransportProblem problem{.systems = shape.systems};
  std::uint64_t items = 0;
  for (std::size_t g = 0; g < shape.groups; ++g) {
    problem.items.push_back(random() % (shape.most_items + 1));
    items += problem.items.back();
    for (std::size_t s = 0; s < shape.systems; ++s) {
      const double cost = shape.has_ties ? std::floor(4 * uniform()) : 100 * uniform() - 20;
      problem.cost.push_back(uniform() < shape.forbidden ? std::numeric_limits<double>::infinity()
                                                         : cost);
    }
  }
  for (std::size_t s = 0; s < shape.systems; ++s) {
    const double part = (0.5 + uniform()) / static_cast<double>(shape.systems);
    problem.capacity.push_back(
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(items) * part / shape.fullness)));
  }
  return problem;
}

/// Every item is somewhere, no system holds too much, and the cost is the sum it claims to be.
inline void expect_valid(const TransportProblem& problem, const TransportPlan& plan) {
  std::vector<std::uint64_t> placed(problem.items.size(), 0);
  std::vector<std::uint64_t> load(problem.systems, 0);
  double cost = 0.0;
  for (const auto& [group, system, items] : plan.shipments) {
    EXPECT_GT(items, 0U);
    placed[group] += items;
    load[system] += items;
    cost += problem.cost_of(group, system) * static_cast<double>(items);
  }
  EXPECT_EQ(placed, problem.items);
  for (std::size_t s = 0; s < problem.systems; ++s) {
    EXPECT_LE(load[s], problem.capacity[s]);
    EXPECT_GE(plan.prices[s], 0.0);
    EXPECT_TRUE(plan.prices[s] == 0.0 || load[s] == problem.capacity[s]) << "room on " << s;
  }
  EXPECT_NEAR(plan.cost, cost, 1e-9 * (1.0 + std::abs(cost)));
  EXPECT_LE(plan.bound, plan.cost);
  EXPECT_NEAR(plan.bound, plan.cost, 1e-9 * (1.0 + std::abs(plan.cost)));
}

/// The least cost of all integral solutions, one item after the other.
inline double by_force(const TransportProblem& problem) {
  auto room = problem.capacity;
  double best = std::numeric_limits<double>::infinity();
  const std::function<void(std::size_t, std::uint64_t, double)> place =
      [&](std::size_t group, std::uint64_t placed, double cost) {
        while (group < problem.items.size() && placed == problem.items[group]) {
          ++group;
          placed = 0;
        }
        if (group == problem.items.size()) {
          best = std::min(best, cost);
          return;
        }
        for (std::size_t s = 0; s < problem.systems; ++s) {
          if (room[s] == 0) continue;
          --room[s];
          place(group, placed + 1, cost + problem.cost_of(group, s));
          ++room[s];
        }
      };
  place(0, 0, 0.0);
  return best;
}

}  // namespace negawatt::testing
