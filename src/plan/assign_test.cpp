// SPDX-License-Identifier: Apache-2.0
#include "plan/assign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "plan/assign_sample_for_test.hpp"

namespace negawatt::plan {
namespace {

using testing::message_for;
using testing::named;
using testing::requests;
using testing::run;
using testing::six;
using testing::two_systems;

TEST(Assign, SendsEachRequestWhereItCostsLeast) {
  const auto plan = plan_assignment(two_systems(), six(), {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->chosen.requests, (std::vector<std::uint64_t>{3, 3}));
  EXPECT_EQ(plan->chosen.total.energy, Joules(3 + 10 + 6 + 16));
  EXPECT_EQ(plan->chosen.total.time, Seconds(12 + 5 + 1 + 6));
  EXPECT_DOUBLE_EQ(plan->chosen.objective, 35.0);
  EXPECT_NEAR(plan->bound, 35.0, 1e-9);
  EXPECT_EQ(plan->sizes, 4U);
  EXPECT_EQ(plan->evidence.kind, EvidenceKind::measured);

  EXPECT_EQ(named(*plan, "all:small").total.energy, Joules(3 + 12 + 9 + 40));
  EXPECT_EQ(named(*plan, "all:large").total.energy, Joules(12 + 10 + 6 + 16));
  EXPECT_EQ(plan->best_single()->name, "all:large");
  // In turn: small, large, small, ... in the order of the file.
  EXPECT_EQ(named(*plan, "round-robin").total.energy, Joules(1 + 16 + 1 + 10 + 9 + 4));
}

TEST(Assign, WeighsTimeAndEnergyByLambda) {
  const auto fast = plan_assignment(two_systems(), six(), {.lambda = 0.0});
  ASSERT_TRUE(fast);
  EXPECT_EQ(fast->chosen.requests, (std::vector<std::uint64_t>{0, 6}));
  EXPECT_DOUBLE_EQ(fast->chosen.objective, 3 + 5 + 1 + 6);
  const auto half = plan_assignment(two_systems(), six(), {.lambda = 0.5});
  EXPECT_DOUBLE_EQ(named(*half, "all:large").objective, 0.5 * 44 + 0.5 * 15);
  // Shares of 40 J and 90 s, the largest in the table.
  const auto normal = plan_assignment(two_systems(), six(), {.lambda = 0.5, .normalise = true});
  EXPECT_DOUBLE_EQ(named(*normal, "all:large").objective, 0.5 * 44 / 40 + 0.5 * 15 / 90);
}

TEST(Assign, KeepsCapacitiesExactlyAndPricesThem) {
  const auto plan = plan_assignment(two_systems(), six(), {.capacities = {{"small", 2, false}}});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->chosen.requests, (std::vector<std::uint64_t>{2, 4}));
  EXPECT_DOUBLE_EQ(plan->chosen.objective, 38.0);
  EXPECT_NEAR(plan->bound, 38.0, 1e-9);
  EXPECT_DOUBLE_EQ(plan->prices[0], 3.0);
  EXPECT_FALSE(named(*plan, "all:small").keeps_capacities);
  EXPECT_TRUE(named(*plan, "all:large").keeps_capacities);
}

TEST(Assign, FindsTheBestThresholds) {
  const auto plan = plan_assignment(two_systems(), six(), {});
  const auto& input = named(*plan, "input-threshold");
  ASSERT_TRUE(input.threshold);
  EXPECT_EQ(input.threshold->input_tokens, 8U);
  EXPECT_EQ(input.threshold->small, 0U);
  EXPECT_EQ(input.total.energy, Joules(3 + 12 + 6 + 16));
  const auto& output = named(*plan, "output-threshold");
  EXPECT_EQ(output.threshold->output_tokens, 8U);
  EXPECT_EQ(output.total.energy, Joules(3 + 9 + 10 + 16));
  const auto& both = named(*plan, "both-thresholds");
  EXPECT_EQ(both.threshold->input_tokens, 8U);
  EXPECT_EQ(both.threshold->output_tokens, 8U);
  EXPECT_EQ(both.total.energy, Joules(35));
}

TEST(Assign, KeepsThresholdsThatAreGiven) {
  const auto plan =
      plan_assignment(two_systems(), six(),
                      {.rule = AssignRule::input_threshold, .threshold = {.input_tokens = 4}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->chosen.threshold->input_tokens, 4U);
  EXPECT_EQ(plan->chosen.total.energy, Joules(44)) << "no request is so small";
  const auto reversed = plan_assignment(
      two_systems(), six(),
      {.rule = AssignRule::input_threshold, .threshold = {.input_tokens = 8, .small = "large"}});
  ASSERT_TRUE(reversed);
  EXPECT_EQ(reversed->chosen.total.energy, Joules(12 + 10 + 9 + 40));
  // The baselines are free to be better.
  EXPECT_EQ(named(*reversed, "both-thresholds").total.energy, Joules(35));
}

TEST(Assign, TakesTheFollowUpsModelAtItsWord) {
  const auto plan = plan_assignment(two_systems(), six(), {.rule = AssignRule::follow_up});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->follow_up);
  EXPECT_EQ(plan->follow_up->fits.size(), 2U);
  EXPECT_EQ(plan->follow_up->winners.sizes, 4U);
  // What it promises is not what it costs.
  EXPECT_NE(plan->follow_up->promised.energy, plan->chosen.total.energy);
  EXPECT_GE(plan->chosen.total.energy, named(*plan, "optimal").total.energy);
}

TEST(Assign, CountsRequestsBeyondTheTable) {
  const auto sizes = requests({{8, 8}, {20, 20}, {500, 8}, {8, 1'000}});
  const auto plan = plan_assignment(two_systems(), sizes, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->chosen.interpolated, 1U);
  EXPECT_EQ(plan->chosen.extrapolated, 2U);
  EXPECT_EQ(plan->evidence.kind, EvidenceKind::modelled);
  EXPECT_EQ(plan->evidence.source,
            "inter- and extrapolated between measured sizes of s.csv: meter");
  EXPECT_EQ(message_for({.extrapolate = false}, sizes),
            "no system was measured around requests of 8 input and 1000 output tokens, of which "
            "there are 1: without extrapolation they can go nowhere");
}

TEST(Assign, WithoutExtrapolationASystemTakesOnlyWhatItWasMeasuredAt) {
  auto table = two_systems();
  table.systems[1].runs.push_back(run(8, 128, 20, 9));
  table.systems[1].runs.push_back(run(64, 128, 30, 9));
  const auto sizes = requests({{8, 8}, {8, 128}});
  const auto plan = plan_assignment(table, sizes, {.extrapolate = false});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->chosen.requests, (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ(std::ranges::count(plan->baselines, "all:small", &Assignment::name), 0);
  EXPECT_EQ(plan_assignment(table, sizes,
                            {.rule = AssignRule::all, .system = "small", .extrapolate = false})
                .error()
                .message,
            "policy all:small cannot serve every request: it needs a system that takes them all");
}

TEST(Assign, WithoutExtrapolationEveryRuleLeavesOutWhoDoesNotTakeARequest) {
  // Short answers were measured on the small system alone, long ones on the large one alone.
  auto table = two_systems();
  for (auto& run : table.systems[1].runs) run.size.output_tokens *= 16;
  const auto sizes = requests({{8, 8}, {8, 8}, {8, 128}, {64, 64}, {64, 1'024}});
  const auto plan = plan_assignment(table, sizes, {.extrapolate = false});
  ASSERT_TRUE(plan) << plan.error().message;
  for (const auto* name :
       {"optimal", "output-threshold", "both-thresholds", "follow-up", "round-robin", "random"})
    EXPECT_EQ(named(*plan, name).requests, (std::vector<std::uint64_t>{3, 2})) << name;
  EXPECT_EQ(named(*plan, "output-threshold").threshold->output_tokens, 64U);
  EXPECT_EQ(named(*plan, "output-threshold").total.energy, Joules(1 + 1 + 40 + 4 + 16));
  EXPECT_EQ(
      plan_assignment(table, sizes, {.rule = AssignRule::input_threshold, .extrapolate = false})
          .error()
          .message,
      "policy input-threshold cannot serve every request: it needs two systems that take "
      "them between them");
}

TEST(Assign, SaysWhatIsWrong) {
  EXPECT_EQ(message_for({.lambda = 1.5}), "lambda is 1.5, expected 0 (time) to 1 (energy)");
  EXPECT_EQ(message_for({.rule = AssignRule::all, .system = "huge"}),
            "s.csv has no system 'huge', expected 'small', 'large'");
  EXPECT_EQ(message_for({.capacities = {{"huge", 1, true}}}),
            "s.csv has no system 'huge', expected 'small', 'large'");
  EXPECT_EQ(message_for({.capacities = {{"small", 1, true}, {"small", 1, true}}}),
            "capacity of 'small' is there twice");
  EXPECT_EQ(message_for({.capacities = {{"small", -1, true}}}),
            "capacity of 'small' is -1, expected a share from 0 to 1");
  EXPECT_EQ(message_for({.capacities = {{"small", 1e20, false}}}),
            "capacity of 'small' is 1e+20, expected 0 to 1e15 requests");
  EXPECT_EQ(message_for({.capacities = {{"small", 2, false}, {"large", 0.5, true}}}),
            "the capacities (small 2, large 3) are too small for 6 requests: the systems have room "
            "for 5 of 6");
  EXPECT_EQ(message_for({}, {}), "there are no requests to assign");
}

TEST(Assign, NamesTheSizeThatFindsNoRoom) {
  auto table = two_systems();
  for (auto& run : table.systems[1].runs) run.size.output_tokens *= 16;
  EXPECT_EQ(plan_assignment(table, requests({{8, 8}, {8, 16}, {8, 1'024}}),
                            {.capacities = {{"small", 1, false}}, .extrapolate = false})
                .error()
                .message,
            "the capacities (small 1) are too small for 3 requests: 1 of the requests of 8 input "
            "and 16 output tokens find no room on a system that can take them");
}

TEST(Assign, RefusesTablesBeyondWhatItCanReckonWith) {
  auto table = two_systems();
  while (table.systems.size() < 65) table.systems.push_back(table.systems[0]);
  EXPECT_EQ(plan_assignment(table, six(), {}).error().message,
            "s.csv has 65 systems, expected at most 64");
  table.systems.resize(2);
  for (auto& run : table.systems[1].runs) run.cost.energy = Joules(1e199);
  table.systems[1].runs.back().cost.energy = Joules(3e199);
  EXPECT_TRUE(plan_assignment(table, six(), {}));
  EXPECT_EQ(plan_assignment(table, requests({{8, 8}, {64, 4'000'000}}), {}).error().message,
            "s.csv: a request of 64 input and 4000000 output tokens would cost 1.03e+202 J and "
            "8.14e+04 s on 'large', expected below 1e+200");
}

/// Requests that the two systems get of `requests` equal ones, when small is cheaper.
std::vector<std::uint64_t> filled(std::uint64_t requests, std::vector<SystemCapacity> capacities) {
  const Workload workload{.groups = {{{8, 8}, requests}}, .group_of = {}};
  return plan_assignment(two_systems(), workload, {.capacities = std::move(capacities)})
      ->chosen.requests;
}

TEST(Assign, AShareIsRoundedDownUnlessAllSharesTogetherNeedMore) {
  EXPECT_EQ(filled(6, {{"small", 0.5, true}}), (std::vector<std::uint64_t>{3, 3}));
  EXPECT_EQ(filled(6, {{"small", 1.0 / 3.0, true}}), (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(filled(6, {{"small", 0.3, true}}), (std::vector<std::uint64_t>{1, 5}));
  EXPECT_EQ(filled(7, {{"small", 0.5, true}}), (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(filled(100, {{"small", 0.29, true}}), (std::vector<std::uint64_t>{29, 71}));
  EXPECT_EQ(filled(6, {{"small", 0.1, true}, {"large", 0.9, true}}),
            (std::vector<std::uint64_t>{1, 5}));  // 0.6 and 5.4
  EXPECT_EQ(filled(6, {{"small", 0.9, true}, {"large", 0.1, true}}),
            (std::vector<std::uint64_t>{5, 1}));
  EXPECT_EQ(message_for({.capacities = {{"small", 0.1, true}, {"large", 0.89, true}}}),
            "the capacities (small 0, large 5) are too small for 6 requests: the systems have room "
            "for 5 of 6");
}

TEST(Assign, RandomIsTheSameEverywhereAndDependsOnTheSeed) {
  const auto many = requests(std::vector<trace::RequestSize>(10'000, {8, 8}));
  const auto one = plan_assignment(two_systems(), many, {.rule = AssignRule::random});
  const auto again = plan_assignment(two_systems(), many, {.rule = AssignRule::random});
  const auto other = plan_assignment(two_systems(), many, {.rule = AssignRule::random, .seed = 2});
  EXPECT_EQ(one->chosen.requests, again->chosen.requests);
  EXPECT_NE(one->chosen.requests, other->chosen.requests);
  EXPECT_NEAR(static_cast<double>(one->chosen.requests[0]), 5'000.0, 200.0);  // 4 sigma
}

TEST(Assign, OneSystemNeedsNoChoice) {
  auto table = two_systems();
  table.systems.pop_back();
  const auto plan = plan_assignment(table, six(), {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->chosen.total.energy, Joules(64));
  const auto none = plan_assignment(table, six(), {.rule = AssignRule::both_thresholds});
  EXPECT_EQ(none.error().message,
            "policy both-thresholds cannot serve every request: it needs two systems");
}

}  // namespace
}  // namespace negawatt::plan
