// SPDX-License-Identifier: Apache-2.0
#include "model/serving.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace negawatt::model {
namespace {

Cost sum_of_steps(const ServingModel& model, StepLoad load, std::uint64_t steps) {
  long double time = 0.0L;
  long double energy = 0.0L;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Cost cost = model.step(load);
    time += static_cast<long double>(cost.time.in_si());
    energy += static_cast<long double>(cost.energy.in_si());
    load.context_tokens += load.sequences;
  }
  return {Seconds(static_cast<double>(time)), Joules(static_cast<double>(energy))};
}

void expect_run_is_sum(const ServingModel& model, const StepLoad& first, std::uint64_t steps) {
  const Cost expected = sum_of_steps(model, first, steps);
  const Cost run = model.run(first, steps);
  EXPECT_NEAR(run.time / expected.time, 1.0, 1e-9);
  EXPECT_NEAR(run.energy / expected.energy, 1.0, 1e-9);
}

/// A dense model of about 8 billion parameters on one large GPU.
StepCoefficients dense() {
  StepCoefficients c;
  c.overhead = 2e-3;
  c.overhead_per_sequence = 1e-5;
  c.compute_per_token = 30e-6;
  c.compute_per_attended = 1e-9;
  c.memory_weights = 5e-3;
  c.memory_per_context = 40e-9;
  c.memory_per_token = 1e-7;
  c.link = 1e-4;
  c.link_per_token = 1e-6;
  c.idle_power = 80.0;
  c.active_power = 150.0;
  c.energy_per_token = 10e-3;
  c.energy_per_attended = 1e-7;
  c.energy_weights = 1.0;
  c.energy_per_context = 2e-5;
  return c;
}

TEST(Serving, AStepIsWorkedOutByHand) {
  StepCoefficients c = dense();
  // 512 prompt tokens that attend to 131328, and 100 sequences with 50000 tokens of context.
  const StepLoad load{512, 131328, 100, 50000};
  const double compute = 30e-6 * 612 + 1e-9 * 181328;       // 0.018541328
  const double memory = 5e-3 + 40e-9 * 50000 + 1e-7 * 612;  // 0.0070612
  ASSERT_GT(compute, memory);
  const double time = 2e-3 + 1e-5 * 100 + 0.018541328 + 1e-4 + 1e-6 * 612;
  const Cost cost = ServingModel(c).step(load);
  EXPECT_DOUBLE_EQ(cost.time.in_si(), time);
  EXPECT_DOUBLE_EQ(cost.energy.in_si(),
                   230.0 * time + 10e-3 * 612 + 1e-7 * 181328 + 1.0 + 2e-5 * 50000);

  c.compute_per_token = 0.0;
  EXPECT_DOUBLE_EQ(ServingModel(c).step(load).time.in_si(), time - compute + memory);
}

TEST(Serving, ExpertsAreReadInProportionToThoseTouched) {
  StepCoefficients c;
  c.memory_experts = 8.0;
  c.energy_experts = 16.0;
  c.expert_share = 0.25;
  const ServingModel model(c);
  // Three tokens leave an expert untouched with probability 0.75^3.
  const double touched = 1.0 - 0.421875;
  EXPECT_DOUBLE_EQ(model.step({0, 0, 3, 0}).time.in_si(), 8.0 * touched);
  EXPECT_DOUBLE_EQ(model.step({1, 0, 2, 0}).energy.in_si(), 16.0 * touched);
  EXPECT_EQ(model.step({}).time.in_si(), 0.0);

  c.expert_share = 1.0;
  EXPECT_EQ(ServingModel(c).step({0, 0, 1, 0}).time.in_si(), 8.0);
  EXPECT_EQ(ServingModel(c).step({}).time.in_si(), 0.0);
}

TEST(Serving, ACappedStepDrawsTheCapAndTakesLonger) {
  StepCoefficients c;
  c.memory_weights = 1.0;
  c.idle_power = 50.0;
  c.active_power = 50.0;
  c.energy_weights = 300.0;
  c.power_cap = 250.0;
  // 300 J more than idle and active power, where the cap leaves 150 W: twice as much as there is.
  const Cost energy_stays = ServingModel(c).step({0, 0, 1, 0});
  EXPECT_DOUBLE_EQ(energy_stays.time.in_si(), 2.0);
  EXPECT_DOUBLE_EQ(energy_stays.energy.in_si(), 500.0);
  EXPECT_DOUBLE_EQ(energy_stays.energy.in_si(), 100.0 * 2.0 + 300.0);

  c.cap_slowdown = 0.4;
  const Cost voltage_falls = ServingModel(c).step({0, 0, 1, 0});
  EXPECT_DOUBLE_EQ(voltage_falls.time.in_si(), 1.4);
  EXPECT_DOUBLE_EQ(voltage_falls.energy.in_si(), 350.0);

  c.power_cap = 400.0;  // exactly what it draws
  EXPECT_DOUBLE_EQ(ServingModel(c).step({0, 0, 1, 0}).time.in_si(), 1.0);
  EXPECT_DOUBLE_EQ(ServingModel(c).step({0, 0, 1, 0}).energy.in_si(), 400.0);
}

TEST(Serving, ARunOfNoStepsCostsNothing) {
  const ServingModel model(dense());
  EXPECT_EQ(model.run({0, 0, 8, 100}, 0).time.in_si(), 0.0);
  EXPECT_EQ(model.run({0, 0, 8, 100}, 0).energy.in_si(), 0.0);
  EXPECT_EQ(model.steps_ended({0, 0, 8, 100}, Seconds(1e9), 0), 0U);
}

TEST(Serving, ARunOfOneStepIsThatStep) {
  const ServingModel model(dense());
  const StepLoad load{0, 0, 32, 20000};
  EXPECT_DOUBLE_EQ(model.run(load, 1).time.in_si(), model.step(load).time.in_si());
  EXPECT_DOUBLE_EQ(model.run(load, 1).energy.in_si(), model.step(load).energy.in_si());
}

TEST(Serving, ARunCrossesFromComputeToMemory) {
  StepCoefficients c = dense();
  c.compute_per_token = 60e-6;  // 6 ms at 100 sequences, memory passes it at 25000 context tokens
  const ServingModel model(c);
  const StepLoad first{0, 0, 100, 20000};
  const StepLoad last{0, 0, 100, 20000 + 100 * 199};
  EXPECT_NE(model.step(first).time, model.step(last).time);
  expect_run_is_sum(model, first, 200);
  expect_run_is_sum(model, first, 10000);
}

TEST(Serving, ARunCrossesFromMemoryToCompute) {
  StepCoefficients c = dense();
  c.compute_per_attended = 1e-7;  // grows faster with the context than memory
  expect_run_is_sum(ServingModel(c), {0, 0, 16, 1000}, 20000);
}

TEST(Serving, ARunReachesTheCapAndLeavesItAgain) {
  StepCoefficients c = dense();
  c.energy_per_context = 6e-5;  // power rises with the context while compute takes longest
  c.compute_per_token = 60e-6;
  c.power_cap = 700.0;
  c.cap_slowdown = 0.4;
  const ServingModel model(c);
  const auto binds = [&](double context) {
    const Cost cost = model.step({0, 0, 100, context});
    return cost.energy / cost.time > Watts(699.9999);
  };
  ASSERT_FALSE(binds(20000));
  ASSERT_TRUE(binds(50000));
  expect_run_is_sum(model, {0, 0, 100, 20000}, 3000);

  c.energy_weights = 20.0;  // power falls as steps get longer
  c.energy_per_context = 1e-6;
  const ServingModel falling(c);
  expect_run_is_sum(falling, {0, 0, 100, 20000}, 30000);
}

TEST(Serving, StepsEndedIsExactAtTheEndOfEveryStep) {
  StepCoefficients c = dense();
  c.compute_per_token = 60e-6;
  c.power_cap = 600.0;
  const ServingModel model(c);
  const StepLoad first{0, 0, 100, 20000};
  for (std::uint64_t steps = 0; steps <= 600; ++steps) {
    const Seconds end = model.run(first, steps).time;
    EXPECT_EQ(model.steps_ended(first, end, 600), steps);
    EXPECT_EQ(model.steps_ended(first, end * (1.0 + 1e-12), 600), steps);
    EXPECT_EQ(model.steps_ended(first, end * (1.0 - 1e-12), 600), steps == 0 ? 0 : steps - 1);
  }
  EXPECT_EQ(model.steps_ended(first, Seconds(1e12), 600), 600U);
  EXPECT_EQ(model.steps_ended(first, Seconds(-1.0), 600), 0U);
}

TEST(Serving, StepsThatTakeNoTimeEndAtOnce) {
  EXPECT_EQ(ServingModel(StepCoefficients{}).steps_ended({0, 0, 1, 1}, Seconds(0.0), 7), 7U);
}

/// From `least` up to and without `end`, evenly, however small RapidCheck wants its cases.
double any_number(int least, int end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, end));
}

StepCoefficients any_coefficients() {
  const auto up_to = [](double most) {
    // Every fifth is missing, as on a device for which it is not known.
    return most * std::max(0.0, any_number(-25, 101)) / 100.0;
  };
  StepCoefficients c;
  c.overhead = up_to(5e-3);
  c.overhead_per_sequence = up_to(1e-4);
  c.compute_per_token = up_to(1e-4);
  c.compute_per_attended = up_to(1e-7);
  c.memory_weights = up_to(2e-2);
  c.memory_experts = up_to(5e-2);
  c.memory_per_context = up_to(1e-7);
  c.memory_per_sequence = up_to(1e-5);
  c.memory_per_token = up_to(1e-6);
  c.link = up_to(1e-3);
  c.link_per_token = up_to(1e-6);
  c.expert_share = up_to(1.0);
  c.idle_power = up_to(100.0);
  c.active_power = up_to(200.0);
  c.energy_per_token = up_to(0.1);
  c.energy_per_attended = up_to(1e-5);
  c.energy_weights = up_to(10.0);
  c.energy_experts = up_to(30.0);
  c.energy_per_context = up_to(1e-4);
  c.energy_per_sequence = up_to(1e-2);
  const double cap = up_to(1000.0);
  if (cap > 0.0) c.power_cap = c.idle_power + c.active_power + cap;
  c.cap_slowdown = up_to(1.0);
  return c;
}

StepLoad any_decode_load() {
  const double sequences = any_number(0, 300);
  return {0, 0, sequences, sequences * any_number(1, 4000)};
}

RC_GTEST_PROP(Serving, ARunIsTheSumOfItsSteps, ()) {
  const ServingModel model(any_coefficients());
  const StepLoad first = any_decode_load();
  const auto steps = static_cast<std::uint64_t>(any_number(1, 3000));
  const Cost expected = sum_of_steps(model, first, steps);
  const Cost run = model.run(first, steps);
  RC_ASSERT(std::abs((run.time - expected.time).in_si()) <= 1e-9 * expected.time.in_si());
  RC_ASSERT(std::abs((run.energy - expected.energy).in_si()) <= 1e-9 * expected.energy.in_si());
}

RC_GTEST_PROP(Serving, StepsEndedInvertsRun, ()) {
  const ServingModel model(any_coefficients());
  const StepLoad first = any_decode_load();
  const auto limit = static_cast<std::uint64_t>(any_number(1, 100000));
  const Seconds all = model.run(first, limit).time;
  const Seconds time = all * (any_number(0, 1100) / 1000.0);
  const std::uint64_t ended = model.steps_ended(first, time, limit);
  RC_ASSERT(ended <= limit);
  RC_ASSERT(ended == 0 || model.run(first, ended).time <= time);
  RC_ASSERT(ended == limit || model.run(first, ended + 1).time > time);
}

RC_GTEST_PROP(Serving, NoStepDrawsMoreThanTheCap, ()) {
  StepCoefficients c = any_coefficients();
  c.power_cap = c.idle_power + c.active_power + any_number(1, 1000);
  StepLoad load = any_decode_load();
  load.prompt_tokens = any_number(0, 4096);
  load.prompt_attention = load.prompt_tokens * any_number(1, 4096);
  const Cost cost = ServingModel(c).step(load);
  StepCoefficients uncapped = c;
  uncapped.power_cap = 0.0;
  RC_ASSERT(cost.time >= ServingModel(uncapped).step(load).time);
  RC_ASSERT(cost.energy.in_si() <= c.power_cap * cost.time.in_si() * (1.0 + 1e-12));
}

}  // namespace
}  // namespace negawatt::model
