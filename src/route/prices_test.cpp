// SPDX-License-Identifier: Apache-2.0
#include "route/prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trace/random.hpp"

namespace negawatt::route {
namespace {

struct Job {
  double arrival = 0.0;
  double cheap = 0.0;  ///< cost on type 0, whose capacity is scarce
  double dear = 0.0;   ///< cost on type 1, which has room for everything
  double time = 0.0;   ///< that it takes on either
};

/// Poisson arrivals, costs and times from distributions that make choosing worth while.
std::vector<Job> stream(std::size_t count, double rate, std::uint64_t seed) {
  trace::Random random(seed);
  std::vector<Job> jobs(count);
  double now = 0.0;
  for (Job& job : jobs) {
    now += random.exponential() / rate;
    job.arrival = now;
    job.time = 0.5 + random.exponential();
    job.cheap = job.time * (5.0 + 5.0 * random.uniform());
    job.dear = job.cheap + job.time * 20.0 * random.uniform();
  }
  return jobs;
}

/// The linear program: least cost with no more than `capacity` seconds on type 0. One constraint,
/// so the saving a second decides (Dantzig 1957), the last job in part.
double offline_cost(const std::vector<Job>& jobs, double capacity) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto saving_rate = [&](std::size_t i) {
    return (jobs[i].dear - jobs[i].cheap) / jobs[i].time;
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return saving_rate(a) > saving_rate(b); });
  double cost = 0.0;
  for (const std::size_t i : order) {
    const double part = std::clamp(capacity / jobs[i].time, 0.0, 1.0);
    capacity -= part * jobs[i].time;
    cost += part * jobs[i].cheap + (1.0 - part) * jobs[i].dear;
  }
  return cost;
}

struct Outcome {
  double cost = 0.0;
  double worked = 0.0;   ///< seconds sent to type 0
  double backlog = 0.0;  ///< the most there ever was
};

Outcome play(const std::vector<Job>& jobs, double patience) {
  CapacityPrices prices(2, Seconds(patience));
  prices.set_instances(1, 1000);
  Outcome outcome;
  for (const Job& job : jobs) {
    prices.advance(Seconds(job.arrival));
    const bool cheap =
        job.cheap + prices.price(0) * job.time < job.dear + prices.price(1) * job.time;
    prices.charge(cheap ? 0 : 1, Seconds(job.time), job.dear - job.cheap);
    outcome.cost += cheap ? job.cheap : job.dear;
    outcome.worked += cheap ? job.time : 0.0;
    outcome.backlog = std::max(outcome.backlog, prices.backlog(0).in_si());
  }
  return outcome;
}

TEST(CapacityPrices, AreNothingWhileThereIsRoom) {
  CapacityPrices prices(1, Seconds(10));
  prices.charge(0, Seconds(2), 8.0);
  prices.advance(Seconds(2));
  EXPECT_EQ(prices.price(0), 0.0);
}

TEST(CapacityPrices, OfABacklogOfPatienceIsWhatChoicesDifferBy) {
  CapacityPrices prices(2, Seconds(10));
  for (int i = 0; i < 5; ++i) prices.charge(0, Seconds(2), 8.0);  // 4 a second
  EXPECT_EQ(prices.backlog(0), Seconds(10));
  EXPECT_DOUBLE_EQ(prices.price(0), 4.0);
  prices.advance(Seconds(5));
  EXPECT_DOUBLE_EQ(prices.price(0), 2.0);
  EXPECT_EQ(prices.price(1), 0.0);
}

TEST(CapacityPrices, AreSharedByTheInstancesOfAType) {
  CapacityPrices prices(1, Seconds(10));
  prices.set_instances(0, 4);
  prices.charge(0, Seconds(20), 20.0);
  EXPECT_EQ(prices.backlog(0), Seconds(5));
}

// 1.5 s of work a job on average, two jobs a second: three times what type 0 can do.
TEST(CapacityPrices, ComeNearTheOfflineOptimumAndKeepTheCapacity) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const auto jobs = stream(20'000, 2.0, seed);
    const double horizon = jobs.back().arrival;
    const double optimum = offline_cost(jobs, horizon);
    double squares = 0.0;
    for (const Job& job : jobs) squares += job.time * job.time;
    for (const double patience : {5.0, 20.0, 100.0}) {
      const Outcome outcome = play(jobs, patience);
      // Capacity is only ever exceeded by the backlog, and that is a few times the patience.
      EXPECT_LE(outcome.worked, horizon + outcome.backlog);
      EXPECT_LE(outcome.backlog, 4.0 * patience + 10.0);
      // Drift plus penalty: the gap is at most half the sum of squares x the scale of prices
      // (savings of 0 to 20 a second: 10) / patience; and what the last backlog was worth.
      const double bound = (0.5 * squares * 10.0 / patience + 20.0 * outcome.backlog) / optimum;
      EXPECT_LT(outcome.cost / optimum - 1.0, bound) << "patience " << patience;
      EXPECT_LT(outcome.cost / optimum - 1.0, 0.2 / patience + 0.001) << "patience " << patience;
    }
  }
}

TEST(CapacityPrices, RegretFallsWithPatience) {
  const auto jobs = stream(20'000, 2.0, 9);
  const double optimum = offline_cost(jobs, jobs.back().arrival);
  const double hasty = play(jobs, 1.0).cost / optimum;
  const double patient = play(jobs, 100.0).cost / optimum;
  EXPECT_LT(patient, 1.003);
  EXPECT_GT(hasty, 1.03);
}

TEST(CapacityPrices, AreTheShadowPriceOfTheProgram) {
  const auto jobs = stream(20'000, 2.0, 11);
  CapacityPrices prices(2, Seconds(50));
  prices.set_instances(1, 1000);
  double mean = 0.0;
  for (const Job& job : jobs) {
    prices.advance(Seconds(job.arrival));
    mean += prices.price(0) / double(jobs.size());
    const bool cheap = job.cheap + prices.price(0) * job.time < job.dear;
    prices.charge(cheap ? 0 : 1, Seconds(job.time), job.dear - job.cheap);
  }
  // Savings of 0 to 20 a second, evenly; the best third fits: the marginal one saves 13.3.
  EXPECT_NEAR(mean, 40.0 / 3.0, 0.5);
}

/// Forecasts of up to 8 s, a promise of 2 s, and truth = forecast x bias x log-normal noise.
double missed_share(double bias, double sigma, double target) {
  trace::Random random(4);
  Headroom headroom(target);
  int missed = 0;
  int placed = 0;
  for (int i = 0; i < 200'000; ++i) {
    // A forecast that keeps the promise with the margin is taken, others are not.
    const double forecast = 8.0 * random.uniform();
    if (forecast * headroom.factor() > 2.0) continue;
    const bool late = forecast * bias * std::exp(sigma * random.normal()) > 2.0;
    headroom.observe(late);
    missed += late ? 1 : 0;
    ++placed;
  }
  return double(missed) / placed;
}

TEST(Headroom, MissesPromisesAsOftenAsIsAllowed) {
  EXPECT_NEAR(missed_share(1.0, 0.3, 0.01), 0.01, 0.002);
  EXPECT_NEAR(missed_share(2.0, 0.1, 0.01), 0.01, 0.002) << "forecasts of half the truth";
}

// What is allowed to be missed is for what nobody foresaw: it is not spent on purpose.
TEST(Headroom, NeverPromisesMoreThanTheForecast) {
  EXPECT_EQ(missed_share(0.6, 0.1, 0.05), 0.0) << "forecasts that are too careful";
}

TEST(Headroom, ForgetsWhatNobodyConfirms) {
  Headroom headroom(0.01);
  for (int i = 0; i < 20; ++i) headroom.observe(true);
  const double learned = headroom.factor();
  ASSERT_GT(learned, 2.0);
  headroom.relax();
  EXPECT_LT(headroom.factor(), learned);
  for (int i = 0; i < 200; ++i) headroom.relax();
  EXPECT_NEAR(headroom.factor(), 1.0, 1e-6);
}

}  // namespace
}  // namespace negawatt::route
