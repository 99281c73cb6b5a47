// SPDX-License-Identifier: Apache-2.0
#include "sweep/pair_list.hpp"

#include <gtest/gtest.h>

#include <string>

namespace negawatt::sweep {
namespace {

std::string clocks_of(const std::vector<trace::Clock>& clocks) {
  std::string text;
  for (const auto clock : clocks) text += to_string(clock) + " ";
  return text;
}

std::string clocks_in(const std::string& text) {
  const auto clocks = parse_clocks(text);
  return clocks ? clocks_of(*clocks) : clocks.error().message;
}

TEST(PairList, NamesClocksSinglyAndInRanges) {
  EXPECT_EQ(clocks_in("auto"), "auto ");
  EXPECT_EQ(clocks_in("1410,auto,210:840:210"), "1410 auto 210 420 630 840 ");
  EXPECT_EQ(clocks_in("210:830:210,420"), "210 420 630 ");
}

TEST(PairList, SaysWhatItExpected) {
  for (const auto* text : {"", "fast", "0", "-210", "210:", "210:420", "420:210:15", "210:420:0",
                           "210,,420", "99999999999", "4294967295", "210:420:15:1"})
    EXPECT_EQ(clocks_in(text), std::string("clocks are '") + text +
                                   "', expected for example auto,1410,1500:1980:60");
  EXPECT_EQ(clocks_in("1:100000:1"), "clocks are '1:100000:1': more than 1000");
}

TEST(PairList, SpreadsOverWhatTheDeviceHas) {
  EXPECT_EQ(clocks_of(spread({210, 420, 630, 840, 1050}, 3)), "auto 1050 630 210 ");
  EXPECT_EQ(clocks_of(spread({210, 420}, 9)), "auto 420 210 ");
  EXPECT_EQ(clocks_of(spread({}, 9)), "auto ");
  EXPECT_EQ(clocks_of(spread({210, 420}, 1)), "auto 420 ");
}

TEST(PairList, CombinesEveryCoreWithEveryMemoryClock) {
  const auto low = trace::Clock::locked_mhz(210);
  const auto pairs = pairs_of({{}, low}, {{}, trace::Clock::locked_mhz(5001)});
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_EQ(pairs[3], (trace::ClockPair{low, trace::Clock::locked_mhz(5001)}));
}

}  // namespace
}  // namespace negawatt::sweep
