// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/prices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace negawatt::calibrate {
namespace {

/// Percent of energy per percent of time, along the published curve; 0 comes first.
constexpr std::array<double, 12> kSlopes = {0.0, 0.02, 0.04, 0.1, 0.2, 0.4,
                                            0.6, 0.85, 1.0,  1.2, 1.3, 1.5};

/// The least value of a plan of one iteration, from the relaxed curve, or where the published
/// passes at one pair beat it (memory 5001, core 1470 does so at 29 % slowdown), from them.
double least_total(const Facts& facts, double price) {
  const Point automatic = automatic_iteration(facts);
  double curve = INFINITY;
  for (const Point vertex : facts.relaxed)
    curve = std::min(
        curve, value_of({vertex.time * automatic.time, vertex.energy * automatic.energy}, price));
  double passes = 0.0;
  for (std::size_t pass = 0; pass < facts.pass_ratio.size(); ++pass) {
    const Point total = automatic_pass(facts, pass);
    double best = INFINITY;
    for (const Point ratio : facts.pass_ratio[pass])
      best =
          std::min(best, value_of({ratio.time * total.time, ratio.energy * total.energy}, price));
    passes += best;
  }
  return std::min(curve, passes);
}

/// Of pairs that are equal but for this fraction the first, so that rounding does not decide.
constexpr double kEqual = 0.002;

std::size_t best_pair(const Surface& surface, std::size_t kernel, double price) {
  std::size_t best = 0;
  for (std::size_t pair = 1; pair < kPairs; ++pair)
    if (value_of(surface.at(kernel, pair), price) <
        (1.0 - kEqual) * value_of(surface.at(kernel, best), price))
      best = pair;
  return best;
}

/// Levels whose sum is the curve's; between prices where each kernel's level is published, the
/// surface's own levels are scaled by what they are off there.
PriceLevels levels_at(const Facts& facts, const Surface& surface, double price) {
  const double plan = plan_price(facts);
  const double weight = std::min(1.0, price / plan);
  PriceLevels result;
  result.price = price;
  double sum = 0.0;
  for (std::size_t k = 0; k < facts.kernels.size(); ++k) {
    const KernelFacts& kernel = facts.kernels[k];
    const auto own = [&](double at) {
      return value_of(surface.at(k, best_pair(surface, k, at)), at);
    };
    const double off_energy = kernel.least.energy / own(0.0);
    const double off_chosen = value_of(kernel.chosen, plan) / own(plan);
    result.best.push_back(best_pair(surface, k, price));
    result.level.push_back(own(price) * std::pow(off_energy, 1.0 - weight) *
                           std::pow(off_chosen, weight));
    sum += kernel.calls * result.level.back();
  }
  result.total = least_total(facts, price);
  if (price > 0.0)
    for (double& level : result.level) level *= result.total / sum;
  return result;
}

}  // namespace

double plan_price(const Facts& facts) {
  const auto after = std::find_if(facts.relaxed.begin(), facts.relaxed.end(),
                                  [](Point vertex) { return vertex.time >= 1.0; });
  NW_ASSERT(after != facts.relaxed.begin() && after != facts.relaxed.end());
  const Point a = *std::prev(after), b = *after, automatic = automatic_iteration(facts);
  return (a.energy - b.energy) / (b.time - a.time) * automatic.energy / automatic.time;
}

std::vector<PriceLevels> price_levels(const Facts& facts, const Surface& surface) {
  const Point automatic = automatic_iteration(facts);
  std::vector<PriceLevels> result;
  for (const double slope : kSlopes)
    result.push_back(levels_at(facts, surface, slope * automatic.energy / automatic.time));
  PriceLevels chosen = levels_at(facts, surface, plan_price(facts));
  chosen.plan = true;
  for (std::size_t k = 0; k < facts.kernels.size(); ++k) {
    chosen.best[k] = facts.kernels[k].chosen_pair;
    chosen.level[k] = value_of(facts.kernels[k].chosen, chosen.price);
  }
  result.push_back(std::move(chosen));
  return result;
}

}  // namespace negawatt::calibrate
