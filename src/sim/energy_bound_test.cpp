// SPDX-License-Identifier: Apache-2.0
//
// The bound against every policy that fits on a page: on random small clusters none may use less,
// and where there is nothing to decide the bound is what is used.
#include "sim/energy_bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/energy_meter.hpp"
#include "sim/fleet_for_test.hpp"
#include "sim/simulate.hpp"
#include "tests/random_fleet.hpp"

namespace negawatt::sim {
namespace {

struct Energies {
  double used = 0;
  double bound = 0;
};

Energies energies(const Cluster& cluster, const std::vector<trace::Request>& requests,
                  route::Policy& policy) {
  testing::List source(requests);
  EnergyMeter meter(cluster);
  EnergyBound bound(cluster);
  Observer* observers[] = {&meter, &bound};
  const auto outcome = simulate(cluster, source, policy, {.observers = observers});
  EXPECT_TRUE(outcome);
  return {meter.total().in_si(), bound.joules().in_si()};
}

/// Decides by the bits of a number, one after the other.
class Scattered final : public testing::Simple {
 public:
  explicit Scattered(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] std::optional<route::Placement> place(
      const route::Arrival& /*arrival*/, std::span<const route::InstanceView> views) override {
    const auto prefill = pick(views, route::Role::decode);
    if (views[prefill].role == route::Role::both) return route::Placement{prefill, prefill};
    return route::Placement{prefill, pick(views, route::Role::prefill)};
  }

 private:
  std::size_t pick(std::span<const route::InstanceView> views, route::Role without) {
    std::size_t at = bits_ % views.size();
    bits_ = bits_ / 3 + (bits_ << 61U);
    while (views[at].role == without) at = (at + 1) % views.size();
    return at;
  }
  std::uint64_t bits_;
};

RC_GTEST_PROP(EnergyBound, NoPolicyUsesLess, (std::uint64_t bits)) {
  const auto cluster = testing::random_cluster();
  const auto requests = testing::random_requests();
  testing::Least least;
  const auto a = energies(cluster, requests, least);
  RC_ASSERT(a.bound <= a.used * (1.0 + 1e-12));
  Scattered scattered(bits);
  const auto b = energies(cluster, requests, scattered);
  RC_ASSERT(b.bound <= b.used * (1.0 + 1e-12));
  RC_ASSERT(b.bound == a.bound);
  if (cluster.link) return;
  for (std::size_t i = 0; i < cluster.instances.size(); ++i) {
    testing::Fixed one({i, i});
    const auto c = energies(cluster, requests, one);
    RC_ASSERT(c.bound <= c.used * (1.0 + 1e-12));
  }
}

model::StepCoefficients by_memory() {
  return {.overhead = 0.5,
          .memory_weights = 2.0,
          .memory_per_context = 0.01,
          .idle_power = 100.0,
          .active_power = 50.0,
          .energy_per_token = 3.0,
          .energy_per_attended = 0.25,
          .energy_weights = 7.0,
          .energy_per_context = 0.5};
}

TEST(EnergyBound, IsWhatIsUsedWhereThereIsNothingToDecide) {
  auto spec = testing::instance_of(by_memory());
  spec.limits.most_sequences = 1;
  testing::Fixed policy({});
  const auto result =
      energies(Cluster{.instances = {spec}},
               {{.arrival = Seconds(3), .input_tokens = 20, .output_tokens = 9}}, policy);
  EXPECT_NEAR(result.bound, result.used, 1e-9 * result.used);
}

TEST(EnergyBound, IsWhatIsUsedUnderACapThatAlwaysBinds) {
  auto coefficients = by_memory();
  coefficients.power_cap = 151.0;  // a step of 2.5 s leaves 2.5 J of the 7 J and more that it needs
  coefficients.cap_slowdown = 0.4;
  auto spec = testing::instance_of(coefficients);
  spec.limits.most_sequences = 1;
  testing::Fixed policy({});
  const auto result =
      energies(Cluster{.instances = {spec}},
               {{.arrival = Seconds(3), .input_tokens = 20, .output_tokens = 9}}, policy);
  testing::List source({{.arrival = Seconds(3), .input_tokens = 20, .output_tokens = 9}});
  auto free = coefficients;
  free.power_cap = 0.0;
  auto uncapped = spec;
  uncapped.model = model::ServingModel(free);
  const auto capped_end = simulate(Cluster{.instances = {spec}}, source, policy)->ended;
  testing::List again({{.arrival = Seconds(3), .input_tokens = 20, .output_tokens = 9}});
  const auto free_end = simulate(Cluster{.instances = {uncapped}}, again, policy)->ended;
  // Idle and active power flow for as long as it is slower.
  EXPECT_NEAR(result.used - result.bound, 150.0 * (capped_end - free_end).in_si(), 1e-6);
}

TEST(EnergyBound, TakesTheCheaperDeviceAndItsFullBatch) {
  auto cheap = testing::instance_of({.overhead = 1.0, .active_power = 10.0});
  cheap.limits.most_sequences = 4;
  auto dear = testing::instance_of({.overhead = 1.0, .active_power = 90.0});
  const Cluster cluster{.instances = {dear, cheap}};
  testing::Fixed policy({});
  const std::vector<trace::Request> requests(
      8, {.arrival = Seconds(1), .input_tokens = 1, .output_tokens = 5});
  // 5 steps for each request, a quarter of 10 J for each; dear.limits allow 256: 90 / 256 is less.
  EXPECT_NEAR(energies(cluster, requests, policy).bound, 8 * 5 * 90.0 / 256.0, 1e-9);
  auto few = cluster;
  few.instances[0].limits.most_sequences = 8;
  EXPECT_NEAR(energies(few, requests, policy).bound, 8 * 5 * 10.0 / 4.0, 1e-9);
}

TEST(EnergyBound, KnowsThatTheCheapDeviceHasNoTimeForAll) {
  auto cheap = testing::instance_of({.overhead = 1.0, .idle_power = 1.0, .active_power = 10.0});
  cheap.limits.most_sequences = 1;
  auto dear = testing::instance_of({.overhead = 1.0, .idle_power = 1.0, .active_power = 90.0});
  dear.limits.most_sequences = 1;
  const Cluster cluster{.instances = {cheap, dear}};
  std::vector<trace::Request> requests;
  for (int i = 0; i < 100; ++i)
    requests.push_back({.arrival = Seconds(i), .input_tokens = 1, .output_tokens = 10});
  testing::Fixed policy({});
  const auto result = energies(cluster, requests, policy);
  // 1000 seconds of work on the cheap one, about 109 s of time: to wait costs 2 W, so that at most
  // 891 s more pay for themselves; without a price on time, the bound would be below 10,400 J.
  EXPECT_GT(result.bound, 11'500.0);
  EXPECT_LE(result.bound, result.used);
}

}  // namespace
}  // namespace negawatt::sim
