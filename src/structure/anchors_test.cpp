// SPDX-License-Identifier: Apache-2.0
#include "structure/anchors.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace negawatt::structure {
namespace {

RC_GTEST_PROP(Occurrences, AreWhereTheSymbolsStand, ()) {
  const auto symbols =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 6));
  const Occurrences occurrences({symbols, 7});
  for (std::uint32_t symbol = 0; symbol < 7; ++symbol) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i] == symbol) expected.push_back(i);
    }
    RC_ASSERT(std::ranges::equal(occurrences.of(symbol), expected));
  }
}

RC_GTEST_PROP(Pairs, AreEqualWhereBothSymbolsAre, ()) {
  const auto symbols =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 4));
  const auto distance = *rc::gen::inRange<std::size_t>(1, 4);
  const Pairs pairs = pairs_of(symbols, distance);
  if (symbols.size() < 100) return;  // 16 pairs: four of each
  RC_ASSERT(pairs.symbols.size() == symbols.size() - distance);
  for (std::size_t i = 0; i < pairs.symbols.size(); ++i) {
    RC_ASSERT(pairs.symbols[i] < pairs.count);
    for (std::size_t j = 0; j < pairs.symbols.size(); ++j) {
      const bool is_same =
          symbols[i] == symbols[j] && symbols[i + distance] == symbols[j + distance];
      RC_ASSERT((pairs.symbols[i] == pairs.symbols[j]) == is_same);
    }
  }
}

TEST(Pairs, AreNotMadeWhereThereAreTooMany) {
  const std::vector<std::uint32_t> symbols{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0};
  EXPECT_EQ(pairs_of(symbols, 1).count, 3U);  // 12 places
  EXPECT_TRUE(pairs_of(std::span(symbols).first(11), 1).symbols.empty());
}

/// `times` times the functions of `iteration`.
std::vector<std::uint32_t> repeated(const std::vector<std::uint32_t>& iteration, int times) {
  std::vector<std::uint32_t> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), iteration.begin(), iteration.end());
  return all;
}

std::map<std::uint32_t, double> periods_in(const std::vector<std::uint32_t>& functions) {
  const FunctionSequence sequence{functions, 10};
  std::map<std::uint32_t, double> periods;
  for (const Anchor& anchor : anchors_of(sequence, Occurrences(sequence))) {
    periods[anchor.symbol] = anchor.period;
  }
  return periods;
}

TEST(Anchors, AreWhatComesBackRegularly) {
  // 0 once an iteration, 1 in a burst, 2 at every other place.
  const auto periods = periods_in(repeated({0, 2, 3, 2, 1, 1, 1, 1, 3, 2}, 20));
  EXPECT_EQ(periods.at(0), 10.0);
  EXPECT_FALSE(periods.contains(1)) << "of four distances of a burst one is long";
  EXPECT_FALSE(periods.contains(2)) << "2, 6, 2: no two thirds of one length";
}

TEST(Anchors, StartWhereTheirRhythmDoes) {
  auto functions = repeated({5}, 7);
  functions.insert(functions.end(), {0, 5, 0});  // too early, twice
  const auto rest = repeated({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 20);
  functions.insert(functions.end(), rest.begin(), rest.end());
  const FunctionSequence sequence{functions, 10};
  const auto anchors = anchors_of(sequence, Occurrences(sequence));
  ASSERT_FALSE(anchors.empty());
  EXPECT_EQ(anchors[0].symbol, 0U);
  EXPECT_EQ(anchors[0].first, 10U);
}

TEST(Anchors, OfOnePeriodTheMostRegularIsKept) {
  const std::vector<Anchor> anchors{
      {0, 100, 0.6, 0}, {1, 101, 0.9, 0}, {2, 10, 0.7, 0}, {3, 1000, 0.5, 0}};
  const auto best = best_of_each_period(anchors, 2);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].symbol, 2U);
  EXPECT_EQ(best[1].symbol, 1U);
}

}  // namespace
}  // namespace negawatt::structure
