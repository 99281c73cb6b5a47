// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_splice.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/schedule_instances.hpp"

namespace negawatt::plan {
namespace {

/// Every valid assignment of a small problem.
std::vector<Assignment> all_valid(const ScheduleTables& tables) {
  std::vector<Assignment> found;
  Assignment assignment(tables.invocations(), 0);
  while (true) {
    if (tables.assess(assignment).broken.empty()) found.push_back(assignment);
    std::size_t at = 0;
    while (at < assignment.size() && ++assignment[at] == tables.pairs()) assignment[at++] = 0;
    if (at == assignment.size()) return found;
  }
}

TEST(ScheduleSplice, JoinsValidSchedulesToABetterValidOneWithinTheTime) {
  testing::Instances instances(21);
  int joined = 0;
  for (int round = 0; round < 60; ++round) {
    const auto problem = instances.next({.most_invocations = 7, .cores = 3, .memories = 1});
    const auto tables = ScheduleTables::build(problem);
    ASSERT_TRUE(tables);
    const auto valid = all_valid(*tables);
    for (int pick = 0; pick < 60 && valid.size() > 1; ++pick) {
      const auto last = static_cast<int>(valid.size()) - 1;
      const auto& incumbent = valid[static_cast<std::size_t>(instances.uniform(0, last))];
      const auto& other = valid[static_cast<std::size_t>(instances.uniform(0, last))];
      const auto known = tables->assess(incumbent);
      const double longest = known.time + instances.uniform(0, 4);
      const auto result = splice(*tables, incumbent, other, longest);
      if (!result) continue;
      ++joined;
      const auto cost = tables->assess(*result);
      EXPECT_EQ(cost.broken, "");
      EXPECT_LT(cost.energy, known.energy);
      EXPECT_LE(cost.time, longest);
      for (std::size_t i = 0; i < result->size(); ++i)
        EXPECT_TRUE((*result)[i] == incumbent[i] || (*result)[i] == other[i]);
    }
  }
  EXPECT_GT(joined, 100);
}

TEST(ScheduleSplice, TakesOnlyTheBlockThatFits) {
  // Two slow stretches in `other`, each saving 80 J for 2 s; the time allows one of them.
  ScheduleProblem problem;
  problem.pairs = {{trace::Clock::locked_mhz(1000), trace::Clock::automatic()},
                   {trace::Clock::locked_mhz(2000), trace::Clock::automatic()}};
  problem.costs = {Cost{Seconds(2), Joules(60)}, Cost{Seconds(1), Joules(100)}};
  problem.sequence.assign(8, 0);
  problem.switching.core.any.latency = Seconds(2);
  const auto tables = ScheduleTables::build(problem);
  ASSERT_TRUE(tables);
  const Assignment fast(8, 1);
  const Assignment slow_twice = {1, 1, 0, 0, 1, 1, 0, 0};
  const auto result = splice(*tables, fast, slow_twice, 10.0);
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(tables->assess(*result).energy, 6 * 100 + 2 * 60);
  EXPECT_DOUBLE_EQ(tables->assess(*result).time, 10.0);
  EXPECT_FALSE(splice(*tables, fast, slow_twice, 9.0));
}

}  // namespace
}  // namespace negawatt::plan
