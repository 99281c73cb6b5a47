// SPDX-License-Identifier: Apache-2.0
//
// Random small clusters and workloads, for properties: batch limits of a few sequences, memory that
// runs out, sleep, disaggregation, power caps. Every instance can hold every request.
#pragma once

#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/fleet_for_test.hpp"

namespace negawatt::sim::testing {

/// Coefficients in which compute, memory and overhead all matter at small sizes.
/// Times of different instances have no common measure, so that their steps never end together.
inline model::StepCoefficients random_coefficients(std::size_t instance) {
  const double unit = 0.001 * std::sqrt(static_cast<double>(2 * instance + 3));
  const auto amount = [&](int most) { return *rc::gen::inRange(0, most) * unit; };
  model::StepCoefficients c;
  c.overhead = 13.7 * unit + amount(20);
  c.overhead_per_sequence = amount(3);
  c.compute_per_token = amount(10);
  c.compute_per_attended = 0.01 * amount(10);
  c.memory_weights = amount(60);
  c.memory_per_context = 0.1 * amount(10);
  c.idle_power = 1000 * amount(100);
  c.active_power = 1000 * amount(100);
  c.energy_per_token = 100 * amount(10);
  c.energy_per_attended = amount(100);
  c.energy_weights = 100 * amount(50);
  c.energy_per_context = amount(100);
  if (*rc::gen::inRange(0, 3) == 0) c.power_cap = 1.0 + 1.1 * (c.idle_power + c.active_power);
  c.cap_slowdown = 0.1 * *rc::gen::inRange(0, 11);
  return c;
}

inline Cluster random_cluster() {
  Cluster cluster;
  const bool split = *rc::gen::inRange(0, 3) == 0;
  const auto instances = *rc::gen::inRange<std::size_t>(split ? 2 : 1, 4);
  for (std::size_t i = 0; i < instances; ++i) {
    auto spec = instance_of(random_coefficients(i), "instance " + std::to_string(i));
    spec.limits.most_sequences = *rc::gen::inRange<std::uint32_t>(1, 7);
    spec.limits.most_step_tokens = spec.limits.most_sequences + *rc::gen::inRange(0U, 20U);
    spec.limits.kv_block_tokens = *rc::gen::inRange<std::uint32_t>(1, 6);
    spec.limits.kv_blocks = 60 / spec.limits.kv_block_tokens + 2 + *rc::gen::inRange(0U, 20U);
    if (split) spec.role = i == 0 ? route::Role::prefill : route::Role::decode;
    if (*rc::gen::inRange(0, 2) == 0)
      spec.power = {.sleep_after = Seconds(0.1031 * *rc::gen::inRange(0, 20)),
                    .sleep_power = spec.model.idle_power() * 0.3,
                    .start_time = Seconds(0.211 * *rc::gen::inRange(0, 4)),
                    .start_energy = Joules(*rc::gen::inRange(0, 50)),
                    .starts_asleep = *rc::gen::inRange(0, 2) == 0};
    cluster.instances.push_back(spec);
  }
  if (split)
    cluster.link = Link{.latency = Seconds(0.02 * 1.7320508075688772),
                        .time_per_token = Seconds(0.00193),
                        .energy_per_token = Joules(0.5)};
  return cluster;
}

inline std::vector<trace::Request> random_requests() {
  std::vector<trace::Request> requests;
  double now = 0.0;
  const auto count = *rc::gen::inRange(1, 25);
  for (int i = 0; i < count; ++i) {
    // No sum of step times is a multiple of this, nor of the link's latency: nobody arrives at the
    // very end of a step, where the last bit of the two simulators' sums would decide.
    now += 0.00073 * 1.4142135623730951 * *rc::gen::inRange(1, 600);
    requests.push_back({.arrival = Seconds(now),
                        .input_tokens = *rc::gen::inRange(1U, 31U),
                        .output_tokens = *rc::gen::inRange(1U, 30U),
                        .priority = static_cast<std::int16_t>(*rc::gen::inRange(0, 2))});
  }
  return requests;
}

}  // namespace negawatt::sim::testing
