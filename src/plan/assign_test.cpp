// SPDX-License-Identifier: Apache-2.0
#include "plan/assign.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "plan/assign_costs.hpp"
#include "plan/assign_threshold.hpp"

namespace negawatt::plan {
namespace {

trace::SystemRun run(std::uint32_t input, std::uint32_t output, double joules, double seconds) {
  return {{input, output}, {.time = Seconds(seconds), .energy = Joules(joules)}};
}

/// The small system is cheap and slow for short requests and dear for long ones.
trace::SystemTable two_systems() {
  trace::SystemTable table{.evidence = {EvidenceKind::measured, "meter"}, .name = "s.csv"};
  table.systems.push_back(
      {.name = "small",
       .model = "m",
       .runs = {run(8, 8, 1, 4), run(8, 64, 12, 40), run(64, 8, 9, 12), run(64, 64, 40, 90)}});
  table.systems.push_back(
      {.name = "large",
       .model = "m",
       .runs = {run(8, 8, 4, 1), run(8, 64, 10, 5), run(64, 8, 6, 1), run(64, 64, 16, 6)}});
  return table;
}

Workload requests(std::vector<trace::RequestSize> sizes) {
  std::vector<trace::Request> list;
  for (const auto size : sizes)
    list.push_back({.input_tokens = size.input_tokens, .output_tokens = size.output_tokens});
  return workload_of(list);
}

/// Six requests: three of (8, 8), and one of each other size.
Workload six() { return requests({{8, 8}, {64, 64}, {8, 8}, {8, 64}, {64, 8}, {8, 8}}); }

const Assignment& named(const AssignPlan& plan, std::string_view name) {
  if (plan.chosen.name == name) return plan.chosen;
  const auto found = std::ranges::find(plan.baselines, name, &Assignment::name);
  EXPECT_NE(found, plan.baselines.end()) << name;
  return *found;
}

std::string message_for(AssignRequest request, const Workload& workload = six()) {
  const auto plan = plan_assignment(two_systems(), workload, request);
  return plan ? "accepted" : plan.error().message;
}

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
  // A third of six is two, a share of 0.3 is rounded up to two.
  for (const double share : {1.0 / 3.0, 0.3})
    EXPECT_EQ(plan_assignment(two_systems(), six(), {.capacities = {{"small", share, true}}})
                  ->chosen.requests[0],
              2U);
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
            "policy all:small cannot serve every request: it needs systems that take them all");
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
            "capacity of 'small' is -1, expected 0 or more");
  EXPECT_EQ(message_for({.capacities = {{"small", 2, false}, {"large", 0.5, true}}}),
            "the capacities (small 2, large 3) are too small for 6 requests: the systems have room "
            "for 5 of 6");
  EXPECT_EQ(message_for({}, {}), "there are no requests to assign");
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

/// Random systems and requests; the best objective of all thresholds, tried one by one.
struct RandomCase {
  explicit RandomCase(std::uint64_t seed) : random(seed) {
    const auto systems = 2 + random() % 3;
    for (std::size_t s = 0; s < systems; ++s) {
      trace::MeasuredSystem system{.name = std::string(1, static_cast<char>('a' + s)),
                                   .model = "m"};
      for (const std::uint32_t in : {1U, 10U})
        for (const std::uint32_t out : {1U, 10U})
          system.runs.push_back(run(in, out, 1.0 + static_cast<double>(random() % 100),
                                    1.0 + static_cast<double>(random() % 100)));
      table.systems.push_back(system);
    }
    std::vector<trace::RequestSize> sizes;
    for (auto left = 1 + random() % 40; left > 0; --left)
      sizes.push_back({static_cast<std::uint32_t>(1 + random() % 8),
                       static_cast<std::uint32_t>(1 + random() % 8)});
    workload = requests(sizes);
  }
  double by_force(const AssignCosts& costs, std::uint32_t most_input, std::uint32_t most_output) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < costs.systems(); ++a)
      for (std::size_t b = 0; b < costs.systems(); ++b)
        for (std::uint32_t in = 0; in <= most_input; ++in)
          for (std::uint32_t out = 0; out <= most_output; ++out) {
            double sum = 0.0;
            for (std::size_t g = 0; g < costs.groups(); ++g) {
              const auto size = workload.groups[g].size;
              const bool below = (most_input == 0 || size.input_tokens <= in) &&
                                 (most_output == 0 || size.output_tokens <= out);
              sum += static_cast<double>(costs.requests_in(g)) * costs.utility(g, below ? a : b);
            }
            best = std::min(best, sum);
          }
    return best;
  }

  std::mt19937_64 random;
  trace::SystemTable table{.name = "s.csv"};
  Workload workload;
};

RC_GTEST_PROP(AssignProperty, NoThresholdIsBetterThanTheOneFound, ()) {
  RandomCase a_case(*rc::gen::arbitrary<std::uint64_t>());
  const AssignRequest request{.lambda = 0.7};
  std::vector<CostSurface> surfaces;
  for (const auto& system : a_case.table.systems)
    surfaces.push_back(CostSurface::of(system).value());
  const auto costs =
      AssignCosts::of(surfaces, a_case.workload, request, utility_of(a_case.table, request))
          .value();
  const auto plan = plan_assignment(a_case.table, a_case.workload, request).value();
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
  RC_ASSERT(near(named(plan, "input-threshold").objective, a_case.by_force(costs, 8, 0)));
  RC_ASSERT(near(named(plan, "output-threshold").objective, a_case.by_force(costs, 0, 8)));
  RC_ASSERT(near(named(plan, "both-thresholds").objective, a_case.by_force(costs, 8, 8)));
}

RC_GTEST_PROP(AssignProperty, NoRuleBeatsTheBoundAndEveryRequestIsServedOnce, ()) {
  const RandomCase a_case(*rc::gen::arbitrary<std::uint64_t>());
  const AssignRequest request{
      .lambda = 0.5, .normalise = *rc::gen::arbitrary<bool>(), .capacities = {{"a", 0.6, true}}};
  const auto plan = plan_assignment(a_case.table, a_case.workload, request).value();
  RC_ASSERT(plan.chosen.keeps_capacities);
  RC_ASSERT(plan.chosen.objective <= plan.bound * (1 + 1e-9));
  for (const auto& assignment : plan.baselines) {
    std::uint64_t served = 0;
    for (const auto count : assignment.requests) served += count;
    RC_ASSERT(served == a_case.workload.group_of.size());
    RC_ASSERT(!assignment.keeps_capacities || assignment.objective >= plan.bound);
  }
}

}  // namespace
}  // namespace negawatt::plan
