// SPDX-License-Identifier: Apache-2.0
//
// What no pair may beat. At a price (joules that one second is worth) the best pair of a kernel
// costs some least value of energy + price * time. Published are: at price 0 each kernel's least
// energy, at the price of the plan without slowdown each kernel's chosen pair, and at every price
// the total, from the relaxed curve. In between a surface's own least values share out the total.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate_gpt3_xl/facts.hpp"
#include "calibrate_gpt3_xl/surface.hpp"

namespace negawatt::calibrate {

/// energy + price * time in joules; a price in watts.
[[nodiscard]] constexpr double value_of(Point cost, double price) {
  return cost.energy + price * cost.time;
}

/// The published plan's price without slowdown: the slope of the relaxed curve there, in watts.
[[nodiscard]] double plan_price(const Facts& facts);

struct PriceLevels {
  double price = 0.0;
  bool plan = false;   ///< the published plan's: best pairs and levels are the chosen ones
  double total = 0.0;  ///< of the iteration, from the relaxed curve
  std::vector<std::size_t> best;  ///< per kernel: the pair that reaches its level
  std::vector<double> level;      ///< per kernel: least value of one call
};

/// Levels at a range of prices, for the best pairs that `surface` has now.
[[nodiscard]] std::vector<PriceLevels> price_levels(const Facts& facts, const Surface& surface);

}  // namespace negawatt::calibrate
