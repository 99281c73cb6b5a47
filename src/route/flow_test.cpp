// SPDX-License-Identifier: Apache-2.0
//
// The closed form on cases that can be worked out by hand. How near it comes to an engine with
// queues and batches that vary: sim/steady_flow_test.cpp.
#include "route/flow.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "route/two_futures_for_test.hpp"

namespace negawatt::route {
namespace {

using model::ServingModel;
using model::StepCoefficients;
using testing::coefficients_for_test;
using testing::view_of;

/// Steps of 1 s and 10 J, 50 W while they run, 100 W idle; prompts cost nothing.
StepCoefficients plain() {
  StepCoefficients c;
  c.overhead = 1.0;
  c.energy_weights = 10.0;
  c.active_power = 50.0;
  c.idle_power = 100.0;
  return c;
}

constexpr FlowPart kAnswers[] = {{1.0, 100, 101}};

TEST(InstanceFlow, SharesStepsAmongTheBatchThatTheFlowKeepsUp) {
  const ServingModel model(plain());
  const InstanceFlow flow(view_of(model, {}), kAnswers);
  // 0.5 a second that take 100 steps of a second: 50 at a time.
  const SteadyState s = flow.at(0.5);
  EXPECT_NEAR(s.batch, 50.0, 1e-9);
  EXPECT_NEAR(s.power, 0.5 * 100 * 60.0 / 50.0, 1e-9);
  EXPECT_DOUBLE_EQ(s.between, 1.0);
  EXPECT_FALSE(s.is_full);
}

TEST(InstanceFlow, TakesNoStepWithoutASequence) {
  const ServingModel model(plain());
  const InstanceFlow flow(view_of(model, {}), kAnswers);
  // 0.1 on average, so that a step has 0.1 / (1 - exp(-0.1)): those that are not empty.
  const double some = 0.1 / -std::expm1(-0.1);
  EXPECT_NEAR(flow.at(1e-3).batch, some, 1e-3);
  // And a step for a prompt that finds nobody.
  EXPECT_NEAR(flow.at(1e-3).power, 1e-3 * (100 / some + std::exp(-0.1)) * 60.0, 1e-2);
}

TEST(InstanceFlow, IsFullWhereTheBatchIs) {
  const ServingModel model(plain());
  const InstanceFlow flow(view_of(model, {}), kAnswers);
  EXPECT_TRUE(flow.at(4.0).is_full);  // 400 want in, 256 have a place
  EXPECT_DOUBLE_EQ(flow.at(4.0).batch, 256.0);
  // At 2.3 a second 230 on average; 265 in one case of a hundred.
  EXPECT_TRUE(flow.at(2.3).is_full);
  EXPECT_FALSE(flow.at(2.1).is_full);
  EXPECT_FALSE(flow.at(2.3, {.pooled = 100}).is_full) << "where others have room";
}

TEST(InstanceFlow, QueuesPromptsAsOneServerDoes) {
  StepCoefficients c;
  c.compute_per_token = 1e-3;
  c.energy_per_token = 0.02;
  const ServingModel model(c);
  InstanceView view = view_of(model, {});
  view.most_step_tokens = 0;
  const FlowPart prompts[] = {{1.0, 100, 1}};
  const SteadyState s = InstanceFlow(view, prompts).at(5.0);
  EXPECT_NEAR(s.load, 0.5, 1e-12);
  // M/D/1: half of the load is waited for, over 1 - load.
  EXPECT_NEAR(s.completion, 0.1 + 0.5 * 0.5 * 0.1 / 0.5, 1e-9);
  EXPECT_NEAR(s.power, 5.0 * 100 * 0.02, 1e-9);
}

TEST(InstanceFlow, PaysForTheStepsOfPromptsThatNobodySharesThemWith) {
  const ServingModel model(plain());
  const FlowPart prompts[] = {{1.0, 100, 1}};
  const SteadyState s = InstanceFlow(view_of(model, {}), prompts).at(0.1);
  EXPECT_NEAR(s.power, 0.1 * 60.0, 1e-9);  // a step of a second each
  EXPECT_NEAR(s.load, 0.1, 1e-9);
}

TEST(InstanceFlow, AnswersThatVaryTakeLongerThanTheirMean) {
  const ServingModel model(plain());
  const FlowPart alike[] = {{1.0, 100, 101}};
  const FlowPart unlike[] = {{1.0, 100, 101, 50}};
  const SteadyState a = InstanceFlow(view_of(model, {}), alike).at(0.1);
  const SteadyState b = InstanceFlow(view_of(model, {}), unlike).at(0.1);
  EXPECT_EQ(a.completion, b.completion);
  // Of a normal variable 1 % is more than 2.326 standard deviations above the mean.
  EXPECT_NEAR(b.longest_completion - a.longest_completion, 2.326 * 50.0, 0.1);
}

TEST(InstanceFlow, DrawsNoMoreThanTheCapForPrompts) {
  StepCoefficients c;
  c.compute_per_token = 1e-3;
  c.energy_per_token = 0.4;  // 400 W
  c.idle_power = 100.0;
  c.power_cap = 300.0;
  c.cap_slowdown = 1.0;
  const ServingModel model(c);
  const FlowPart prompts[] = {{1.0, 100, 1}};
  const SteadyState s = InstanceFlow(view_of(model, {}), prompts).at(2.0);
  EXPECT_NEAR(s.load, 2.0 * 0.2, 1e-9);  // twice as long at half of the power
  EXPECT_NEAR(s.power / s.load, 200.0, 1e-9);
}

TEST(InstanceFlow, ServesTheMostThatKeepsEachPromise) {
  const ServingModel model(coefficients_for_test());
  const FlowPart parts[] = {{0.5, 100, 50}, {0.3, 800, 200}, {0.2, 3000, 100}};
  const InstanceFlow flow(view_of(model, {}), parts);
  const double unbound = flow.most_rate({});
  EXPECT_GT(unbound, 0.0);
  double before = unbound;
  for (const double first : {2.0, 0.5, 0.3}) {
    const double rate = flow.most_rate({.first = first});
    EXPECT_LE(rate, before);
    EXPECT_LE(flow.at(rate).longest_first, first);
    EXPECT_TRUE(flow.at(1.01 * rate).longest_first > first || flow.at(1.01 * rate).is_full);
    before = rate;
  }
  before = unbound;
  for (const double between : {0.1, 0.03, 0.015}) {
    const double rate = flow.most_rate({.between = between});
    EXPECT_LE(rate, before);
    EXPECT_LE(flow.at(rate).longest_between, between);
    before = rate;
  }
  EXPECT_LE(flow.at(flow.most_rate({.completion = 2.0})).longest_completion, 2.0);
  EXPECT_EQ(flow.most_rate({.between = 1e-4}), 0.0) << "a single one would take longer";
}

TEST(InstanceFlow, PoolingNeverHurts) {
  const ServingModel model(coefficients_for_test());
  const FlowPart parts[] = {{0.7, 200, 80}, {0.3, 2000, 150}};
  const InstanceFlow flow(view_of(model, {}), parts);
  double before = 0.0;
  for (const double pooled : {1.0, 2.0, 4.0, 16.0}) {
    const double rate = flow.most_rate({.first = 1.0, .between = 0.02, .pooled = pooled});
    EXPECT_GE(rate, before);
    before = rate;
  }
}

TEST(CostInFlow, AddsUpToThePowerOfTheFlow) {
  const ServingModel model(coefficients_for_test());
  const InstanceView view = view_of(model, {});
  const FlowPart alike[] = {{1.0, 600, 150}};
  const InstanceFlow flow(view, alike);
  for (const double part : {0.01, 0.2, 0.6, 0.9}) {
    const double rate = part * flow.most_rate({});
    const SteadyState s = flow.at(rate);
    const Cost cost = cost_in_flow(view, {600, 150}, s);
    EXPECT_NEAR(rate * cost.energy.in_si() / s.power, 1.0, 1e-9) << part;
  }
}

}  // namespace
}  // namespace negawatt::route
