// SPDX-License-Identifier: Apache-2.0
#include "solve/time_cost.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "solve/hull.hpp"
#include "tests/time_cost_by_clp.hpp"

namespace negawatt::solve {
namespace {

Activity activity(std::uint32_t from, std::uint32_t to, std::vector<Cost> options) {
  return {from, to, std::move(options)};
}

Cost option(double time, double energy) { return {Seconds(time), Joules(energy)}; }

/// Energy of an activity that may take up to `duration`, mixing two options.
double energy_within(const Activity& activity, double duration) {
  const auto& options = activity.options;
  if (duration >= options.back().time.in_si()) return options.back().energy.in_si();
  for (std::size_t k = 1; k < options.size(); ++k) {
    const double fast = options[k - 1].time.in_si();
    const double slow = options[k].time.in_si();
    if (duration > slow) continue;
    const double share = (duration - fast) / (slow - fast);
    return options[k - 1].energy.in_si() * (1.0 - share) + options[k].energy.in_si() * share;
  }
  return options.front().energy.in_si();
}

/// A random project: a path through all events, mostly of precedences, and activities across it.
/// Few distinct numbers, so that ties are common; some activities have one option.
Project random_project(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(random() % (most + 1));
  };
  const auto events = 2 + up_to(8);
  Project project{.events = events, .source = 0, .sink = events - 1};
  const auto options = [&] {
    std::vector<Cost> raw;
    const auto count = 1 + up_to(4);
    for (std::uint32_t k = 0; k < count; ++k)
      raw.push_back(option(0.25 * (1 + up_to(20)), static_cast<double>(up_to(40)) - 10.0));
    std::vector<Cost> hull;
    for (const auto k : hull_options(raw)) hull.push_back(raw[k]);
    return hull;
  };
  for (std::uint32_t event = 1; event < events; ++event) {
    if (up_to(3) != 0) {
      project.precedences.push_back({event - 1, event});
    } else {
      project.activities.push_back(activity(event - 1, event, options()));
    }
  }
  for (std::uint32_t more = events + up_to(events); more > 0; --more) {
    const auto from = up_to(events - 2);
    const auto to = from + 1 + up_to(events - 2 - from);
    project.activities.push_back(activity(from, to, options()));
  }
  return project;
}

TEST(TimeCostWalk, SpeedsUpTheCheaperOfTwoActivitiesInARowFirst) {
  // 1 s at 10 J or 3 s at 4 J (3 W), then 1 s at 20 J or 2 s at 10 J (10 W).
  const Project project{.events = 3,
                        .source = 0,
                        .sink = 2,
                        .activities = {activity(0, 1, {option(1, 10), option(3, 4)}),
                                       activity(1, 2, {option(1, 20), option(2, 10)})}};
  TimeCostWalk walk(project);
  EXPECT_EQ(walk.longest(), Seconds(5));
  EXPECT_EQ(walk.shortest(), Seconds(3));
  EXPECT_DOUBLE_EQ(walk.bound().price.in_si(), 3.0);
  EXPECT_DOUBLE_EQ(walk.bound().at(Seconds(5)).in_si(), 14.0);
  EXPECT_DOUBLE_EQ(walk.bound().at(Seconds(3)).in_si(), 20.0);
  EXPECT_DOUBLE_EQ(walk.price_of(0).in_si(), 3.0);
  std::vector<double> times(3);
  walk.event_times(Seconds(4), times);
  EXPECT_EQ(times, (std::vector<double>{0, 2, 4}));
  walk.advance();
  EXPECT_EQ(walk.longest(), Seconds(3));
  EXPECT_EQ(walk.shortest(), Seconds(2));
  EXPECT_DOUBLE_EQ(walk.bound().price.in_si(), 10.0);
  EXPECT_FALSE(walk.at_end());
  walk.advance();
  EXPECT_TRUE(walk.at_end());
  EXPECT_EQ(walk.longest(), Seconds(2));
  EXPECT_EQ(walk.shortest(), Seconds(2));
}

TEST(TimeCostWalk, SpeedsUpParallelActivitiesTogether) {
  // Both paths last 4 s and have to get shorter at once: 1 W and 2 W make 3 W.
  const Project project{.events = 2,
                        .source = 0,
                        .sink = 1,
                        .activities = {activity(0, 1, {option(2, 5), option(4, 3)}),
                                       activity(0, 1, {option(3, 9), option(4, 7)})}};
  TimeCostWalk walk(project);
  EXPECT_DOUBLE_EQ(walk.bound().price.in_si(), 3.0);
  EXPECT_EQ(walk.shortest(), Seconds(3));
  walk.advance();
  EXPECT_TRUE(walk.at_end());
}

TEST(TimeCostWalk, TakesBackASpeedUpThatIsNoLongerNeeded) {
  // The Wheatstone bridge. Its middle is sped up first, 2.5 s to 0.5 s at 2 W. From 7.5 s on both
  // outer activities get shorter (2.5 W each), and the middle takes its time again (2 W less).
  const Project project{
      .events = 4,
      .source = 0,
      .sink = 3,
      .activities = {activity(0, 1, {option(1, 10), option(5, 0)}), activity(0, 2, {option(4, 0)}),
                     activity(1, 2, {option(0.5, 4), option(2.5, 0)}),
                     activity(1, 3, {option(4, 0)}),
                     activity(2, 3, {option(1, 10), option(5, 0)})}};
  TimeCostWalk walk(project);
  EXPECT_EQ(walk.longest(), Seconds(12.5));
  std::vector<double> prices;
  std::vector<double> shortest;
  for (; !walk.at_end(); walk.advance()) {
    prices.push_back(walk.bound().price.in_si());
    shortest.push_back(walk.shortest().in_si());
  }
  EXPECT_EQ(prices, (std::vector<double>{2, 2.5, 3, 5}));
  EXPECT_EQ(shortest, (std::vector<double>{10.5, 7.5, 5.5, 5}));
}

TEST(TimeCostWalk, StandsAtTheEndWhenNothingCanBeSpedUp) {
  const Project project{.events = 3,
                        .source = 0,
                        .sink = 2,
                        .activities = {activity(0, 1, {option(2, 5)})},
                        .precedences = {{1, 2}}};
  const TimeCostWalk walk(project);
  EXPECT_TRUE(walk.at_end());
  EXPECT_EQ(walk.longest(), Seconds(2));
  EXPECT_EQ(walk.shortest(), Seconds(2));
  EXPECT_EQ(walk.bound().at(Seconds(2)), Joules(5));
}

TEST(TimeCostWalk, KeepsItsExactnessWhenUnitsDifferByManyOrders) {
  const Project project{.events = 3,
                        .source = 0,
                        .sink = 2,
                        .activities = {activity(0, 1, {option(1e-9, 1e3), option(2e-9, 0)}),
                                       activity(1, 2, {option(1e3, 1e-3), option(2e3, 0)})}};
  TimeCostWalk walk(project);
  EXPECT_NEAR(walk.longest().in_si(), 2e3 + 2e-9, 1e-12);
  while (!walk.at_end()) walk.advance();
  EXPECT_NEAR(walk.shortest().in_si(), 1e3 + 1e-9, 1e-12);
}

RC_GTEST_PROP(TimeCostWalk, MatchesTheLinearProgramAtEveryCornerAndBetween, ()) {
  const auto project = random_project(*rc::gen::arbitrary<std::uint64_t>());
  TimeCostWalk walk(project);
  while (true) {
    for (const double share : {0.0, 0.3, 1.0}) {
      const auto duration = walk.longest() + share * (walk.shortest() - walk.longest());
      // CLP calls a deadline infeasible that lies below the least duration by rounding.
      const auto expected = testing::least_energy_by_clp(project, duration * (1.0 + 1e-9));
      RC_ASSERT(expected.has_value());
      const double scale = 1.0 + std::abs(expected->in_si());
      RC_ASSERT(std::abs(walk.bound().at(duration).in_si() - expected->in_si()) < 1e-5 * scale);
    }
    if (walk.at_end()) break;
    walk.advance();
  }
  if (walk.shortest() > Seconds(0.0))
    RC_ASSERT(!testing::least_energy_by_clp(project, walk.shortest() * 0.999).has_value());
}

/// Equal cost of the schedule and of the bound prove both optimal.
void check_event_times(const Project& project) {
  TimeCostWalk walk(project);
  std::vector<double> times(project.events);
  for (double price = 0.0; !walk.at_end(); walk.advance()) {
    RC_ASSERT(walk.shortest() <= walk.longest());
    // Not strictly: sums that tie may differ by one integer inside, which no double shows.
    RC_ASSERT(walk.price().in_si() >= price);
    price = walk.price().in_si();
    for (const double share : {0.0, 0.25, 1.0}) {
      const auto duration = walk.longest() + share * (walk.shortest() - walk.longest());
      walk.event_times(duration, times);
      RC_ASSERT(times[project.source] == 0.0);
      RC_ASSERT(std::abs(times[project.sink] - duration.in_si()) < 1e-12);
      for (const auto& arc : project.precedences) RC_ASSERT(times[arc.before] <= times[arc.after]);
      double energy = 0.0;
      for (const auto& each : project.activities) {
        const double lasts = times[each.to] - times[each.from];
        RC_ASSERT(lasts >= each.options.front().time.in_si() - 1e-12);
        energy += energy_within(each, lasts);
      }
      RC_ASSERT(std::abs(energy - walk.bound().at(duration).in_si()) < 1e-9);
    }
  }
}

// Many projects: few of them make the walk take flow back across a full option.
RC_GTEST_PROP(TimeCostWalk, EventTimesAreFeasibleAndReachTheBound, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  for (std::uint64_t k = 0; k < 40; ++k) check_event_times(random_project(seed + 1000 * k));
}

}  // namespace
}  // namespace negawatt::solve
