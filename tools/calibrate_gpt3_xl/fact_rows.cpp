// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/fact_rows.hpp"

#include <array>
#include <cmath>

namespace negawatt::calibrate {
namespace {

/// What a row is about: energy + price * time, or time alone.
struct Weights {
  double time, energy;
};
constexpr Weights kTime = {1.0, 0.0};
constexpr Weights kEnergy = {0.0, 1.0};

double value_of(Point cost, Weights weights) {
  return weights.time * cost.time + weights.energy * cost.energy;
}

/// Other pairs stay this much above the best one, so that rounding does not decide.
constexpr double kMargin = 1.001;

struct SumWish {
  Weights weights;
  double value;
  Band band;
};

struct Wish {
  Weights weights;
  double value, sigma;
};

class FactRows {
 public:
  FactRows(const Facts& facts, const Surface& surface, Rows& rows)
      : facts_(facts), surface_(surface), rows_(rows) {}

  void chosen(double sigma) {
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
      const KernelFacts& kernel = facts_.kernels[k];
      equal(k, kernel.chosen_pair, {kTime, kernel.chosen.time, sigma});
      equal(k, kernel.chosen_pair, {kEnergy, kernel.chosen.energy, sigma});
    }
  }

  /// No pair lies beyond an extreme, and the pair that is likely to reach it does. The least
  /// energy is reached where the price is 0.
  void extremes(const Tolerances& tolerances) {
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
      const KernelFacts& kernel = facts_.kernels[k];
      reach(k, fastest(kernel), {kTime, kernel.least.time, tolerances.extreme});
      reach(k, kSlowest, {kTime, kernel.most.time, tolerances.extreme});
      reach(k, hungriest(kernel), {kEnergy, kernel.most.energy, tolerances.extreme});
      for (std::size_t pair = 0; pair < kPairs; ++pair) {
        at_least(k, pair, {kTime, kernel.least.time, tolerances.beyond});
        at_most(k, pair, {kTime, kernel.most.time, tolerances.beyond});
        at_least(k, pair, {kEnergy, kernel.least.energy, tolerances.beyond});
        at_most(k, pair, {kEnergy, kernel.most.energy, tolerances.beyond});
      }
    }
  }

  void passes(Band near, Band far) {
    for (std::size_t pass = 0; pass < facts_.pass_ratio.size(); ++pass) {
      const auto in_pass = [&](std::size_t k) { return facts_.kernels[k].pass == pass; };
      const Point automatic = automatic_pass(facts_, pass);
      for (std::size_t pair = 0; pair < kPairs; ++pair) {
        const Point ratio = facts_.pass_ratio[pass][pair];
        const auto this_pair = [&](std::size_t) { return pair; };
        // Points near automatic clocks were read from an enlarged figure.
        const Band band = std::abs(ratio.time - 1.0) < 0.1 ? near : far;
        sum(in_pass, this_pair, {kTime, ratio.time * automatic.time, band});
        sum(in_pass, this_pair, {kEnergy, ratio.energy * automatic.energy, band});
      }
    }
  }

  /// No pair but the best reaches a level, and the best pairs together cost what the relaxed
  /// curve says.
  void price(const PriceLevels& levels, const Tolerances& tolerances) {
    constexpr auto kAll = [](std::size_t) { return true; };
    const auto best = [&](std::size_t k) { return levels.best[k]; };
    const Weights weights = {levels.price, 1.0};
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
      const double level = levels.level[k];
      if (levels.price == 0.0) reach(k, best(k), {weights, level, tolerances.extreme});
      for (std::size_t pair = 0; pair < kPairs; ++pair)
        if (pair != best(k))
          at_least(k, pair,
                   {weights, kMargin * level, levels.plan ? tolerances.plan : tolerances.level});
    }
    if (!levels.plan) sum(kAll, best, {weights, levels.total, tolerances.curve});
  }

 private:
  static constexpr std::size_t kSlowest = pair_at(0, 0);

  /// The card is capped: a kernel is fastest where its chosen memory clock leaves the core most.
  [[nodiscard]] static std::size_t fastest(const KernelFacts& kernel) {
    const std::size_t core_auto = pair_at(kCores.size() - 1, memory_of(kernel.chosen_pair));
    const bool gains = kernel.chosen_pair == core_auto || memory_of(core_auto) == kMemory5001;
    return gains ? core_auto : kAutomatic;
  }
  /// What the memory paces takes most energy at its lowest clock, all else at the core's.
  [[nodiscard]] static std::size_t hungriest(const KernelFacts& kernel) {
    constexpr double kMemoryPaced = 20.0;
    const bool memory_paced = kernel.most.time > kMemoryPaced * kernel.automatic.time;
    return memory_paced ? kSlowest : pair_at(0, kMemories.size() - 1);
  }

  [[nodiscard]] double value_at(std::size_t kernel, std::size_t pair, Weights weights) const {
    return value_of(surface_.at(kernel, pair), weights);
  }

  /// Derivatives of log value by log time and log power.
  [[nodiscard]] std::array<Term, 2> terms_at(std::size_t kernel, std::size_t pair,
                                             Weights weights) const {
    const Point cost = surface_.at(kernel, pair);
    return {Term{Surface::time_at(kernel, pair), 1.0},
            Term{Surface::power_at(kernel, pair),
                 weights.energy * cost.energy / value_of(cost, weights)}};
  }

  void equal(std::size_t kernel, std::size_t pair, Wish wish) {
    rows_.add(terms_at(kernel, pair, wish.weights),
              std::log(wish.value / value_at(kernel, pair, wish.weights)), wish.sigma);
  }
  void at_least(std::size_t kernel, std::size_t pair, Wish wish) {
    if (value_at(kernel, pair, wish.weights) < wish.value) equal(kernel, pair, wish);
  }
  void at_most(std::size_t kernel, std::size_t pair, Wish wish) {
    if (value_at(kernel, pair, wish.weights) > wish.value) equal(kernel, pair, wish);
  }

  /// Some extremes contradict the passes; a few large errors are then better than many small ones.
  /// Cauchy's weights, by iteration (Holland and Welsch 1977).
  void reach(std::size_t kernel, std::size_t pair, Wish wish) {
    constexpr double kForgiven = 0.3;
    const double miss = std::log(wish.value / value_at(kernel, pair, wish.weights));
    wish.sigma *= std::hypot(1.0, miss / kForgiven);
    equal(kernel, pair, wish);
  }

  /// The sum of calls over the kernels that `takes`, each at its pair.
  template <class Takes, class PairOf>
  void sum(const Takes& takes, const PairOf& pair_of, SumWish wish) {
    std::vector<Term> terms;
    double value = 0.0;
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
      if (!takes(k)) continue;
      const double part = facts_.kernels[k].calls * value_at(k, pair_of(k), wish.weights);
      for (const Term term : terms_at(k, pair_of(k), wish.weights))
        terms.push_back({term.variable, part * term.coefficient});
      value += part;
    }
    for (Term& term : terms) term.coefficient /= value;
    const double miss = std::log(wish.value / value);
    const double outside = std::abs(miss) - wish.band.width;
    rows_.add(terms, miss, wish.band.inside);
    if (outside > 0.0) rows_.add(terms, std::copysign(outside, miss), wish.band.outside);
  }

  const Facts& facts_;
  const Surface& surface_;
  Rows& rows_;
};

}  // namespace

void add_fact_rows(const Facts& facts, const Surface& surface, const Tolerances& tolerances,
                   Rows& rows) {
  FactRows maker(facts, surface, rows);
  maker.chosen(tolerances.chosen);
  maker.extremes(tolerances);
  maker.passes(tolerances.near_pass, tolerances.far_pass);
}

void add_price_rows(const Facts& facts, const std::vector<PriceLevels>& prices,
                    const Surface& surface, const Tolerances& tolerances, Rows& rows) {
  FactRows maker(facts, surface, rows);
  for (const PriceLevels& levels : prices) maker.price(levels, tolerances);
}

}  // namespace negawatt::calibrate
