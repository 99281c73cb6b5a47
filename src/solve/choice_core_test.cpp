// SPDX-License-Identifier: Apache-2.0
#include "solve/choice_core.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "tests/choice_instances.hpp"

namespace negawatt::solve {
namespace {

using ::negawatt::testing::Dice;
using ::negawatt::testing::InstanceKind;
using ::negawatt::testing::make_instance;

constexpr double kPrice = 40.0;  // W

/// Every item at the option that is cheapest at kPrice, with 0.3 s to spare.
RelaxedChoice relaxed_at_price(const ChoiceProblem& problem) {
  return {.option = least_weighted(problem, 1.0, kPrice).option, .price = kPrice, .slack = 0.3};
}

TEST(Core, AccountsForTheEnergyOfAnyChoice) {
  // energy - bound = sum of reduced costs + price * unused time, whatever is chosen.
  const auto problem = make_instance({InstanceKind::random, 12, 9}, 4);
  const auto relaxed = relaxed_at_price(problem);
  const Cost base = total_of(problem, relaxed.option);
  const double bound = base.energy.in_si() - relaxed.gap();
  const Core core = collect_core(problem, relaxed, 1e9);
  Dice dice(8);
  for (int round = 0; round < 100; ++round) {
    auto option = relaxed.option;
    double reduced = 0.0;
    for (const CoreItem& item : core.items) {
      const auto moves = core.moves_of(item);
      const Move& move = moves[dice.below(static_cast<std::uint32_t>(moves.size()))];
      option[move.item] = move.option;
      reduced += move.reduced;
    }
    const Cost total = total_of(problem, option);
    const double unused = relaxed.slack + (base.time - total.time).in_si();
    EXPECT_NEAR(total.energy.in_si() - bound, reduced + kPrice * unused, 1e-9);
  }
}

TEST(Core, LeavesOutWhatCannotCloseTheGap) {
  const auto problem = make_instance({InstanceKind::gpu, 46, 66}, 2);
  const auto relaxed = relaxed_at_price(problem);
  const double gap = 0.01;
  const Core core = collect_core(problem, relaxed, gap);
  ASSERT_FALSE(core.moves.empty());
  for (const Move& move : core.moves) {
    EXPECT_GE(move.reduced, 0.0);
    EXPECT_LT(move.reduced, gap);
    EXPECT_NE(move.option, relaxed.option[move.item]);
  }
}

TEST(Core, OrdersItemsByWhatASecondCostsAndSumsUpTheRest) {
  ChoiceProblem problem;
  const auto add = [&](std::initializer_list<std::pair<double, double>> options) {
    std::vector<Cost> costs;
    for (const auto& [time, energy] : options) costs.push_back({Seconds(time), Joules(energy)});
    problem.add_item(costs);
  };
  // Against the first option, reduced costs are energy + 10 W * time - 100 J.
  add({{5, 50}, {6, 44}, {9, 30}});  // slower: 4 J for 1 s, 20 J for 4 s
  add({{5, 50}, {3, 72}});           // faster: 2 J for 2 s
  const RelaxedChoice relaxed{.option = {0, 0}, .price = 10.0, .slack = 0.5};
  const Core core = collect_core(problem, relaxed, 1000.0);
  ASSERT_EQ(core.items.size(), 2U);
  EXPECT_EQ(core.moves_of(core.items[0])[0].item, 1U);
  EXPECT_EQ(core.items[0].rate, 1.0);
  EXPECT_EQ(core.items[1].rate, 4.0);
  EXPECT_EQ(core.rest[0].slower.rate, 4.0);
  EXPECT_EQ(core.rest[0].slower.reach, 4.0);
  EXPECT_EQ(core.rest[0].faster.rate, 1.0);
  EXPECT_EQ(core.rest[0].faster.reach, 2.0);
  EXPECT_EQ(core.rest[1].faster.reach, 0.0);
  EXPECT_TRUE(std::isinf(core.rest[2].slower.rate));
}

TEST(SingleMove, ClosesTheGapAsFarAsOneMoveCan) {
  ChoiceProblem problem;
  problem.add_item(std::vector<Cost>{
      {Seconds(1), Joules(90)}, {Seconds(3), Joules(50)}, {Seconds(2.5), Joules(72)}});
  // 20 W and 1.5 s to spare: a gap of 30 J. The 3 s do not fit; the 2.5 s leave 12 J.
  const RelaxedChoice relaxed{.option = {0}, .price = 20.0, .slack = 1.5};
  const SingleMove best = best_single_move(problem, relaxed);
  EXPECT_TRUE(best.found);
  EXPECT_EQ(best.gap, 12.0);
  EXPECT_EQ(best.move.option, 2U);
}

}  // namespace
}  // namespace negawatt::solve
