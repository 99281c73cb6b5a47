// SPDX-License-Identifier: Apache-2.0
#include "route/make_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "route/allocations_for_test.hpp"
#include "route/two_futures_for_test.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

using model::ServingModel;
using ::testing::HasSubstr;

FleetFacts two_types() {
  FleetFacts fleet;
  fleet.device_types = {{"small", Watts(70)}, {"large", Watts(700)}};
  fleet.instances = {"s0", "s1", "l0", "l1"};
  return fleet;
}

/// A specification of every policy that needs no more than two device types.
std::vector<std::string> every_policy() {
  std::vector<std::string> specs;
  for (const std::string_view name : policy_names()) {
    specs.emplace_back(name);
    if (name == "all-on-one") specs.back() += ":device=small";
  }
  return specs;
}

std::unique_ptr<Policy> made(std::string_view spec, const FleetFacts& fleet = two_types()) {
  auto policy = make_policy(spec, 1, fleet);
  if (!policy) ADD_FAILURE() << policy.error().message;
  return policy ? *std::move(policy) : nullptr;
}

std::string refused(std::string_view spec, const FleetFacts& fleet = two_types()) {
  const auto policy = make_policy(spec, 1, fleet);
  return policy ? "made" : policy.error().message;
}

TEST(MakePolicy, KnowsEveryNameItLists) {
  for (const std::string& spec : every_policy()) {
    const auto policy = made(spec);
    ASSERT_NE(policy, nullptr);
    EXPECT_EQ(policy->name(), spec.substr(0, spec.find(':')));
  }
  EXPECT_EQ(policy_names().size(), 16U);
}

TEST(MakePolicy, SaysWhatIsWrong) {
  EXPECT_THAT(refused("fastest"), HasSubstr("there is no policy 'fastest', expected one of round"));
  EXPECT_EQ(refused("random:seed=4"), "policy 'random': takes no 'seed', but nothing");
  EXPECT_EQ(refused("input-threshold:limit=4"),
            "policy 'input-threshold': takes no 'limit', but tokens, small, large");
  EXPECT_EQ(refused("input-threshold:tokens=many"),
            "policy 'input-threshold': tokens is 'many', expected a number from 0 to 1000000000");
  EXPECT_EQ(refused("lambda-cost:lambda=1.5"),
            "policy 'lambda-cost': lambda is '1.5', expected a number from 0 to 1");
  EXPECT_EQ(refused("lambda-cost:lambda=nan"),
            "policy 'lambda-cost': lambda is 'nan', expected a number from 0 to 1");
  EXPECT_EQ(refused("lambda-cost:lambda"),
            "policy 'lambda-cost': 'lambda' is not of the form KEY=VALUE");
  EXPECT_EQ(refused("lambda-cost:lambda=1,lambda=0"),
            "policy 'lambda-cost': 'lambda' is given twice");
  EXPECT_EQ(refused("lambda-cost:"), "policy 'lambda-cost': '' is not of the form KEY=VALUE");
  EXPECT_EQ(refused("all-on-one:device=huge"),
            "policy 'all-on-one': device is 'huge', expected one of small, large");
  EXPECT_THAT(refused("all-on-one"), HasSubstr("needs device, the device type"));
  EXPECT_THAT(refused("all-on-one:instance=x9"), HasSubstr("expected the name of an instance"));
  EXPECT_THAT(refused("all-on-one:device=small,instance=l0"),
              HasSubstr("instance is 'l0', expected nothing beside a device type"));
  EXPECT_THAT(refused("negawatt:nodes=2.5"), HasSubstr("nodes is '2.5', expected a whole number"));
  EXPECT_THAT(refused("input-threshold", {}), HasSubstr("needs small, a device type"));
  EXPECT_THAT(refused("negawatt:residuals=odd"), HasSubstr("expected equal or memoryless"));
  EXPECT_THAT(refused("a\nb"), HasSubstr("no policy 'a\\x0ab'"));
}

// --- what holds for every policy ----------------------------------------------------------------

InstanceView random_view(trace::Random& random, const ServingModel* models) {
  InstanceView view;
  view.device_type = static_cast<std::uint32_t>(random.below(2));
  view.model = &models[view.device_type];
  view.role = random.below(3) > 0 ? Role::both : random.below(2) > 0 ? Role::prefill : Role::decode;
  view.serves_model = random.below(5) > 0;
  view.ready = random.below(4) > 0;
  view.sleeps = random.below(2) > 0;
  view.sleeps_after = Seconds(30);
  view.ready_in = Seconds(view.ready ? 0.0 : 20.0);
  view.running = view.ready ? static_cast<std::uint32_t>(random.below(20)) : 0;
  view.waiting = view.running > 0 ? static_cast<std::uint32_t>(random.below(4)) : 0;
  view.most_sequences = 16;
  view.most_step_tokens = 512;
  view.context_tokens = view.running * (1 + random.below(900));
  view.waiting_prompt = view.waiting * (1 + random.below(900));
  view.kv_capacity = random.below(4) > 0 ? 20'000 : 300;
  view.kv_used = std::min(view.context_tokens, view.kv_capacity);
  view.expected_output_left = (view.running + view.waiting) * 200.0 * random.uniform();
  view.completions_per_second = 3.0 * random.uniform();
  return view;
}

bool may_prompt(const InstanceView& view, const Arrival& arrival) {
  const std::uint64_t need =
      arrival.input_tokens + (view.role == Role::both ? arrival.true_output_tokens : 1U);
  return view.serves_model && view.role != Role::decode && view.kv_capacity >= need;
}

bool may_decode(const InstanceView& view, const Arrival& arrival) {
  return view.serves_model && view.role == Role::decode &&
         view.kv_capacity >= arrival.input_tokens + arrival.true_output_tokens;
}

/// Whether some placement is possible at all.
bool is_possible(const std::vector<InstanceView>& views, const Arrival& arrival) {
  bool whole = false;
  bool prompt = false;
  bool answer = false;
  for (const InstanceView& view : views) {
    (view.role == Role::both ? whole : prompt) |= may_prompt(view, arrival);
    answer |= may_decode(view, arrival);
  }
  return whole || (prompt && answer);
}

struct Devices {
  Devices() {
    auto c = testing::coefficients_for_test();
    models[1] = ServingModel(c);
    c.idle_power *= 0.1;
    c.active_power *= 0.1;
    c.memory_weights *= 10;
    c.compute_per_token *= 10;
    models[0] = ServingModel(c);
  }
  ServingModel models[2] = {ServingModel({}), ServingModel({})};
};

TEST(PolicyKind, SaysWhatAPolicyGoesBy) {
  for (const auto* spec : {"round-robin", "random", "least-connections", "power-of-two"})
    EXPECT_EQ(policy_kind(spec), PolicyKind::load) << spec;
  EXPECT_EQ(policy_kind("drain-rate"), PolicyKind::load);
  EXPECT_EQ(policy_kind("all-on-one:device=small"), PolicyKind::one_device);
  EXPECT_EQ(policy_kind("all-on-one:instance=l1"), PolicyKind::one_device);
  for (const auto* spec : {"input-threshold", "guessed-load", "lambda-cost:lambda=0.5,known=0",
                           "consolidation", "negawatt:miss=0.1"})
    EXPECT_EQ(policy_kind(spec), PolicyKind::work) << spec;
  for (const auto* spec : {"clairvoyant", "lambda-cost:lambda=0.5,known=1"})
    EXPECT_EQ(policy_kind(spec), PolicyKind::clairvoyant) << spec;
}

TEST(EveryPolicy, PlacesWhatCanBePlacedWhereItCanRun) {
  const Devices devices;
  int refused_count = 0;
  for (const std::string& spec : every_policy()) {
    const auto policy = made(spec);
    trace::Random random(5);
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<InstanceView> views(random.below(6));
      for (InstanceView& view : views) view = random_view(random, devices.models);
      Arrival arrival{Seconds(trial), 1 + std::uint32_t(random.below(600))};
      arrival.true_output_tokens = 1 + std::uint32_t(random.below(300));
      const auto placed = policy->place(arrival, views);
      ASSERT_EQ(placed.has_value(), is_possible(views, arrival)) << spec << " trial " << trial;
      if (!placed) {
        ++refused_count;
        continue;
      }
      const InstanceView& prompt = views[placed->prefill];
      ASSERT_TRUE(may_prompt(prompt, arrival)) << spec;
      if (prompt.role == Role::both) {
        ASSERT_EQ(placed->prefill, placed->decode) << spec;
      } else {
        ASSERT_TRUE(may_decode(views[placed->decode], arrival)) << spec;
      }
    }
  }
  EXPECT_GT(refused_count, 1000);
}

TEST(EveryPolicy, DecidesTheSameForTheSameSeed) {
  const Devices devices;
  for (const std::string& spec : every_policy()) {
    const auto one = made(spec);
    const auto two = made(spec);
    trace::Random random(6);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<InstanceView> views(5);
      for (InstanceView& view : views) view = random_view(random, devices.models);
      const Arrival arrival{Seconds(trial), 1 + std::uint32_t(random.below(600))};
      ASSERT_EQ(one->place(arrival, views), two->place(arrival, views)) << spec;
      const Completion completion{.now = Seconds(trial),
                                  .input_tokens = arrival.input_tokens,
                                  .output_tokens = 1 + std::uint32_t(random.below(300))};
      one->completed(completion);
      two->completed(completion);
    }
  }
}

// Of those that judge instances by what they are, not by their number.
TEST(EveryPolicy, ThatScoresInstancesDoesNotMindTheirOrder) {
  const Devices devices;
  for (const std::string& spec : every_policy()) {
    if (spec == "round-robin" || spec == "random" || spec == "power-of-two") continue;
    trace::Random random(8);
    for (int trial = 0; trial < 40; ++trial) {
      std::vector<InstanceView> views(5);
      for (InstanceView& view : views) {
        view = random_view(random, devices.models);
        view.role = Role::both;
        view.kv_capacity = 50'000;
        // No two alike, so that nothing depends on how ties are broken.
        view.running = static_cast<std::uint32_t>(&view - views.data()) * 2 + 1;
        view.waiting = 0;
        view.waiting_prompt = 0;
        view.expected_output_left = view.running * (50.0 + 100.0 * random.uniform());
        view.ready = true;
        view.ready_in = Seconds(0);
        view.context_tokens = view.kv_used = view.running * (100 + random.below(400));
      }
      const Arrival arrival{Seconds(trial), 1 + std::uint32_t(random.below(600))};
      const auto placed = made(spec)->place(arrival, views);
      std::vector<InstanceView> turned(views.rbegin(), views.rend());
      const auto placed_turned = made(spec)->place(arrival, turned);
      ASSERT_EQ(placed.has_value(), placed_turned.has_value());
      if (!placed) continue;
      ASSERT_EQ(placed->prefill, 4 - placed_turned->prefill) << spec;
    }
  }
}

// place() runs on the path of every request.
TEST(EveryPolicy, PlacesWithoutAllocating) {
  const Devices devices;
  FleetFacts fleet = two_types();
  fleet.instances.resize(16, "one");
  for (const bool whole : {false, true}) {  // true: there are plans of the fleet too
    for (const std::string& spec : every_policy()) {
      const auto policy = made(spec, fleet);
      trace::Random random(9);
      std::vector<InstanceView> views(fleet.instances.size());
      for (InstanceView& view : views) {
        view = random_view(random, devices.models);
        if (whole) view.role = Role::both;
      }
      const std::size_t before = testing::allocations();
      for (int trial = 0; trial < 100; ++trial) {
        (void)policy->place({Seconds(5.0 * trial), 100}, views);
      }
      EXPECT_EQ(testing::allocations(), before) << spec << (whole ? ", whole" : "");
    }
  }
  EXPECT_GT(testing::allocations(), 0U);
}

}  // namespace
}  // namespace negawatt::route
