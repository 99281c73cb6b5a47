// SPDX-License-Identifier: Apache-2.0
#include "solve/hull.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/cost.hpp"

namespace negawatt::solve {
namespace {

/// Whether `middle` lies on or above the line from `fast` to `slow`. Cross product, in J s.
bool is_above_line(Cost fast, Cost middle, Cost slow) {
  const double to_middle = (middle.time - fast.time).in_si() * (slow.energy - fast.energy).in_si();
  const double to_slow = (slow.time - fast.time).in_si() * (middle.energy - fast.energy).in_si();
  return to_slow >= to_middle;
}

}  // namespace

std::vector<std::uint32_t> pareto_options(std::span<const Cost> options) {
  std::vector<std::uint32_t> order(options.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Cost& x = options[a];
    const Cost& y = options[b];
    if (x.time != y.time) return x.time < y.time;
    if (x.energy != y.energy) return x.energy < y.energy;
    return a < b;
  });
  std::size_t kept = 0;
  for (const auto candidate : order) {
    if (kept == 0 || options[candidate].energy < options[order[kept - 1]].energy) {
      order[kept++] = candidate;
    }
  }
  order.resize(kept);
  return order;
}

// Monotone chain (Andrew 1979) over the Pareto options, which are already sorted.
std::vector<std::uint32_t> hull_options(std::span<const Cost> options) {
  std::vector<std::uint32_t> hull = pareto_options(options);
  std::size_t kept = 0;
  for (const auto next : hull) {
    while (kept >= 2 &&
           is_above_line(options[hull[kept - 2]], options[hull[kept - 1]], options[next])) {
      --kept;
    }
    hull[kept++] = next;
  }
  hull.resize(kept);
  return hull;
}

}  // namespace negawatt::solve
