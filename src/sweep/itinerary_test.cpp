// SPDX-License-Identifier: Apache-2.0
#include "sweep/itinerary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "sweep/statistics.hpp"

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

TEST(Itinerary, OneVisitKnowsNoError) {
  Itinerary itinerary(1, {{}}, {.least_visits = 1}, 1);
  int visits = 0;
  for (; itinerary.next(); ++visits) itinerary.note(visit({0, {}}, 10.0));
  EXPECT_EQ(visits, 2);
  Itinerary once(1, {{}}, {.least_visits = 1, .most_visits = 1}, 1);
  once.note(visit({0, {}}, 10.0));
  EXPECT_FALSE(once.next());
}

/// A sweep of `kernels` rows of mean 1 whose visits have independent Gaussian noise.
Itinerary noisy_sweep(std::size_t kernels, double deviation) {
  Itinerary itinerary(kernels, {{}}, {}, 1);
  std::mt19937 random(1);
  std::normal_distribution<double> joules(1.0, deviation);
  while (const auto stop = itinerary.next()) itinerary.note(visit(*stop, joules(random)));
  return itinerary;
}

TEST(Itinerary, StatedErrorsAreNotMuchTooSmall) {
  constexpr std::size_t kRows = 3000;
  for (const double deviation : {0.002, 0.006, 0.01, 0.02, 0.05}) {
    const auto itinerary = noisy_sweep(kRows, deviation);
    double stated = 0.0;
    double true_error = 0.0;
    std::size_t covered = 0;
    for (std::size_t kernel = 0; kernel < kRows; ++kernel) {
      const auto repeats = summarise(itinerary.energies(kernel, 0));
      const double error = std::abs(repeats.mean - 1.0);
      stated += repeats.standard_error * repeats.standard_error;
      true_error += error * error;
      if (error <= relative_half_width(repeats) * repeats.mean) ++covered;
    }
    EXPECT_GT(std::sqrt(stated / true_error), 0.72) << deviation;
    EXPECT_LT(std::sqrt(stated / true_error), 1.05) << deviation;
    EXPECT_GT(static_cast<double>(covered) / kRows, 0.90) << deviation;
  }
}

TEST(Itinerary, GoesNoMoreToWhatIsGivenUp) {
  Itinerary itinerary(2, kPairs, {.least_visits = 2}, 1);
  itinerary.give_up(Stop{1, kPairs[0]});
  EXPECT_EQ(itinerary.left(), 10U);
  const auto first = itinerary.next();
  ASSERT_TRUE(first);
  const auto dropped = first->clocks == kPairs[1] ? kPairs[2] : kPairs[1];
  itinerary.give_up(dropped);  // in the middle of a round
  std::map<std::pair<std::uint32_t, ClockPair>, int> seen;
  for (std::optional<Stop> stop = first; stop; stop = itinerary.next()) {
    ++seen[{stop->kernel, stop->clocks}];
    itinerary.note(visit(*stop, 10.0));
  }
  EXPECT_EQ(seen.size(), 3U);
  for (const auto& [what, times] : seen) {
    EXPECT_EQ(times, 2);
    EXPECT_NE(what.second, dropped);
    EXPECT_FALSE(what.first == 1 && what.second == kPairs[0]);
  }
}

TEST(Itinerary, GoesOnWhereAnEarlierSweepStopped) {
  Itinerary itinerary(1, kPairs, {.least_visits = 1, .most_visits = 1}, 1);
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
