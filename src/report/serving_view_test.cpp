// SPDX-License-Identifier: Apache-2.0
#include "report/serving_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "report/serving_sample_for_test.hpp"

namespace negawatt::report {
namespace {

TEST(ServingView, TakesTheMeanEnergyAndTheWorstOfTheRestOverSeeds) {
  auto other = by_work(110, 6, 0.98);
  other.seed = 2;
  other.completed = 990;
  auto third = by_work(100, 2, 1);
  third.seed = 3;
  const std::vector runs = {by_work(90, 4, 0.995), other, third};
  const auto settings = settings_of(report_on(runs));
  ASSERT_EQ(settings.size(), 1U);
  ASSERT_EQ(settings[0].policies.size(), 1U);
  const auto& policy = settings[0].policies[0];
  EXPECT_EQ(policy.seeds, 3U);
  EXPECT_DOUBLE_EQ(policy.of.energy.in_si(), 100);
  EXPECT_DOUBLE_EQ(policy.of.idle.in_si(), 20);
  EXPECT_DOUBLE_EQ(policy.of.above_idle.in_si(), 50);
  EXPECT_DOUBLE_EQ(policy.least_energy.in_si(), 90);
  EXPECT_DOUBLE_EQ(policy.most_energy.in_si(), 110);
  EXPECT_DOUBLE_EQ(policy.of.attainment.value_or(0), 0.98);
  EXPECT_DOUBLE_EQ(policy.served, 0.99);
  EXPECT_DOUBLE_EQ(p99(policy).in_si(), 6);
  EXPECT_EQ(policy.of.requests, 1000U);
  EXPECT_EQ(policy.of.completed, 996U);
  EXPECT_DOUBLE_EQ(policy.per_token().value_or(Joules()).in_si(), 0.01);
  EXPECT_DOUBLE_EQ(policy.of.instances[0].energy.in_si(), 60);
  EXPECT_EQ(policy.of.instances[1].requests, 250U);
  EXPECT_FALSE(policy.keeps) << "one seed misses it";
}

TEST(ServingView, KeepsSettingsApartAndBeginsWithTheFirstClusterAtItsOwnSpeed) {
  std::vector<ServedRun> runs;
  for (const std::size_t cluster : {0U, 1U})
    for (const double speed : {2.0, 0.5, 1.0}) {
      auto run = by_work(100 * speed);
      run.cluster = cluster;
      run.speed = speed;
      runs.push_back(run);
    }
  const auto settings = settings_of(report_on(runs));
  std::vector<std::pair<std::size_t, double>> order;
  order.reserve(settings.size());
  for (const auto& setting : settings) order.emplace_back(setting.cluster, setting.speed);
  EXPECT_EQ(order, (std::vector<std::pair<std::size_t, double>>{
                       {0, 1}, {0, 0.5}, {0, 2}, {1, 0.5}, {1, 1}, {1, 2}}));
  EXPECT_DOUBLE_EQ(settings[2].policies[0].of.energy.in_si(), 200);
}

TEST(ServingView, ListsPoliciesThatKeepTheSloFirstAndThenByEnergy) {
  const std::vector runs = {by_one_device(50, 2, 0.5), by_load(200), by_work(100)};
  const auto setting = settings_of(report_on(runs)).front();
  std::vector<std::string> order;
  for (const auto& policy : setting.policies) order.push_back(policy.of.policy);
  EXPECT_EQ(order, (std::vector<std::string>{"negawatt", "round-robin", "all-on-one:device=h100"}));
}

TEST(ServingView, TheFrontIsWhatNoOtherPolicyBeats) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same every time
  const auto below = [&random](unsigned most) {
    return 1.0 + static_cast<double>(random() % most);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<ServedRun> runs;
    for (int i = 0; i < 8; ++i) {
      runs.push_back(by_work(below(12), below(12), i < 5 ? 1.0 : 0.5));
      runs.back().policy += std::to_string(i);
    }
    const auto setting = settings_of(report_on(runs)).front();
    const auto front = front_of(setting);
    for (const auto& policy : setting.policies) {
      if (!policy.keeps) continue;
      const bool is_beaten = std::ranges::any_of(setting.policies, [&](const ServedPolicy& other) {
        return other.keeps && p99(other) <= p99(policy) && other.of.energy <= policy.of.energy &&
               (p99(other) < p99(policy) || other.of.energy < policy.of.energy);
      });
      const bool is_there = std::ranges::any_of(front, [&](const ServedPolicy* on) {
        return p99(*on) == p99(policy) && on->of.energy == policy.of.energy;
      });
      EXPECT_EQ(is_there, !is_beaten) << policy.of.policy << ", round " << round;
    }
    for (const auto* on : front) EXPECT_TRUE(on->keeps);
  }
}

TEST(ServingView, TheFrontLeavesOutWhatNobodyCanRun) {
  const std::vector runs = {by_work(100), by_clairvoyant(50)};
  const auto setting = settings_of(report_on(runs)).front();
  const auto front = front_of(setting);
  ASSERT_EQ(front.size(), 1U);
  EXPECT_EQ(front[0]->of.policy, "negawatt");
}

TEST(ServingView, LambdasOfAPolicyAreASeriesInRisingOrder) {
  std::vector<ServedRun> runs = {by_load(300)};
  for (const double lambda : {0.8, 0.2, 0.5}) {
    runs.push_back(by_work(200 - 100 * lambda));
    runs.back().policy = "negawatt:lambda=" + std::to_string(lambda);
    runs.back().family = "negawatt:lambda=*";
    runs.back().lambda = lambda;
  }
  runs.push_back(by_work(400));
  runs.back().family = "lambda-cost:lambda=*";
  const auto setting = settings_of(report_on(runs)).front();
  const auto series = lambda_series(setting);
  ASSERT_EQ(series.size(), 1U) << "one lambda is no series";
  EXPECT_EQ(series[0].family, "negawatt:lambda=*");
  std::vector<double> lambdas;
  for (const auto* policy : series[0].policies) lambdas.push_back(policy->of.lambda);
  EXPECT_EQ(lambdas, (std::vector{0.2, 0.5, 0.8}));
}

}  // namespace
}  // namespace negawatt::report
