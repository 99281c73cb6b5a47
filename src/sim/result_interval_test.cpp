// SPDX-License-Identifier: Apache-2.0
#include "sim/result_interval.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sim/fleet_for_test.hpp"
#include "sim/simulate.hpp"

namespace negawatt::sim {
namespace {

constexpr model::ErrorBand kTime{.median_pct = 5.0, .low = 0.5, .high = 2.0};
constexpr model::ErrorBand kEnergy{.median_pct = 5.0, .low = 0.75, .high = 1.5};

/// Two instances that step in 1 s, draw 300 W in steps and 100 W else.
Cluster two_instances() {
  auto spec = testing::instance_of({.overhead = 1.0, .idle_power = 100.0, .active_power = 200.0});
  spec.time_error = kTime;
  spec.energy_error = kEnergy;
  Cluster cluster{.instances = {spec, spec}};
  cluster.instances[1].name = "other";
  return cluster;
}

/// Ten tokens on the first instance, after a prompt: 10 steps; the other one idles for 10 s.
SimulationResult run_on(const Cluster& cluster) {
  SimulationResult result{.cluster = &cluster, .energy = EnergyMeter(cluster)};
  testing::List source({{.input_tokens = 5, .output_tokens = 10}});
  testing::Fixed policy({0, 0});
  Observer* observers[] = {&result.energy};
  result.outcome = simulate(cluster, source, policy, {.observers = observers}).value();
  return result;
}

TEST(ResultInterval, StepsAreOffByTheBandAndIdleEnergyIsNot) {
  const auto cluster = two_instances();
  const auto result = run_on(cluster);
  const double steps = static_cast<double>(result.outcome.instances[0].steps);
  ASSERT_GE(steps, 10.0);
  ASSERT_DOUBLE_EQ(result.energy.total().in_si(), 400.0 * steps);
  const auto energy = energy_interval(result);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->low, (100.0 + 0.75 * 300.0) * steps);
  EXPECT_DOUBLE_EQ(energy->high, (100.0 + 1.5 * 300.0) * steps);
  const auto time = step_time_interval(result, 0);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->low, 0.5);
  EXPECT_DOUBLE_EQ(time->high, 2.0);
  EXPECT_FALSE(step_time_interval(result, 1)) << "it had no step";
}

TEST(ResultInterval, IsUnknownWhereADeviceThatWorkedWasNeverChecked) {
  auto cluster = two_instances();
  cluster.instances[1].energy_error = {};
  EXPECT_TRUE(energy_interval(run_on(cluster))) << "it did not work";
  cluster.instances[0].energy_error = {};
  cluster.instances[0].time_error = {};
  const auto result = run_on(cluster);
  EXPECT_FALSE(energy_interval(result));
  EXPECT_FALSE(step_time_interval(result, 0));
  EXPECT_NE(to_json(result).find("\"energy_j_interval\": null"), std::string::npos);
}

TEST(ResultInterval, IsInTheJsonAndTheText) {
  const auto cluster = two_instances();
  const auto result = run_on(cluster);
  const auto json = to_json(result);
  EXPECT_NE(json.find("\"energy_j_interval\": {"), std::string::npos) << json;
  EXPECT_NE(json.find("\"step_time_s\": 1.0"), std::string::npos) << json;
  EXPECT_NE(to_text(result).find("(90 % of their checks)"), std::string::npos);
}

}  // namespace
}  // namespace negawatt::sim
