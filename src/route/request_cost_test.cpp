// SPDX-License-Identifier: Apache-2.0
#include "route/request_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "route/two_futures_for_test.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

using model::ServingModel;
using model::StepCoefficients;
using testing::coefficients_for_test;
using testing::difference;
using testing::Sequence;
using testing::view_of;

/// One second and 10 J a step, 100 W idle, nothing else.
StepCoefficients plain() {
  StepCoefficients c;
  c.overhead = 1.0;
  c.energy_weights = 10.0;
  c.idle_power = 100.0;
  return c;
}

TEST(IsolatedCost, IsTheStepsOfTheRequestAlone) {
  const ServingModel model(plain());
  InstanceView view = view_of(model, {});
  view.most_step_tokens = 100;
  // 250 prompt tokens in three steps, the last of which gives the first of five tokens.
  const Cost cost = isolated_cost(view, {.input_tokens = 250, .output_tokens = 5});
  EXPECT_DOUBLE_EQ(cost.time.in_si(), 7.0);
  EXPECT_DOUBLE_EQ(cost.energy.in_si(), 7.0 * (10.0 + 100.0));
}

TEST(IsolatedCost, IsWhatAnEngineThatGoesStepByStepSpends) {
  const ServingModel model(coefficients_for_test());
  const InstanceView view = view_of(model, {});
  for (const std::uint32_t input : {1U, 100U, 2048U, 2049U, 9000U}) {
    const auto future = testing::play(model, {{input, 300, 0}}, 2048);
    const Cost cost = isolated_cost(view, {double(input), 300});
    EXPECT_NEAR(cost.time.in_si() / future.time, 1.0, 1e-12) << input;
    EXPECT_NEAR(cost.energy.in_si() / (future.energy + 100.0 * future.time), 1.0, 1e-12) << input;
  }
}

TEST(IsolatedCost, IsSplitWithoutLossBetweenPromptAndAnswer) {
  const ServingModel model(coefficients_for_test());
  const InstanceView view = view_of(model, {});
  const Cost whole = isolated_cost(view, {500, 80});
  const Cost parts =
      isolated_cost(view, {500, 80, true, false}) + isolated_cost(view, {500, 80, false, true});
  EXPECT_NEAR(whole.energy.in_si(), parts.energy.in_si(), 1e-9);
  EXPECT_NEAR(whole.time.in_si(), parts.time.in_si(), 1e-9);
}

// The request meets residents that are all alike, so that nothing is averaged: the two futures,
// played step by step, differ by exactly what is reckoned.
TEST(MarginalCost, IsTheDifferenceOfTwoFuturesPlayedStepByStep) {
  const ServingModel model(coefficients_for_test());
  trace::Random random(1);
  for (int trial = 0; trial < 1000; ++trial) {
    // One draw a statement: the order within one is the compiler's. Often they leave while the
    // prompt is computed.
    const auto count = random.below(20);
    const auto left = 1 + std::uint32_t(random.below(trial % 4 == 0 ? 4 : 150));
    const auto context = 50 + std::uint32_t(random.below(3000));
    const auto prompt = 1 + std::uint32_t(random.below(9000));
    const auto output = 1 + std::uint32_t(random.below(200));
    std::vector<Sequence> running(count, {0, left, context});
    const Sequence added{prompt, output, 0};
    const InstanceView view = view_of(model, running);
    const Marginal reckoned =
        marginal_cost(view, {double(added.prompt), double(added.left)}, Residuals::equal);
    running.push_back(added);
    const Marginal played = difference(model, running, view.most_step_tokens);
    // Where residents leave while the prompt is computed, later chunks have their room as well.
    const bool leave = count > 0 && left <= 1 + prompt / (view.most_step_tokens - count);
    const double part = leave ? 0.03 : 1e-9;
    const auto expect_same = [&](double a, double b) {
      EXPECT_NEAR(a, b, part * std::max(std::abs(b), 0.1)) << "trial " << trial;
    };
    expect_same(reckoned.energy.in_si(), played.energy.in_si());
    expect_same(reckoned.delay.in_si(), played.delay.in_si());
    expect_same(reckoned.busy.in_si(), played.busy.in_si());
    expect_same(reckoned.time_to_first_token.in_si(), played.time_to_first_token.in_si());
    expect_same(reckoned.time_to_completion.in_si(), played.time_to_completion.in_si());
  }
}

struct Errors {
  double energy = 0.0;
  double delay = 0.0;
};

/// Relative errors of the reckoned mean over residents whose tokens left are exponential.
Errors errors_of(Residuals residuals, std::size_t count, double mean_left, std::uint32_t output) {
  const ServingModel model(coefficients_for_test());
  trace::Random random(7);
  double played_energy = 0.0;
  double played_delay = 0.0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Sequence> running;
    for (std::size_t i = 0; i < count; ++i) {
      running.push_back(
          {0, static_cast<std::uint32_t>(std::ceil(mean_left * random.exponential())), 700});
    }
    running.push_back({400, output, 0});
    const Marginal played = difference(model, running, 2048);
    played_energy += played.energy.in_si() / kTrials;
    played_delay += played.delay.in_si() / kTrials;
  }
  std::vector<Sequence> typical(count, {0, static_cast<std::uint32_t>(mean_left), 700});
  const Marginal reckoned =
      marginal_cost(view_of(model, typical), {400, double(output)}, residuals);
  return {std::abs(reckoned.energy.in_si() / played_energy - 1.0),
          std::abs(reckoned.delay.in_si() / played_delay - 1.0)};
}

TEST(MarginalCost, ForMemorylessResidentsIsNearTheMeanOfPlayedFutures) {
  double equal = 0.0;
  for (const std::size_t count : {2U, 8U, 32U}) {
    for (const std::uint32_t output : {20U, 100U, 400U}) {
      const Errors errors = errors_of(Residuals::memoryless, count, 100.0, output);
      EXPECT_LT(errors.energy, 0.12) << count << " residents, output " << output;
      EXPECT_LT(errors.delay, 0.12) << count << " residents, output " << output;
      equal = std::max(equal, errors_of(Residuals::equal, count, 100.0, output).energy);
    }
  }
  EXPECT_GT(equal, 0.3) << "residents taken as equal should miss how the batch thins out";
}

TEST(MarginalCost, BehindAQueueWaitsForPromptsAndPlaces) {
  const ServingModel model(plain());
  InstanceView view = view_of(model, std::vector<Sequence>(4, {0, 30, 100}));
  view.most_sequences = 4;
  view.waiting = 2;
  view.waiting_prompt = 200;
  view.expected_output_left = 6 * 30;
  const Marginal m = marginal_cost(view, {100, 10}, Residuals::equal);
  // One step of prompts, in which 4 of 6 advance by one; three of six must end before there is a
  // place, with 3 places worked at: 3 x (30 - 2/3) / 3 steps; then the request's own prompt.
  EXPECT_NEAR(m.wait.in_si(), 1.0 + (30.0 - 4.0 / 6.0), 1e-9);
  EXPECT_NEAR((m.time_to_first_token - m.wait).in_si(), 1.0, 1e-9);
}

TEST(MarginalCost, WaitsForMemoryToo) {
  const ServingModel model(plain());
  InstanceView view = view_of(model, std::vector<Sequence>(4, {0, 30, 100}));
  view.kv_capacity = 450;
  // 100 tokens come to the 400 held: half a resident must go, 3.5 stay.
  const Marginal m = marginal_cost(view, {100, 10}, Residuals::equal);
  EXPECT_NEAR(m.wait.in_si(), 0.5 * 30.0 / 3.5, 1e-9);
  view.kv_capacity = 500;
  EXPECT_EQ(marginal_cost(view, {100, 10}, Residuals::equal).wait, Seconds(0));
}

TEST(MarginalCost, SharesItsLaterStepsWithThoseWhoCome) {
  const ServingModel model(coefficients_for_test());
  InstanceView view = view_of(model, {});
  const Task task{100, 200};
  const double alone = marginal_cost(view, task).energy.in_si();
  double before = alone;
  for (const double rate : {0.001, 0.1, 1.0, 10.0, 100.0}) {
    view.completions_per_second = rate;
    const double energy = marginal_cost(view, task).energy.in_si();
    EXPECT_LT(energy, before + 1e-12) << rate;
    before = energy;
  }
  view.completions_per_second = 1e-6;
  EXPECT_NEAR(marginal_cost(view, task).energy.in_si() / alone, 1.0, 1e-4);
  // With company for certain, weights and active power are paid for anyway: what is left is the
  // request's own tokens, context, and the time that it makes the steps longer.
  const auto c = coefficients_for_test();
  view.completions_per_second = 50.0;
  const double of_steps =
      199 * (c.energy_per_token + 200.0 * (c.energy_per_context + c.energy_per_attended) +
             c.active_power *
                 (c.overhead_per_sequence + c.memory_per_token + 200.0 * c.memory_per_context));
  const double of_prompt = marginal_cost(view_of(model, {}), {100, 1}).energy.in_si();
  EXPECT_NEAR(marginal_cost(view, task).energy.in_si() / (of_prompt + of_steps), 1.0, 0.02);
}

TEST(Standby, IsNothingWhereTheInstanceStaysOnAnyway) {
  const ServingModel model(plain());
  EXPECT_EQ(marginal_cost(view_of(model, {}), {100, 10}).standby, Joules(0));
}

TEST(Standby, OfASleeperIsItsStartItsWorkAndItsLingering) {
  const ServingModel model(plain());
  InstanceView view = view_of(model, {});
  view.sleeps = true;
  view.sleeps_after = Seconds(60);
  view.sleep_power = Watts(20);
  view.ready = false;
  view.ready_in = Seconds(30);
  view.start_energy = Joules(5000);
  const Marginal m = marginal_cost(view, {100, 10});
  EXPECT_EQ(m.time_to_first_token, Seconds(31));
  EXPECT_EQ(m.time_to_completion, Seconds(40));
  EXPECT_NEAR(m.standby.in_si(), 5000 + (100 - 20) * (10 + 60), 1e-9);
}

TEST(Standby, OfOneThatLingersIsTheTimeItStaysOnLonger) {
  const ServingModel model(plain());
  InstanceView view = view_of(model, {});
  view.sleeps = true;
  view.sleeps_after = Seconds(60);
  view.idle_for = Seconds(25);
  // It would have slept in 35 s; now it works for 10 s and lingers for 60 s.
  EXPECT_NEAR(marginal_cost(view, {100, 10}).standby.in_si(), 100.0 * (10 + 60 - 35), 1e-9);
}

TEST(Standby, OfABusyOneIsTheTimeItIsBusyLonger) {
  const ServingModel model(plain());
  InstanceView view = view_of(model, std::vector<Sequence>(2, {0, 100, 10}));
  view.sleeps = true;
  view.sleeps_after = Seconds(60);
  // One step with the prompt, nine more among the hundred: nothing lasts longer.
  EXPECT_NEAR(marginal_cost(view, {100, 10}, Residuals::equal).standby.in_si(), 0.0, 1e-9);
  // 201 steps: a hundred and one beyond those of the residents.
  EXPECT_NEAR(marginal_cost(view, {100, 201}, Residuals::equal).standby.in_si(), 100.0 * 101, 1e-6);
}

TEST(Standby, IsNotChargedForWhatOthersKeepOnAnyway) {
  const ServingModel model(plain());
  InstanceView view = view_of(model, {});
  view.sleeps = true;
  view.sleeps_after = Seconds(60);
  const double alone = marginal_cost(view, {100, 10}).standby.in_si();
  view.completions_per_second = 0.01;
  EXPECT_NEAR(marginal_cost(view, {100, 10}).standby.in_si() / alone, std::exp(-0.7), 1e-9);
}

TEST(SaturatedTime, IsTheShareOfTheLargestBatchAndThePromptsArithmetic) {
  StepCoefficients c;
  c.overhead = 1.0;
  c.overhead_per_sequence = 0.5;
  c.compute_per_token = 0.01;
  const ServingModel model(c);
  InstanceView view = view_of(model, {});
  view.most_sequences = 8;
  view.kv_capacity = 1200;
  const Task task{100, 101};
  // 150.5 tokens a sequence on average: 7.97 fit. A step takes 1 + (0.5 + 0.01) b.
  const double batch = 1200 / 150.5;
  EXPECT_NEAR(saturated_time(view, task, Seconds(0)).in_si(),
              100 * 0.01 + 100 * (1.0 + 0.51 * batch) / batch, 1e-9);
  view.kv_capacity = 1'000'000;
  EXPECT_NEAR(saturated_time(view, task, Seconds(0)).in_si(), 1.0 + 100 * (1.0 + 0.51 * 8) / 8,
              1e-9);
  // Tokens every 3.04 s at most: (3.04 - 1) / 0.51 = 4 sequences.
  EXPECT_NEAR(saturated_time(view, task, Seconds(3.04)).in_si(), 1.0 + 100 * 3.04 / 4, 1e-9);
}

}  // namespace
}  // namespace negawatt::route
