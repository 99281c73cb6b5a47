// SPDX-License-Identifier: Apache-2.0
//
// The engine against numbers worked out by hand. A step takes one second, and so does every token
// of a prompt where a test says so; all times are then sums of whole seconds, exact in doubles.
#include "sim/simulate.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "sim/energy_meter.hpp"
#include "sim/fleet_for_test.hpp"

namespace negawatt::sim {
namespace {

using testing::Fixed;
using testing::instance_of;
using testing::List;
using testing::Watch;

model::StepCoefficients second_a_step() {
  return {.overhead = 1.0, .idle_power = 10.0, .active_power = 5.0, .energy_per_token = 2.0};
}

struct Run {
  Outcome outcome;
  Watch watch;
};

Run run(const Cluster& cluster, std::vector<trace::Request> requests,
        route::Placement placement = {}) {
  Run run;
  List source(std::move(requests));
  Fixed policy(placement);
  Observer* observers[] = {&run.watch};
  auto outcome = simulate(cluster, source, policy, {.observers = observers});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (outcome) run.outcome = std::move(*outcome);
  return run;
}

double energy_of(const Watch& watch, Activity activity) {
  double sum = 0.0;
  for (const auto& draw : watch.draws_of)
    if (draw.activity == activity) sum += draw.energy.in_si();
  return sum;
}

TEST(Simulate, OneRequestTakesItsPromptAndThenAStepForEachFurtherToken) {
  auto coefficients = second_a_step();
  coefficients.compute_per_token = 0.5;
  const Cluster cluster{.instances = {instance_of(coefficients)}};
  const auto result =
      run(cluster, {{.arrival = Seconds(2), .input_tokens = 4, .output_tokens = 3}});
  ASSERT_EQ(result.watch.records.size(), 1U);
  const auto& record = result.watch.records[0];
  EXPECT_EQ(record.first_token, Seconds(2 + 1 + 4 * 0.5));
  EXPECT_EQ(record.last_token, Seconds(5 + 2 * 1.5));
  EXPECT_EQ(result.outcome.ended, Seconds(8));
  // 4 prompt tokens and 2 decoded ones, 15 W for 6 s; before that 2 s idle.
  EXPECT_EQ(energy_of(result.watch, Activity::busy), 6 * 2.0 + 15.0 * 6.0);
  EXPECT_EQ(energy_of(result.watch, Activity::idle), 2 * 10.0);
  EXPECT_EQ(result.outcome.steps(), 3U);
  EXPECT_EQ(result.outcome.between_tokens.count(), 2U);
}

TEST(Simulate, WhoArrivesDuringAStepJoinsTheNextOne) {
  const Cluster cluster{.instances = {instance_of(second_a_step())}};
  const auto result =
      run(cluster, {{.arrival = Seconds(0), .input_tokens = 5, .output_tokens = 6},
                    {.arrival = Seconds(1.5), .input_tokens = 7, .output_tokens = 2}});
  ASSERT_EQ(result.watch.records.size(), 2U);
  // Steps end at 1 (prompt of A), 2 (A), 3 (A and the prompt of B), 4 (both; B ends), 5, 6 (A).
  EXPECT_EQ(result.watch.records[0].id, 1U);
  EXPECT_EQ(result.watch.records[0].first_token, Seconds(3));
  EXPECT_EQ(result.watch.records[0].last_token, Seconds(4));
  EXPECT_EQ(result.watch.records[1].first_token, Seconds(1));
  EXPECT_EQ(result.watch.records[1].last_token, Seconds(6));
  EXPECT_EQ(result.outcome.steps(), 6U);
  // 12 prompt tokens, 5 and 1 decoded ones.
  EXPECT_EQ(energy_of(result.watch, Activity::busy), 18 * 2.0 + 15.0 * 6.0);
}

TEST(Simulate, APromptIsComputedInChunksThatLeaveRoomForEveryDecodingSequence) {
  auto spec = instance_of(second_a_step());
  spec.limits.most_step_tokens = 4;
  spec.limits.most_sequences = 4;
  const Cluster cluster{.instances = {spec}};
  const auto result =
      run(cluster, {{.arrival = Seconds(0), .input_tokens = 2, .output_tokens = 9},
                    {.arrival = Seconds(0.5), .input_tokens = 7, .output_tokens = 1}});
  // B gets 3 tokens in each step that A decodes in: 3, 3, 1. Steps end at 1 (A), 2, 3, 4.
  ASSERT_EQ(result.watch.records.size(), 2U);
  EXPECT_EQ(result.watch.records[0].id, 1U);
  EXPECT_EQ(result.watch.records[0].first_token, Seconds(4));
  EXPECT_EQ(result.watch.records[1].last_token, Seconds(9));
}

TEST(Simulate, TheNewestIsSentBackWhenTheNextTokensDoNotFitAndIsComputedAgain) {
  auto spec = instance_of(second_a_step());
  spec.limits.kv_block_tokens = 1;
  spec.limits.kv_blocks = 10;
  const Cluster cluster{.instances = {spec}};
  // Memory in tokens after each step (A+B): 1: 3 (A); B arrives meanwhile. 2: A 4, B 3 = 7; 3: 5+4
  // = 9; now two more do not fit in 10: B goes back, with 2 tokens produced, and needs 5 tokens of
  // prompt. A alone: 4: 6, ... it ends with its token 6, which step 6 produces, and holds 8.
  const auto result =
      run(cluster, {{.arrival = Seconds(0), .input_tokens = 3, .output_tokens = 6},
                    {.arrival = Seconds(0.5), .input_tokens = 3, .output_tokens = 4}});
  ASSERT_EQ(result.watch.records.size(), 2U);
  EXPECT_EQ(result.outcome.preemptions(), 1U);
  EXPECT_EQ(result.watch.records[0].id, 0U);
  EXPECT_EQ(result.watch.records[0].last_token, Seconds(6));
  // B: tokens at 2 and 3, computed again in step 7, which produces token 3; 8 produces token 4.
  EXPECT_EQ(result.watch.records[1].first_token, Seconds(2));
  EXPECT_EQ(result.watch.records[1].last_token, Seconds(8));
  EXPECT_EQ(result.outcome.instances[0].prompt_tokens, 3U + 3U + 5U);
  EXPECT_EQ(result.outcome.instances[0].output_tokens, 10U);
  EXPECT_NEAR(result.outcome.between_tokens.quantile(1.0), 4.0, 0.01) << "B waited from 3 to 7";
}

TEST(Simulate, AnAnswerIsComputedWhereItsMemoryIsMoved) {
  const Cluster cluster{
      .instances = {instance_of(second_a_step(), "prompts"),
                    instance_of(second_a_step(), "answers")},
      .link = Link{
          .latency = Seconds(0.5), .time_per_token = Seconds(0.25), .energy_per_token = Joules(3)}};
  const auto result = run(cluster, {{.arrival = Seconds(0), .input_tokens = 2, .output_tokens = 3}},
                          {.prefill = 0, .decode = 1});
  ASSERT_EQ(result.watch.records.size(), 1U);
  EXPECT_EQ(result.watch.records[0].first_token, Seconds(1));
  EXPECT_EQ(result.watch.records[0].last_token, Seconds(1 + 0.5 + 2 * 0.25 + 2));
  EXPECT_EQ(result.watch.moved_joules, 2 * 3.0);
  EXPECT_EQ(result.outcome.transfers, 1U);
  EXPECT_EQ(result.outcome.instances[0].output_tokens, 1U);
  EXPECT_EQ(result.outcome.instances[1].output_tokens, 2U);
  EXPECT_EQ(result.outcome.between_tokens.count(), 2U);
  EXPECT_NEAR(result.outcome.between_tokens.quantile(1.0), 2.0, 0.01);
}

TEST(Simulate, AnIdleInstanceFallsAsleepAndIsWokenAtItsCost) {
  auto spec = instance_of(second_a_step());
  spec.power = {.sleep_after = Seconds(3),
                .sleep_power = Watts(1),
                .start_time = Seconds(2),
                .start_energy = Joules(100)};
  const Cluster cluster{.instances = {spec}};
  const auto result =
      run(cluster, {{.arrival = Seconds(0), .input_tokens = 1, .output_tokens = 1},
                    {.arrival = Seconds(10), .input_tokens = 1, .output_tokens = 1}});
  ASSERT_EQ(result.watch.records.size(), 2U);
  EXPECT_EQ(result.watch.records[1].last_token, Seconds(13));
  EXPECT_EQ(energy_of(result.watch, Activity::idle), 3 * 10.0);
  EXPECT_EQ(energy_of(result.watch, Activity::asleep), 6 * 1.0);
  EXPECT_EQ(energy_of(result.watch, Activity::starting), 100.0 + 2 * 1.0);
  EXPECT_EQ(result.outcome.instances[0].starts, 1U);
}

/// Sends everything to the first instance, wants the second one on, and listens.
class Wishes final : public testing::Simple {
 public:
  [[nodiscard]] std::optional<route::Placement> place(
      const route::Arrival& /*arrival*/, std::span<const route::InstanceView> views) override {
    expected_left.push_back(views[0].expected_output_left);
    return route::Placement{};
  }
  [[nodiscard]] Seconds wanted_until(std::size_t instance) const override {
    return instance == 1 ? until : Seconds();
  }
  std::optional<double> progressed(const route::Progress& progress) override {
    told.push_back(progress);
    return 3.0 * progress.tokens_now;
  }
  void completed(const route::Completion& completion) override { ends.push_back(completion); }

  Seconds until{1e9};
  std::vector<double> expected_left;
  std::vector<route::Progress> told;
  std::vector<route::Completion> ends;
};

Cluster two_that_sleep() {
  auto spec = instance_of(second_a_step());
  spec.power = {.sleep_after = Seconds(3),
                .sleep_power = Watts(1),
                .start_time = Seconds(2),
                .start_energy = Joules(100)};
  Cluster cluster{.instances = {spec, spec}};
  cluster.instances[1].power.starts_asleep = true;
  return cluster;
}

TEST(Simulate, WhatIsWantedOnIsStartedAndStaysOn) {
  const Cluster cluster = two_that_sleep();
  Wishes policy;
  List source({{.arrival = Seconds(0), .input_tokens = 1, .output_tokens = 1},
               {.arrival = Seconds(10), .input_tokens = 1, .output_tokens = 1}});
  EnergyMeter meter(cluster);
  Observer* observers[] = {&meter};
  ASSERT_TRUE(simulate(cluster, source, policy, {.observers = observers}));
  EXPECT_EQ(meter.of(1, Activity::starting).energy, Joules(100 + 2 * 1));
  EXPECT_EQ(meter.of(1, Activity::idle).energy, Joules(11 * 10));  // until 13, when all has ended
  EXPECT_EQ(meter.of(1, Activity::asleep).energy, Joules(0));
  EXPECT_EQ(meter.of(0, Activity::asleep).energy, Joules(6 * 1)) << "nobody wants the first on";
}

TEST(Simulate, WhatIsWantedOnUntilThenFallsAsleepThen) {
  Cluster cluster = two_that_sleep();
  for (auto& spec : cluster.instances) spec.power.sleep_after = Seconds(0);
  Wishes policy;
  policy.until = Seconds(7);
  List source({{.arrival = Seconds(0), .input_tokens = 1, .output_tokens = 1},
               {.arrival = Seconds(20), .input_tokens = 1, .output_tokens = 1}});
  EnergyMeter meter(cluster);
  Observer* observers[] = {&meter};
  ASSERT_TRUE(simulate(cluster, source, policy, {.observers = observers}));
  EXPECT_EQ(meter.of(1, Activity::idle).energy, Joules((7 - 2) * 10));
  EXPECT_EQ(meter.of(1, Activity::asleep).energy, Joules((23 - 7) * 1));
}

TEST(Simulate, AStartThatTakesNoTimeIsPaidForAtTheEndToo) {
  Cluster cluster = two_that_sleep();
  for (auto& spec : cluster.instances) {
    spec.power.start_time = Seconds(0);
    spec.limits.kv_blocks = 1;
  }
  Wishes policy;  // wakes the second for a request that no memory holds
  List source({{.arrival = Seconds(5), .input_tokens = 1000, .output_tokens = 1}});
  EnergyMeter meter(cluster);
  Observer* observers[] = {&meter};
  const auto outcome = simulate(cluster, source, policy, {.observers = observers});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->too_large, 1U);
  EXPECT_EQ(meter.of(1, Activity::starting).energy, Joules(100));
  ASSERT_EQ(policy.ends.size(), 1U);
  EXPECT_FALSE(policy.ends[0].finished) << "it would have been cut off";
}

TEST(Simulate, AStartThatTheEndCutsShortCostsItsPart) {
  const Cluster cluster = two_that_sleep();
  Wishes policy;
  List source({{.arrival = Seconds(0), .input_tokens = 1, .output_tokens = 1}});
  EnergyMeter meter(cluster);
  Observer* observers[] = {&meter};
  ASSERT_TRUE(simulate(cluster, source, policy, {.observers = observers}));
  EXPECT_EQ(meter.of(1, Activity::starting).energy, Joules(50 + 1 * 1));
}

TEST(Simulate, ThePolicyHearsHowFarRequestsHaveCome) {
  const Cluster cluster{.instances = {instance_of(second_a_step())}};
  Wishes policy;
  std::vector<trace::Request> requests{
      {.arrival = Seconds(0), .input_tokens = 5, .output_tokens = 200}};
  for (double at = 1.5; at < 190.0; at += 3.0)
    requests.push_back({.arrival = Seconds(at), .input_tokens = 7, .output_tokens = 2});
  List source(std::move(requests));
  ASSERT_TRUE(simulate(cluster, source, policy));
  ASSERT_GE(policy.told.size(), 4U);
  std::uint32_t before = 0;
  for (const auto& progress : policy.told) {
    EXPECT_EQ(progress.input_tokens, 5U) << "short answers have no time for it";
    EXPECT_EQ(progress.tokens_before, before);
    EXPECT_GE(progress.tokens_now, std::max(16U, 2 * before));
    before = progress.tokens_now;
  }
  EXPECT_EQ(policy.ends.back().tokens_before, before);
  // Five were expected of it (testing::Simple); when it has more, three times what it has.
  EXPECT_EQ(policy.expected_left[3], 0.0);
  EXPECT_GT(policy.expected_left.back(), 100.0);
}

TEST(Simulate, OfThoseThatWaitTheHigherPriorityGoesFirst) {
  auto spec = instance_of(second_a_step());
  spec.limits.most_sequences = 1;
  const Cluster cluster{.instances = {spec}};
  const auto result = run(
      cluster, {{.arrival = Seconds(0), .input_tokens = 1, .output_tokens = 3},
                {.arrival = Seconds(0.5), .input_tokens = 1, .output_tokens = 1},
                {.arrival = Seconds(0.6), .input_tokens = 1, .output_tokens = 1, .priority = 5}});
  ASSERT_EQ(result.watch.records.size(), 3U);
  EXPECT_EQ(result.watch.records[1].id, 2U);
  EXPECT_EQ(result.watch.records[2].id, 1U);
}

TEST(Simulate, WhatCanNeverRunIsCountedAndDoesNotStopTheOthers) {
  auto spec = instance_of(second_a_step());
  spec.limits.kv_block_tokens = 1;
  spec.limits.kv_blocks = 10;
  const Cluster cluster{.instances = {spec}};
  const auto result =
      run(cluster, {{.arrival = Seconds(0), .input_tokens = 8, .output_tokens = 4},
                    {.arrival = Seconds(0), .input_tokens = 8, .output_tokens = 3}});
  EXPECT_EQ(result.outcome.requests, 2U);
  EXPECT_EQ(result.outcome.too_large, 1U);
  EXPECT_EQ(result.outcome.completed, 1U);
}

TEST(Simulate, AnOverloadedClusterServesItsLineToTheEndAndSaysSo) {
  auto spec = instance_of(second_a_step());
  spec.limits.most_sequences = 2;
  const Cluster cluster{.instances = {spec}};
  std::vector<trace::Request> requests;
  for (int i = 0; i < 100; ++i)
    requests.push_back({.arrival = Seconds(0.01 * i), .input_tokens = 10, .output_tokens = 10});
  const auto result = run(cluster, requests);
  EXPECT_EQ(result.outcome.completed, 100U);
  EXPECT_TRUE(result.outcome.overloaded(2));
  EXPECT_GE(result.outcome.waiting_at_last_arrival, 97U);
  EXPECT_EQ(result.outcome.instances[0].peak_waiting, result.outcome.waiting_at_last_arrival);
}

TEST(Simulate, AnSloIsMetOrMissedInEachOfItsParts) {
  Cluster cluster{.instances = {instance_of(second_a_step())}};
  cluster.slos = {{.ttft = Seconds(1)}, {.tbt = Seconds(0.5)}, {.e2e = Seconds(3)}, {}};
  std::vector<trace::Request> requests;
  for (std::uint16_t i = 0; i < 4; ++i)
    requests.push_back(
        {.arrival = Seconds(10.0 * i), .input_tokens = 1, .output_tokens = 3, .request_class = i});
  const auto result = run(cluster, requests);
  const auto& classes = result.outcome.classes;
  ASSERT_EQ(classes.size(), 4U);
  EXPECT_EQ(classes[0].met_all, 1U);
  EXPECT_EQ(classes[1].met_all, 0U);
  EXPECT_EQ(classes[1].met_ttft, 1U);
  EXPECT_EQ(classes[2].met_all, 1U);
  EXPECT_FALSE(classes[3].has_slo);
  EXPECT_DOUBLE_EQ(*result.outcome.slo_attainment(), 2.0 / 3.0);
}

TEST(Simulate, AnEnergyMeterChangesNothingAndItsSumsAreThoseOfTheDraws) {
  const Cluster cluster{.instances = {instance_of(second_a_step()), instance_of(second_a_step())}};
  std::vector<trace::Request> requests;
  for (unsigned i = 0; i < 20; ++i)
    requests.push_back({.arrival = Seconds(0.7 * i), .input_tokens = i + 1, .output_tokens = 5});
  const auto watched = run(cluster, requests);
  List source(requests);
  Fixed policy({});
  EnergyMeter meter(cluster);
  Observer* observers[] = {&meter};
  const auto metered = simulate(cluster, source, policy, {.observers = observers});
  List again(requests);
  Fixed same({});
  const auto alone = simulate(cluster, again, same);
  ASSERT_TRUE(metered && alone);
  EXPECT_EQ(metered->ended, alone->ended);
  EXPECT_EQ(metered->events, alone->events);
  EXPECT_EQ(metered->latencies.e2e.mean(), alone->latencies.e2e.mean());
  double sum = 0.0;
  for (const auto& draw : watched.watch.draws_of) sum += draw.energy.in_si();
  EXPECT_DOUBLE_EQ(meter.total().in_si(), sum);
  EXPECT_DOUBLE_EQ(meter.without_work().in_si(), energy_of(watched.watch, Activity::idle));
  EXPECT_GT(meter.peak(), Watts(20));
}

TEST(Simulate, RequestsOutOfOrderAreRefused) {
  const Cluster cluster{.instances = {instance_of(second_a_step())}};
  List source({{.arrival = Seconds(2), .input_tokens = 1, .output_tokens = 1},
               {.arrival = Seconds(1), .input_tokens = 1, .output_tokens = 1}});
  Fixed policy({});
  const auto outcome = simulate(cluster, source, policy);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "request 2 arrives before the one before it");
}

TEST(Simulate, AClusterThatCannotBeIsRefused) {
  auto spec = instance_of(second_a_step());
  spec.role = route::Role::prefill;
  List source({});
  Fixed policy({});
  EXPECT_EQ(simulate(Cluster{.instances = {spec}}, source, policy).error().message,
            "instance 'one': computes only prompts or only answers, and there is no link");
  spec.role = route::Role::both;
  spec.power.sleep_power = Watts(11);
  EXPECT_EQ(simulate(Cluster{.instances = {spec}}, source, policy).error().message,
            "instance 'one': sleeps at 11 W, above its idle power of 10 W");
  EXPECT_EQ(simulate(Cluster{}, source, policy).error().message, "the cluster has no instance");
}

}  // namespace
}  // namespace negawatt::sim
