// SPDX-License-Identifier: Apache-2.0
#include "sim/event_times.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace negawatt::sim {
namespace {

TEST(EventTimes, NothingHappensUntilATimeIsSet) {
  EventTimes times(3);
  EXPECT_EQ(times.first_time(), std::numeric_limits<double>::infinity());
  times.set(2, 5.0);
  EXPECT_EQ(times.first(), 2U);
  EXPECT_EQ(times.first_time(), 5.0);
}

RC_GTEST_PROP(EventTimes, TheFirstIsTheEarliestAndOfEqualOnesTheLowest, ()) {
  const auto places = *rc::gen::inRange<std::size_t>(1, 70);
  EventTimes times(places);
  std::vector<double> all(places, std::numeric_limits<double>::infinity());
  const auto changes = *rc::gen::container<std::vector<std::pair<std::size_t, int>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, places), rc::gen::inRange(0, 20)));
  for (const auto& [place, time] : changes) {
    times.set(place, time);
    all[place] = time;
    const auto first = std::ranges::min_element(all);
    RC_ASSERT(times.first() == static_cast<std::size_t>(first - all.begin()));
    RC_ASSERT(times.first_time() == *first);
  }
}

}  // namespace
}  // namespace negawatt::sim
