// SPDX-License-Identifier: Apache-2.0
#include "sweep/itinerary.hpp"

#include <gtest/gtest.h>

#include <map>

namespace negawatt::sweep {
namespace {

using trace::Clock;
using trace::ClockPair;

const std::vector<ClockPair> kPairs = {
    {}, {Clock::locked_mhz(1410), {}}, {Clock::locked_mhz(1680), Clock::locked_mhz(5001)}};

Visit visit(const Stop& stop, double joules) {
  return {.kernel = stop.kernel, .clocks = stop.clocks, .energy = Joules(joules)};
}

TEST(Itinerary, GoesOverEverythingOnceARoundAndThreeTimesAtLeast) {
  Itinerary itinerary(4, kPairs, {}, 1);
  EXPECT_EQ(itinerary.left(), 36U);
  std::map<std::pair<std::uint32_t, ClockPair>, int> seen;
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 12; ++i) {
      const auto stop = itinerary.next();
      ASSERT_TRUE(stop);
      ++seen[{stop->kernel, stop->clocks}];
      itinerary.note(visit(*stop, 10.0));
    }
    for (const auto& [what, times] : seen) EXPECT_EQ(times, round);
  }
  EXPECT_FALSE(itinerary.next());
  EXPECT_EQ(itinerary.left(), 0U);
  EXPECT_EQ(itinerary.noted(), 36U);
}

TEST(Itinerary, ChangesClocksOnceAPairAndRound) {
  Itinerary itinerary(10, kPairs, {}, 7);
  int changes = 0;
  std::optional<ClockPair> clocks;
  while (const auto stop = itinerary.next()) {
    if (stop->clocks != clocks) ++changes;
    clocks = stop->clocks;
    itinerary.note(visit(*stop, 10.0));
  }
  EXPECT_LE(changes, 9);
}

TEST(Itinerary, ReturnsToWhatIsNoisyUntilItIsKnownOrTheLimitIsReached) {
  Itinerary itinerary(2, kPairs, {.least_visits = 2, .most_visits = 6, .half_width = 0.01}, 1);
  int noisy = 0;
  while (const auto stop = itinerary.next()) {
    const bool is_noisy = stop->kernel == 1 && stop->clocks == kPairs[2];
    if (is_noisy) ++noisy;
    itinerary.note(visit(*stop, is_noisy && noisy % 2 == 0 ? 11.0 : 10.0));
  }
  EXPECT_EQ(noisy, 6);
  EXPECT_EQ(itinerary.energies(0, 0).size(), 2U);
}

TEST(Itinerary, GoesOnWhereAnEarlierSweepStopped) {
  Itinerary itinerary(1, kPairs, {.least_visits = 1}, 1);
  itinerary.note(visit({0, kPairs[1]}, 5.0));
  itinerary.note(visit({0, {Clock::locked_mhz(210), {}}}, 5.0));  // no longer wanted
  EXPECT_EQ(itinerary.left(), 2U);
  while (const auto stop = itinerary.next()) {
    EXPECT_NE(stop->clocks, kPairs[1]);
    itinerary.note(visit(*stop, 5.0));
  }
}

TEST(Itinerary, TheSameSeedGoesTheSameWay) {
  Itinerary a(3, kPairs, {}, 42);
  Itinerary b(3, kPairs, {}, 42);
  while (const auto stop = a.next()) {
    const auto other = b.next();
    ASSERT_TRUE(other);
    EXPECT_EQ(stop->kernel, other->kernel);
    EXPECT_EQ(stop->clocks, other->clocks);
    a.note(visit(*stop, 1.0));
    b.note(visit(*other, 1.0));
  }
}

}  // namespace
}  // namespace negawatt::sweep
