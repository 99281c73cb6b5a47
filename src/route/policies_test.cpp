// SPDX-License-Identifier: Apache-2.0
//
// What each policy does, on cases small enough to see the answer.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "route/make_policy.hpp"
#include "route/two_futures_for_test.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

using model::ServingModel;
using testing::coefficients_for_test;
using testing::Sequence;
using testing::view_of;

constexpr std::uint32_t kSmall = 0;
constexpr std::uint32_t kLarge = 1;

/// The small device: a tenth of the speed at a thirtieth of the power.
ServingModel small_model() {
  auto c = coefficients_for_test();
  c.idle_power = 5.0;
  c.active_power = 5.0;
  c.compute_per_token *= 10;
  c.compute_per_attended *= 10;
  c.memory_weights *= 10;
  c.memory_per_context *= 10;
  c.energy_weights *= 0.7;
  return ServingModel(c);
}

class Policies : public ::testing::Test {
 protected:
  Policies() {
    fleet_.device_types = {{"small", Watts(10)}, {"large", Watts(250)}};
    fleet_.instances = {"s0", "s1", "l0", "l1"};
    for (const std::uint32_t type : {kSmall, kSmall, kLarge, kLarge}) {
      views_.push_back(view_of(type == kSmall ? small_ : large_, {}));
      views_.back().device_type = type;
    }
  }

  std::unique_ptr<Policy> make(std::string_view spec) {
    auto policy = make_policy(spec, 1, fleet_);
    if (!policy) ADD_FAILURE() << policy.error().message;
    return *std::move(policy);
  }
  std::size_t chosen(Policy& policy, const Arrival& arrival) {
    const auto placement = policy.place(arrival, views_);
    EXPECT_TRUE(placement);
    return placement ? placement->prefill : 99;
  }
  std::size_t chosen(std::string_view spec, const Arrival& arrival = {.input_tokens = 100}) {
    return chosen(*make(spec), arrival);
  }
  std::uint32_t type_chosen(std::string_view spec, const Arrival& arrival) {
    return views_[chosen(spec, arrival)].device_type;
  }

  ServingModel small_ = small_model();
  ServingModel large_{coefficients_for_test()};
  FleetFacts fleet_;
  std::vector<InstanceView> views_;
};

TEST_F(Policies, RoundRobinTakesEachInTurnAndSkipsWhatCannot) {
  views_[1].serves_model = false;
  const auto policy = make("round-robin");
  for (const std::size_t expected : {0U, 2U, 3U, 0U, 2U, 3U}) {
    EXPECT_EQ(chosen(*policy, {.input_tokens = 1}), expected);
  }
}

TEST_F(Policies, RandomTakesAllAlike) {
  const auto policy = make("random");
  std::map<std::size_t, int> counts;
  for (int i = 0; i < 4000; ++i) ++counts[chosen(*policy, {.input_tokens = 1})];
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(counts[i], 1000, 110) << i;
}

TEST_F(Policies, LeastConnectionsCountsThoseThatWait) {
  for (std::size_t i = 0; i < 4; ++i) views_[i].running = 5;
  views_[2].running = 3;
  views_[3].running = 2;
  views_[3].waiting = 2;
  EXPECT_EQ(chosen("least-connections"), 2U);
}

TEST_F(Policies, PowerOfTwoNeverTakesTheWorstAndTakesTheBestHalfTheTime) {
  for (std::uint32_t i = 0; i < 4; ++i) views_[i].running = i;
  const auto policy = make("power-of-two");
  std::map<std::size_t, int> counts;
  for (int i = 0; i < 6000; ++i) ++counts[chosen(*policy, {.input_tokens = 1})];
  // Of the six pairs three hold instance 0, two more hold 1 as the better one, one holds 2.
  EXPECT_NEAR(counts[0], 3000, 160);
  EXPECT_NEAR(counts[1], 2000, 160);
  EXPECT_NEAR(counts[2], 1000, 160);
  EXPECT_EQ(counts[3], 0);
}

TEST_F(Policies, DrainRateWeighsRequestsByHowFastTheyLeave) {
  for (InstanceView& view : views_) {
    view.running = 4;
    view.completions_per_second = 1.0;
  }
  views_[2].running = 12;
  views_[2].completions_per_second = 4.0;
  EXPECT_EQ(chosen("drain-rate"), 2U);
  views_[2].completions_per_second = 0.0;
  EXPECT_EQ(chosen("drain-rate"), 0U);
}

TEST_F(Policies, AllOnOneTakesTheDeviceOrTheInstanceNamed) {
  views_[2].running = 9;
  EXPECT_EQ(chosen("all-on-one:device=large"), 3U);
  EXPECT_EQ(chosen("all-on-one:instance=l0"), 2U);
  views_[2].kv_capacity = 50;
  EXPECT_EQ(chosen("all-on-one:instance=l0"), 0U) << "what it can never hold goes elsewhere";
}

TEST_F(Policies, InputThresholdDividesByThePrompt) {
  EXPECT_EQ(type_chosen("input-threshold", {.input_tokens = 32}), kSmall);
  EXPECT_EQ(type_chosen("input-threshold", {.input_tokens = 33}), kLarge);
  EXPECT_EQ(type_chosen("input-threshold:tokens=500", {.input_tokens = 500}), kSmall);
  EXPECT_EQ(type_chosen("input-threshold:small=large", {.input_tokens = 9}), kLarge);
}

TEST_F(Policies, OutputThresholdDividesByWhatItLearnedOrIsTold) {
  EXPECT_EQ(type_chosen("output-threshold", {.input_tokens = 9}), kLarge);
  EXPECT_EQ(type_chosen("output-threshold", {.input_tokens = 9, .true_output_tokens = 5}), kLarge);
  EXPECT_EQ(type_chosen("output-threshold:known=1", {.input_tokens = 9, .true_output_tokens = 5}),
            kSmall);
  const auto policy = make("output-threshold");
  for (int i = 0; i < 100; ++i) policy->completed({.input_tokens = 9, .output_tokens = 5});
  EXPECT_EQ(views_[chosen(*policy, {.input_tokens = 9})].device_type, kSmall);
  EXPECT_NEAR(policy->expected_output({.input_tokens = 9}), 5.0, 10.0);
}

TEST_F(Policies, BothThresholdsMustHold) {
  const std::string_view spec = "both-thresholds:input=32,output=64,known=1";
  const auto type = [&](std::uint32_t input, std::uint32_t output) {
    return type_chosen(spec, {.input_tokens = input, .true_output_tokens = output});
  };
  EXPECT_EQ(type(32, 64), kSmall);
  EXPECT_EQ(type(33, 64), kLarge);
  EXPECT_EQ(type(32, 65), kLarge);
}

TEST_F(Policies, LambdaCostIsEnergyAtOneAndTimeAtZero) {
  const Arrival arrival{.input_tokens = 16, .true_output_tokens = 10};
  EXPECT_EQ(type_chosen("lambda-cost:lambda=1,known=1", arrival), kSmall);
  EXPECT_EQ(type_chosen("lambda-cost:lambda=0,known=1", arrival), kLarge);
}

TEST_F(Policies, LambdaCostSharesAmongEqualsAndMayPriceTheQueue) {
  views_[2].running = 3;
  EXPECT_EQ(chosen("lambda-cost:lambda=0"), 3U);
  views_[2].waiting = views_[3].waiting = 1;
  views_[2].running = views_[3].running = 1;
  EXPECT_EQ(chosen("lambda-cost:lambda=0"), 2U);
  EXPECT_EQ(chosen("lambda-cost:lambda=0,queue=1000"), 0U);
}

TEST_F(Policies, SmallestFinishSeesTheQueueAhead) {
  EXPECT_EQ(chosen("smallest-finish"), 2U);
  for (const std::size_t i : {2U, 3U}) {
    views_[i].running = 256;
    views_[i].waiting = 500 + 100 * static_cast<std::uint32_t>(i);
    views_[i].context_tokens = std::uint64_t{256} * 500;
    views_[i].waiting_prompt = std::uint64_t{views_[i].waiting} * 500;
    views_[i].expected_output_left = 250.0 * (256 + views_[i].waiting);
  }
  EXPECT_EQ(chosen("smallest-finish"), 0U);
}

TEST_F(Policies, GuessedLoadCountsTokensInFlight) {
  const auto policy = make("guessed-load");
  EXPECT_EQ(policy->expected_output({.input_tokens = 100}), 150.0);
  for (InstanceView& view : views_) view.expected_output_left = 300.0;
  views_[3].expected_output_left = 100.0;
  views_[3].waiting_prompt = 150;
  EXPECT_EQ(chosen(*policy, {.input_tokens = 1}), 3U);
}

TEST_F(Policies, ConsolidationFillsTheFullestThatKeepsItsPromises) {
  for (const std::size_t i : {2U, 3U}) {
    views_[i] = view_of(large_, std::vector<Sequence>(i == 2 ? 20 : 60, {0, 100, 500}));
    views_[i].device_type = kLarge;
  }
  EXPECT_EQ(chosen("consolidation"), 3U);
  // 7 ms a step at the least, 10 us and 25 us of cache more each sequence; of 60 residents, who
  // have 100 tokens left, 26 are there on average over an answer of 205: 7.9 ms; of 20, 9: 7.3 ms.
  fleet_.slos = {{.time_between_tokens = Seconds(0.0076)}};
  EXPECT_EQ(chosen("consolidation"), 2U);
  fleet_.slos = {{.time_between_tokens = Seconds(0.001)}};
  EXPECT_EQ(chosen("consolidation"), 2U) << "none keeps it: the earliest to finish";
}

TEST_F(Policies, ProfileTableTakesTheLeastLoadedByCapacity) {
  EXPECT_EQ(chosen("profile-table"), 2U);
  views_[2].running = 3;
  EXPECT_EQ(chosen("profile-table"), 3U);
  views_[2].running = views_[3].running = 200;
  EXPECT_EQ(chosen("profile-table"), 0U);
}

TEST_F(Policies, ProfileTableLearnsAnswersFromItsHistogram) {
  const auto policy = make("profile-table");
  policy->completed({.now = Seconds(1), .input_tokens = 100, .output_tokens = 500});
  (void)chosen(*policy, {.now = Seconds(2), .input_tokens = 100});
  EXPECT_EQ(policy->expected_output({.input_tokens = 100}), 512.0);
}

// --- ours ---------------------------------------------------------------------------------------

// Whatever the states, the choice is the one of least cost when both futures of every instance are
// played step by step.
TEST_F(Policies, NegawattChoosesWhatTwoPlayedFuturesSay) {
  trace::Random random(21);
  std::set<std::size_t> seen;
  for (int trial = 0; trial < 150; ++trial) {
    const double lambda = double(random.below(3)) / 2.0;
    const Arrival arrival{.input_tokens = 1 + std::uint32_t(random.below(3000)),
                          .true_output_tokens = 1 + std::uint32_t(random.below(150))};
    double best = 1e300;
    double second = 1e300;
    std::size_t expected = 0;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const ServingModel& model = i < 2 ? small_ : large_;
      std::vector<Sequence> running(random.below(6), {0, 1 + std::uint32_t(random.below(100)),
                                                      50 + std::uint32_t(random.below(1500))});
      views_[i] = view_of(model, running);
      views_[i].device_type = i < 2 ? kSmall : kLarge;
      running.push_back({arrival.input_tokens, arrival.true_output_tokens, 0});
      const Marginal m = testing::difference(model, running, 2048);
      const double cost = lambda * m.energy.in_si() +
                          (1.0 - lambda) * 50.0 * (m.time_to_completion + m.delay).in_si();
      if (cost < best) {
        second = best;
        best = cost;
        expected = i;
      } else {
        second = std::min(second, cost);
      }
    }
    if (second - best < 1e-6 * best) continue;
    const auto spec =
        fmt::format("clairvoyant:residuals=equal,seconds=0.02,patience=1e6,lambda={}", lambda);
    EXPECT_EQ(chosen(spec, arrival), expected) << "trial " << trial;
    seen.insert(expected);
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST_F(Policies, NegawattTakesEnergyAtOneAndTimeAtZero) {
  const Arrival arrival{.input_tokens = 16, .true_output_tokens = 10};
  EXPECT_EQ(type_chosen("clairvoyant:lambda=1", arrival), kSmall);
  EXPECT_EQ(type_chosen("clairvoyant:lambda=0", arrival), kLarge);
}

TEST_F(Policies, NegawattJoinsABatchRatherThanStartOne) {
  views_[3] = view_of(large_, std::vector<Sequence>(8, {0, 400, 300}));
  views_[3].device_type = kLarge;
  EXPECT_EQ(chosen("negawatt"), 3U);
}

// A device of ten times the fixed power holds the batch; the margin alone would stay with it.
TEST_F(Policies, NegawattIsNotLockedInWhereTheFlowWouldCostLessElsewhere) {
  auto c = coefficients_for_test();
  c.active_power *= 10;
  const ServingModel wasteful(c);
  for (const std::size_t i : {0U, 1U}) {
    views_[i] = view_of(wasteful, std::vector<Sequence>(8, {0, 200, 300}));
    views_[i].completions_per_second = 3.0;
    views_[i].device_type = kSmall;
  }
  const auto type_after = [&](const char* spec, double seconds) {
    const auto policy = make(spec);
    for (double now = 0.0; now < seconds; now += 0.5)
      chosen(*policy, {.now = Seconds(now), .input_tokens = 100});
    return views_[chosen(*policy, {.now = Seconds(seconds), .input_tokens = 100})].device_type;
  };
  EXPECT_EQ(type_after("negawatt", 50), kSmall);  // too early for a plan
  EXPECT_EQ(type_after("negawatt", 70), kLarge);
  EXPECT_EQ(type_after("negawatt:plan=0", 70), kSmall);
}

TEST_F(Policies, NegawattKeepsOnWhatItsPlanNeeds) {
  for (InstanceView& view : views_) {
    view.sleeps = true;
    view.sleeps_after = Seconds(60);
  }
  const auto policy = make("negawatt");
  const auto wanted = [&] {
    int count = 0;
    for (std::size_t i = 0; i < views_.size(); ++i)
      count += policy->wanted_until(i) > Seconds(0) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(wanted(), 0);
  for (double now = 0.0; now < 70.0; now += 0.5) {
    const auto at = chosen(*policy, {.now = Seconds(now), .input_tokens = 100});
    EXPECT_TRUE(wanted() == 0 || policy->wanted_until(at) > Seconds(now)) << now;
  }
  EXPECT_EQ(wanted(), 1);
}

TEST_F(Policies, NegawattKeepsPromisesBeforeItSaves) {
  const Arrival arrival{.input_tokens = 64, .true_output_tokens = 10};
  EXPECT_EQ(type_chosen("clairvoyant", arrival), kSmall);
  // 61 ms a token on the small device, 7 ms on the large one.
  fleet_.slos = {{.time_between_tokens = Seconds(0.030)}};
  EXPECT_EQ(type_chosen("clairvoyant", arrival), kLarge);
  fleet_.slos = {{.time_to_completion = Seconds(0.3)}};
  EXPECT_EQ(type_chosen("clairvoyant", arrival), kLarge);
  fleet_.slos = {{.time_to_first_token = Seconds(0.05)}};
  EXPECT_EQ(type_chosen("clairvoyant", arrival), kLarge);
}

TEST_F(Policies, NegawattWakesNobodyForWhatOneThatIsOnCanDo) {
  for (InstanceView& view : views_) {
    view.sleeps = true;
    view.sleeps_after = Seconds(60);
    view.ready = &view == &views_[2];
    view.ready_in = Seconds(view.ready ? 0.0 : 5.0);
    view.start_energy = Joules(view.ready ? 0.0 : 1000.0);
  }
  EXPECT_EQ(chosen("clairvoyant", {.input_tokens = 16, .true_output_tokens = 10}), 2U);
}

TEST_F(Policies, NegawattWaitsNoLongerThanPatienceWhereNothingWasPromised) {
  for (std::size_t i = 0; i < 2; ++i) {
    views_[i].running = 256;
    views_[i].waiting = 300;
    views_[i].context_tokens = std::uint64_t{256} * 100;
    views_[i].waiting_prompt = std::uint64_t{300} * 100;
    views_[i].expected_output_left = 556 * 100;
  }
  const Arrival arrival{.input_tokens = 16, .true_output_tokens = 10};
  EXPECT_EQ(type_chosen("clairvoyant:patience=1e6", arrival), kSmall);
  EXPECT_EQ(type_chosen("clairvoyant:patience=10", arrival), kLarge);
}

// The views never change, so that nothing but the price can tell that the small devices are full.
TEST_F(Policies, NegawattSendsADeviceTypeNoMoreThanItCanDo) {
  const auto policy = make("clairvoyant:patience=1,plan=0");
  const Arrival arrival{.input_tokens = 64, .true_output_tokens = 10};
  const double time = saturated_time(views_[0], {64, 10}, Seconds(0)).in_si();
  const double rate = 3.0 * 2.0 / time;  // three times what the two small ones can do
  int small = 0;
  constexpr int kCount = 30'000;  // of which the first half fills the backlog
  for (int i = 0; i < kCount; ++i) {
    Arrival next = arrival;
    next.now = Seconds(i / rate);
    const bool is_small = views_[chosen(*policy, next)].device_type == kSmall;
    small += is_small && i >= kCount / 2 ? 1 : 0;
  }
  EXPECT_NEAR(double(small) / (kCount / 2.0), 1.0 / 3.0, 0.01);
}

TEST_F(Policies, NegawattLearnsTheLengthThatFlipsTheWinner) {
  // Short answers are cheaper on the small device, long ones on the large.
  const Arrival arrival{.input_tokens = 64};
  const auto cheapest = [&](std::uint32_t output) {
    return type_chosen("clairvoyant", {.input_tokens = 64, .true_output_tokens = output});
  };
  ASSERT_EQ(cheapest(4), kSmall);
  fleet_.slos = {{.time_to_completion = Seconds(10)}};
  ASSERT_EQ(cheapest(400), kLarge);
  const auto policy = make("negawatt");
  for (int i = 0; i < 200; ++i) policy->completed({.input_tokens = 64, .output_tokens = 400});
  EXPECT_EQ(views_[chosen(*policy, arrival)].device_type, kLarge);
  const auto other = make("negawatt");
  for (int i = 0; i < 200; ++i) other->completed({.input_tokens = 64, .output_tokens = 4});
  EXPECT_EQ(views_[chosen(*other, arrival)].device_type, kSmall);
}

TEST_F(Policies, NegawattWidensItsMarginWhenPromisesAreMissed) {
  fleet_.slos = {{.time_to_completion = Seconds(1.0)}};
  const Arrival arrival{.input_tokens = 64, .true_output_tokens = 10};
  const auto policy = make("clairvoyant");
  ASSERT_EQ(views_[chosen(*policy, arrival)].device_type, kSmall);
  // About 0.65 s are forecast; they turn out to be more than 1 s.
  for (int i = 0; i < 20; ++i) {
    policy->completed({.input_tokens = 64,
                       .output_tokens = 10,
                       .device_type = kSmall,
                       .time_to_first_token = Seconds(0.1),
                       .time_to_completion = Seconds(1.2)});
  }
  EXPECT_EQ(views_[chosen(*policy, arrival)].device_type, kLarge);
}

TEST_F(Policies, DisaggregatedInstancesAreChosenByStage) {
  views_[0].role = Role::decode;
  views_[1].role = Role::decode;
  views_[2].role = Role::prefill;
  views_[3].role = Role::prefill;
  views_[0].running = 7;
  views_[2].running = 7;
  for (const std::string_view spec : {"least-connections", "smallest-finish", "drain-rate"}) {
    const auto placement = make(spec)->place({.input_tokens = 100}, views_);
    ASSERT_TRUE(placement) << spec;
    EXPECT_EQ(placement->decode, 1U) << spec;
    EXPECT_GE(placement->prefill, 2U) << spec;
  }
  const auto placement = make("negawatt")->place({.input_tokens = 100}, views_);
  ASSERT_TRUE(placement);
  EXPECT_LT(placement->decode, 2U);
  EXPECT_GE(placement->prefill, 2U);
}

}  // namespace
}  // namespace negawatt::route
