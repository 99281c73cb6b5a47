// SPDX-License-Identifier: Apache-2.0
//
// The committed surface against everything that was published: what README.md of the data states.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "calibrate_gpt3_xl/published_facts_for_test.hpp"
#include "plan/plan_clocks.hpp"

namespace negawatt::calibrate {
namespace {

double off_pct(double value, double published) { return 100.0 * (value / published - 1.0); }

class CommittedSurface : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(facts_.kernels.size(), 46U);
    ASSERT_EQ(table_.kernels.size(), 46U);
  }

  [[nodiscard]] Point at(std::size_t kernel, std::size_t pair) const {
    return cost_at(table_.kernels[kernel], pair);
  }

  [[nodiscard]] plan::ClockPlan plan_at(double slowdown) const {
    plan::PlanRequest request;
    request.slowdown = slowdown;
    const auto sequence = trace::sequence_in_table_order(table_);
    return plan::plan_clocks(table_, *sequence, request).value();
  }

  Facts facts_ = published_facts();
  trace::KernelTable table_ = committed_surface();
};

TEST_F(CommittedSurface, HasThePublishedKernelsAtEveryPair) {
  EXPECT_EQ(table_.evidence.kind, EvidenceKind::modelled);
  for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
    EXPECT_EQ(table_.kernels[k].name, facts_.kernels[k].name);
    EXPECT_EQ(table_.kernels[k].group, facts_.kernels[k].group);
    EXPECT_EQ(table_.kernels[k].calls, facts_.kernels[k].calls);
    EXPECT_EQ(table_.kernels[k].options.size(), kPairs);
  }
}

TEST_F(CommittedSurface, AgreesWithEachKernelAtAutomaticClocksAndAtTheChosenPair) {
  for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
    const KernelFacts& kernel = facts_.kernels[k];
    const Point automatic = at(k, kAutomatic), chosen = at(k, kernel.chosen_pair);
    EXPECT_NEAR(off_pct(automatic.time, kernel.automatic.time), 0.0, 0.001) << kernel.name;
    EXPECT_NEAR(off_pct(automatic.energy, kernel.automatic.energy), 0.0, 0.001) << kernel.name;
    EXPECT_NEAR(off_pct(chosen.time, kernel.chosen.time), 0.0, 0.001) << kernel.name;
    EXPECT_NEAR(off_pct(chosen.energy, kernel.chosen.energy), 0.0, 0.001) << kernel.name;
  }
}

TEST_F(CommittedSurface, AgreesWithThePassesAtEveryPair) {
  for (std::size_t pass = 0; pass < 2; ++pass) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      Point sum, automatic;
      for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
        const KernelFacts& kernel = facts_.kernels[k];
        if (kernel.pass != pass) continue;
        sum.time += kernel.calls * at(k, pair).time;
        sum.energy += kernel.calls * at(k, pair).energy;
        automatic.time += kernel.calls * kernel.automatic.time;
        automatic.energy += kernel.calls * kernel.automatic.energy;
      }
      const Point ratio = facts_.pass_ratio[pass][pair];
      const std::string where = trace::to_string(clocks_of(pair));
      EXPECT_NEAR(off_pct(sum.time / automatic.time, ratio.time), 0.0, 1.0) << pass << where;
      EXPECT_NEAR(off_pct(sum.energy / automatic.energy, ratio.energy), 0.0, 1.0) << pass << where;
    }
  }
}

TEST_F(CommittedSurface, ReachesTheExtremesButWhereThePassesContradictThem) {
  std::vector<double> fastest, slowest, thriftiest, hungriest;
  for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
    const KernelFacts& kernel = facts_.kernels[k];
    Point least = {INFINITY, INFINITY}, most;
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const Point cost = at(k, pair);
      least = {std::min(least.time, cost.time), std::min(least.energy, cost.energy)};
      most = {std::max(most.time, cost.time), std::max(most.energy, cost.energy)};
    }
    fastest.push_back(std::abs(off_pct(least.time, kernel.least.time)));
    thriftiest.push_back(std::abs(off_pct(least.energy, kernel.least.energy)));
    hungriest.push_back(std::abs(off_pct(most.energy, kernel.most.energy)));
    // The forward kernels' longest times add up to 13.6 times the pass at automatic clocks; the
    // pass was never slower than 10.3 times.
    if (kernel.pass == 1) slowest.push_back(std::abs(off_pct(most.time, kernel.most.time)));
  }
  for (std::vector<double>* errors : {&fastest, &slowest, &thriftiest, &hungriest})
    std::sort(errors->begin(), errors->end());
  EXPECT_LT(fastest.back(), 2.5);
  EXPECT_LT(slowest.back(), 3.0);
  EXPECT_LT(thriftiest.back(), 3.0);
  EXPECT_LT(hungriest.back(), 1.5);
  for (const std::vector<double>* errors : {&fastest, &slowest, &thriftiest, &hungriest})
    EXPECT_LT((*errors)[errors->size() / 2], 1.0);
}

TEST_F(CommittedSurface, GivesThePublishedPlanWithoutSlowdown) {
  const plan::ClockPlan plan = plan_at(0.0);
  EXPECT_LE(change_pct(plan.baseline.time, plan.total.time), 1e-9);
  EXPECT_NEAR(change_pct(plan.baseline.energy, plan.total.energy), -15.64, 0.05);
  std::size_t same = 0;
  for (const plan::KernelChoice& choice : plan.choices)
    if (choice.clocks == clocks_of(facts_.kernels[choice.kernel].chosen_pair)) ++same;
  EXPECT_GE(same, 40U);
  ASSERT_TRUE(plan.best_static.has_value());
  EXPECT_EQ(plan.best_static->clocks, clocks_of(kAutomatic)) << "9501, auto is a hair slower";
}

TEST_F(CommittedSurface, HasThePublishedStaticPair) {
  const plan::ClockPlan plan = plan_at(0.006);
  ASSERT_TRUE(plan.best_static.has_value());
  EXPECT_EQ(plan.best_static->clocks, clocks_of(pair_at(10, 4)));
  EXPECT_NEAR(change_pct(plan.baseline.time, plan.best_static->total.time), 0.04, 0.1);
  EXPECT_NEAR(change_pct(plan.baseline.energy, plan.best_static->total.energy), -9.62, 0.1);
}

// Beyond 10 % the surface saves more than was published. At 29 % it must: there the published
// passes at memory 5001, core 1470 save 36.2 %, and the published curve only 34.2 %.
TEST_F(CommittedSurface, FollowsTheRelaxedCurve) {
  struct Tolerated {
    double slowdown, energy_pct, within;
  };
  for (const Tolerated published :
       {Tolerated{0.006, -16.48, 0.1}, Tolerated{0.01, -17.01, 0.1}, Tolerated{0.02, -18.37, 0.15},
        Tolerated{0.05, -22.19, 0.6}, Tolerated{0.10, -27.31, 0.7}, Tolerated{0.20, -31.83, 2.0}}) {
    const plan::ClockPlan plan = plan_at(published.slowdown);
    EXPECT_NEAR(change_pct(plan.baseline.energy, plan.total.energy), published.energy_pct,
                published.within)
        << published.slowdown;
  }
}

TEST_F(CommittedSurface, KeepsPowerWithinWhatTheCardDraws) {
  for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const double watts = at(k, pair).energy / at(k, pair).time;
      EXPECT_LT(watts, 350.5) << facts_.kernels[k].name << pair;
      EXPECT_GT(watts, 30.0) << facts_.kernels[k].name << pair;
    }
  }
}

/// Time at `fast` is at most that at `slow`, but for an inversion that the pass has too.
void expect_faster(const Facts& facts, const trace::Kernel& kernel, std::size_t pass,
                   std::array<std::size_t, 2> slow_fast) {
  const auto [slow, fast] = slow_fast;
  const auto& ratio = facts.pass_ratio[pass];
  const double inversion = std::max(0.0, off_pct(ratio[fast].time, ratio[slow].time));
  EXPECT_LT(off_pct(cost_at(kernel, fast).time, cost_at(kernel, slow).time), inversion + 0.3)
      << kernel.name << ' ' << trace::to_string(clocks_of(fast));
}

TEST_F(CommittedSurface, TakesNoLongerAtAHigherClock) {
  for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const std::size_t pass = facts_.kernels[k].pass, core = core_of(pair);
      // An automatic or chosen row is as published, inversion or not.
      if (core < kCore1680) expect_faster(facts_, table_.kernels[k], pass, {pair, pair + 1});
      if (core <= kCore1470 && memory_of(pair) + 1 < kMemories.size())
        expect_faster(facts_, table_.kernels[k], pass, {pair, pair + kCores.size()});
    }
  }
}

// A saw tooth bends to both sides. Where the memory clock takes over from the core clock, time
// bends up by as much as the clock steps (0.69 from 210 to 420 MHz); it has no reason to bend down.
TEST_F(CommittedSurface, IsSmoothAlongTheCoreClockBelowThePowerCap) {
  for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
    for (std::size_t memory = kMemory810; memory < kMemories.size(); ++memory) {
      for (std::size_t core = 1; core < kCore1680; ++core) {
        const Point slow = at(k, pair_at(core - 1, memory)), here = at(k, pair_at(core, memory)),
                    fast = at(k, pair_at(core + 1, memory));
        const double time_bend = std::log(slow.time * fast.time / (here.time * here.time));
        const double energy_bend =
            std::log(slow.energy * fast.energy / (here.energy * here.energy));
        const std::string where =
            facts_.kernels[k].name + ' ' + trace::to_string(clocks_of(pair_at(core, memory)));
        EXPECT_GT(time_bend, -0.1) << where;
        EXPECT_LT(time_bend, 0.69) << where;
        EXPECT_GT(energy_bend - time_bend, -0.15) << where;
        EXPECT_LT(energy_bend - time_bend, 0.25) << where;
      }
    }
  }
}

}  // namespace
}  // namespace negawatt::calibrate
