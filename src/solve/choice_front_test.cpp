// SPDX-License-Identifier: Apache-2.0
#include "solve/choice_front.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/choice_instances.hpp"

namespace negawatt::solve {
namespace {

using ::negawatt::testing::Dice;

constexpr double kPrice = 3.0;  // W

Front random_front(Dice& dice, std::uint32_t count) {
  Front front;
  for (std::uint32_t i = 0; i < count; ++i) {
    front.push_back({dice.between(-5, 5), dice.between(0, 4)});
  }
  std::sort(front.begin(), front.end(),
            [](const Partial& a, const Partial& b) { return a.time < b.time; });
  keep_undominated(front, {.price = kPrice, .tolerance = 0.0});
  return front;
}

/// What the rest adds at least to change the time left over by `left`, by definition.
double cost_of_rest(const Rest& rest, double left) {
  if (left < 0) return -left > rest.faster.reach ? HUGE_VAL : -left * rest.faster.rate;
  const double filled = std::min(left, rest.slower.reach);
  return filled * std::min(kPrice, rest.slower.rate) + kPrice * (left - filled);
}

TEST(Front, KeepsWhatNoOtherPartialChoiceBeats) {
  // Energy is reduced - 3 W * time: 1, -2, -2, 5, -4.
  Front front = {{0, 1}, {1, 1}, {2, 4}, {3, 14}, {4, 8}};
  keep_undominated(front, {.price = kPrice, .tolerance = 0.0});
  ASSERT_EQ(front.size(), 3U);
  EXPECT_EQ(front[1].time, 1);
  EXPECT_EQ(front[2].time, 4);
}

TEST(Front, MergesPartialChoicesThatDifferByRounding) {
  Front front = {{1.0, 1.0}, {1.0 + 1e-15, 1.0}, {2.0, 1.0}};
  keep_undominated(front, {.price = kPrice, .tolerance = 1e-12});
  EXPECT_EQ(front.size(), 2U);
}

TEST(Front, MergesRunsIntoOneTimeOrder) {
  Dice dice(5);
  for (std::size_t count = 1; count < 9; ++count) {
    std::vector<Partial> partials;
    std::vector<std::size_t> runs;
    for (std::size_t run = 0; run < count; ++run) {
      runs.push_back(partials.size());
      const Front front = random_front(dice, dice.below(5));  // some are empty
      partials.insert(partials.end(), front.begin(), front.end());
    }
    auto expected = partials;
    const auto by_time = [](const Partial& a, const Partial& b) { return a.time < b.time; };
    std::sort(expected.begin(), expected.end(), by_time);
    merge_runs(partials, runs);
    ASSERT_EQ(partials.size(), expected.size());
    for (std::size_t i = 0; i < partials.size(); ++i) {
      EXPECT_EQ(partials[i].time, expected[i].time);
    }
  }
}

TEST(CompletionBound, IsNeverAboveTheBestCompletionAndTightWithoutReach) {
  Dice dice(17);
  for (int round = 0; round < 300; ++round) {
    const Front other = random_front(dice, 1 + dice.below(12));
    Rest rest;
    if (round % 4 > 0) rest.slower = {dice.between(0, 4), dice.between(0, 6)};
    if (round % 3 > 0) rest.faster = {dice.between(0, 4), dice.between(0, 6)};
    const bool is_far_reaching = round % 2 == 0;
    if (is_far_reaching && rest.slower.reach > 0) rest.slower.reach = 1e9;
    if (is_far_reaching && rest.faster.reach > 0) rest.faster.reach = 1e9;
    CompletionBound bound(other, rest, kPrice);
    bound.rewind();
    for (double left = 12; left > -12; left -= 0.37) {
      double best = HUGE_VAL;
      for (const Partial& partner : other) {
        best = std::min(best, partner.reduced + cost_of_rest(rest, left - partner.time));
      }
      const double claimed = bound.at(left);
      EXPECT_LE(claimed, best + 1e-6) << "round " << round << " left " << left;
      if (is_far_reaching) {
        if (std::isinf(best)) {
          EXPECT_EQ(claimed, best);
        } else {
          EXPECT_NEAR(claimed, best, 1e-6) << "round " << round << " left " << left;
        }
      }
    }
  }
}

TEST(MoveHistory, TellsHowAPartialChoiceCameAbout) {
  MoveHistory history;
  Front front = {{0, 0, 0, 7}, {1, 0, 0, kNoMove}};
  history.record(front);
  EXPECT_EQ(front[0].move, kNoMove);
  EXPECT_EQ(front[1].node, 0U);
  front[0].move = 9;
  history.record(front);
  std::vector<std::uint32_t> moves;
  history.for_each(front[0].node, [&](std::uint32_t move) { moves.push_back(move); });
  EXPECT_EQ(moves, (std::vector<std::uint32_t>{9, 7}));
}

}  // namespace
}  // namespace negawatt::solve
