// SPDX-License-Identifier: Apache-2.0
#include "route/fleet_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "route/two_futures_for_test.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

using model::ServingModel;
using testing::coefficients_for_test;
using testing::view_of;

/// A device `speed` times as fast that draws `power` times as much.
ServingModel scaled(double speed, double power) {
  auto c = coefficients_for_test();
  for (double* time : {&c.overhead, &c.overhead_per_sequence, &c.compute_per_token,
                       &c.compute_per_attended, &c.memory_weights, &c.memory_per_context}) {
    *time /= speed;
  }
  for (double* energy :
       {&c.energy_per_token, &c.energy_per_attended, &c.energy_weights, &c.energy_per_context}) {
    *energy *= power / speed;
  }
  c.idle_power *= power;
  c.active_power *= power;
  return ServingModel(c);
}

struct Fleet {
  std::vector<ServingModel> models;
  std::vector<InstanceView> views;

  void add(const ServingModel& model, std::uint32_t count) {
    models.push_back(model);
    counts.push_back(count);
  }
  /// Once all are there: views point to models.
  void build(bool sleeps) {
    views.clear();
    for (std::uint32_t type = 0; type < models.size(); ++type) {
      for (std::uint32_t i = 0; i < counts[type]; ++i) {
        views.push_back(view_of(models[type], {}));
        views.back().device_type = type;
        views.back().sleeps = sleeps;
      }
    }
  }
  std::vector<std::uint32_t> counts;
};

constexpr FlowPart kAlike{1.0, 200, 80};
constexpr FlowPromise kPromise{.first = 1.0, .between = 0.05};

FleetPlan plan_at(const Fleet& fleet, double rate, Seconds until = Seconds(600)) {
  FleetPlan plan({fleet.models.size(), fleet.views.size()}, {}, kPromise, 0.01);
  const std::vector<PlanMargins> margins(fleet.models.size());
  for (double now = 0.0; now <= until.in_si(); now += 1.0 / rate) {
    if (plan.advance(Seconds(now))) plan.make(fleet.views, margins);
    plan.arrived({kAlike.input_tokens, kAlike.output_tokens});
  }
  return plan;
}

std::vector<std::uint32_t> members(const FleetPlan& plan, const Fleet& fleet) {
  std::vector<std::uint32_t> count(fleet.models.size());
  for (std::size_t i = 0; i < fleet.views.size(); ++i) {
    if (plan.includes(i)) ++count[fleet.views[i].device_type];
  }
  return count;
}

double most_rate(const Fleet& fleet, std::uint32_t type) {
  FlowPromise promise = kPromise;
  promise.pooled = fleet.counts[type];
  return InstanceFlow(view_of(fleet.models[type], {}), {&kAlike, 1}).most_rate(promise);
}

TEST(FleetPlan, IsNothingUntilSomethingIsKnown) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 2);
  fleet.build(true);
  EXPECT_FALSE(plan_at(fleet, 1.0, Seconds(20.0)).exists());
  EXPECT_TRUE(plan_at(fleet, 1.0, Seconds(90.0)).exists());
}

TEST(FleetPlan, KeepsOnAsManyAsTheDemandNeeds) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 4);
  fleet.build(true);
  const double one = most_rate(fleet, 0);
  EXPECT_EQ(members(plan_at(fleet, 0.5 * one), fleet), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(members(plan_at(fleet, 1.5 * one), fleet), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(members(plan_at(fleet, 3.5 * one), fleet), (std::vector<std::uint32_t>{4}));
  const FleetPlan over = plan_at(fleet, 5.0 * one);
  EXPECT_EQ(members(over, fleet), (std::vector<std::uint32_t>{4}));
  EXPECT_NEAR(over.shortfall(), one, 0.1 * one);
}

TEST(FleetPlan, TakesWhatIsCheapestAtThisDemand) {
  Fleet fleet;
  fleet.add(scaled(0.2, 0.1), 1);  // slow, half the energy a request
  fleet.add(scaled(2, 2), 1);
  fleet.build(true);
  const double small = most_rate(fleet, 0);
  EXPECT_EQ(members(plan_at(fleet, 0.5 * small), fleet), (std::vector<std::uint32_t>{1, 0}));
  const FleetPlan both = plan_at(fleet, 3.0 * small);
  EXPECT_EQ(members(both, fleet)[1], 1U);
  EXPECT_EQ(both.shortfall(), 0.0);
}

TEST(FleetPlan, IdlePowerDecidesOnlyWhereItCanBeSaved) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 1);
  auto thrifty = scaled(1, 1).coefficients();
  thrifty.idle_power *= 0.2;
  thrifty.energy_weights *= 1.05;  // serves at a little more
  fleet.add(ServingModel(thrifty), 1);
  const double rate = 0.3 * most_rate({fleet.models, {}, {1, 1}}, 0);
  fleet.build(true);
  EXPECT_EQ(members(plan_at(fleet, rate), fleet), (std::vector<std::uint32_t>{0, 1}));
  fleet.build(false);
  EXPECT_EQ(members(plan_at(fleet, rate), fleet), (std::vector<std::uint32_t>{1, 0}));
}

/// The least cost over all sets of instances and orders, each filled before the next.
double least_cost(const Fleet& fleet, double rate) {
  std::vector<std::size_t> order(fleet.models.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  double least = std::numeric_limits<double>::infinity();
  do {
    std::vector<std::uint32_t> count(order.size());
    const auto judge = [&] {
      double cost = 0.0;
      double left = rate;
      for (const std::size_t type : order) {
        const double idle = fleet.models[type].idle_power().in_si();
        if (count[type] == 0) continue;  // asleep at 0 W
        const double taken = std::min(left, count[type] * most_rate(fleet, std::uint32_t(type)));
        const InstanceFlow flow(view_of(fleet.models[type], {}), {&kAlike, 1});
        cost += count[type] * (idle + flow.at(taken / count[type]).power);
        left -= taken;
      }
      if (left <= 1e-9 * rate) least = std::min(least, cost);
    };
    while (true) {
      judge();
      std::size_t digit = 0;
      while (digit < count.size() && count[digit] == fleet.counts[digit]) count[digit++] = 0;
      if (digit == count.size()) break;
      ++count[digit];
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(FleetPlan, IsAsGoodAsTheBestOfAllSets) {
  trace::Random random(11);
  int mixed = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Fleet fleet;
    double capacity = 0.0;
    for (std::uint32_t type = 0; type < 3; ++type) {
      const double speed = std::exp2(4.0 * random.uniform() - 2.0);
      fleet.add(scaled(speed, speed * (0.5 + random.uniform())),
                1 + static_cast<std::uint32_t>(random.below(3)));
      capacity += fleet.counts[type] * most_rate(fleet, type);
    }
    fleet.build(true);
    for (InstanceView& view : fleet.views) view.sleeps_after = Seconds(0);
    const double rate = (0.05 + 0.8 * random.uniform()) * capacity;
    const FleetPlan plan = plan_at(fleet, rate, Seconds(90.0));
    const double least = least_cost(fleet, rate);
    EXPECT_LE(plan.cost(), 1.02 * least) << trial;
    EXPECT_GE(plan.cost(), 0.98 * least) << trial;
    const auto count = members(plan, fleet);
    mixed += std::ranges::count_if(count, [](std::uint32_t n) { return n > 0; }) > 1 ? 1 : 0;
  }
  EXPECT_GT(mixed, 10);
}

TEST(FleetPlan, UsesAsManyTypesAsItTakes) {
  Fleet fleet;
  double capacity = 0.0;
  for (std::uint32_t type = 0; type < 6; ++type) {
    fleet.add(scaled(1.0 + 0.1 * type, 1.0 + 0.15 * type), 1);
    capacity += most_rate(fleet, type);
  }
  fleet.build(true);
  const FleetPlan plan = plan_at(fleet, 0.97 * capacity, Seconds(90.0));
  EXPECT_EQ(members(plan, fleet), (std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(plan.shortfall(), 0.0);
}

TEST(FleetPlan, CountsOnNobodyForWhatItsMemoryCannotHold) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 1);
  fleet.add(scaled(1, 3), 1);
  fleet.build(true);
  fleet.views[0].kv_capacity = 1000;
  FleetPlan plan({2, 2}, {}, kPromise, 0.01);
  const std::vector<PlanMargins> margins(2);
  for (double now = 0.0; now < 100.0; now += 0.5) {
    if (plan.advance(Seconds(now))) plan.make(fleet.views, margins);
    plan.arrived({int(now) % 10 == 0 ? 3000.0 : 200.0, 80});
  }
  EXPECT_EQ(plan.shortfall(), 0.0);
  EXPECT_EQ(members(plan, fleet)[1], 1U) << "one request in ten fits nowhere else";
}

TEST(FleetPlan, WantsNobodyOnForEver) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 1);
  fleet.build(true);
  const FleetPlan plan = plan_at(fleet, 1.0, Seconds(100.0));
  ASSERT_TRUE(plan.includes(0));
  EXPECT_NEAR(plan.wanted_until(0).in_si(), 700.0, 1.0);
}

TEST(FleetPlan, StaysUnlessSomethingIsSaved) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 1);
  fleet.add(scaled(1, 0.99), 1);
  fleet.build(true);
  std::vector<PlanMargins> margins(2);
  FleetPlan plan({2, 2}, {}, kPromise, 0.01);
  const auto run = [&](double from, double until) {
    for (double now = from; now <= until; now += 1.0) {
      if (plan.advance(Seconds(now))) plan.make(fleet.views, margins);
      plan.arrived({200, 80});
    }
  };
  margins[1] = {.first = 1e3, .between = 1e3};  // the second cannot
  run(0.0, 120.0);
  EXPECT_EQ(members(plan, fleet), (std::vector<std::uint32_t>{1, 0}));
  margins[1] = {};
  run(121.0, 300.0);
  EXPECT_EQ(members(plan, fleet), (std::vector<std::uint32_t>{1, 0})) << "1 % is not worth it";
  margins[0] = {.first = 1e3, .between = 1e3};
  run(301.0, 400.0);
  EXPECT_EQ(members(plan, fleet), (std::vector<std::uint32_t>{0, 1})) << "a promise is";
}

TEST(FleetPlan, PlansForMoreWhenItsInstancesDoNotKeepUp) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 4);
  fleet.build(true);
  const std::vector<PlanMargins> margins(1);
  const double rate = 0.9 * most_rate(fleet, 0);
  FleetPlan plan({1, 4}, {}, kPromise, 0.01);
  const auto run = [&](double from, double until, bool kept) {
    for (double now = from; now <= until; now += 1.0 / rate) {
      if (plan.advance(Seconds(now))) plan.make(fleet.views, margins);
      plan.arrived({200, 80});
      plan.served(kept);
    }
  };
  run(0.0, 90.0, true);
  EXPECT_EQ(members(plan, fleet)[0], 1U);
  run(90.0, 95.0, false);
  EXPECT_GE(members(plan, fleet)[0], 2U) << "before the next window ends";
}

TEST(FleetPlan, LeavesDisaggregatedInstancesAlone) {
  Fleet fleet;
  fleet.add(scaled(1, 1), 2);
  fleet.build(true);
  fleet.views[0].role = Role::prefill;
  fleet.views[1].role = Role::decode;
  EXPECT_FALSE(plan_at(fleet, 1.0).exists());
}

}  // namespace
}  // namespace negawatt::route
