// SPDX-License-Identifier: Apache-2.0
#include "plan/clock_items.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace negawatt::plan {
namespace {

/// The kernel's options in one iteration. Its calls share one measured mean, so that their errors
/// add up fully: sd of the total is calls * sd of the mean.
ClockItem item_of_kernel(const trace::Kernel& kernel) {
  ClockItem item;
  const double calls = kernel.calls;
  for (const auto& option : kernel.options) {
    item.pairs.push_back(option.clocks);
    item.costs.push_back(calls * Cost{option.time, option.energy});
    item.deviations.push_back(calls * Cost{option.time_sd, option.energy_sd});
  }
  return item;
}

/// Errors of different kernels are independent.
Cost independent_sum(Cost a, Cost b) {
  return {Seconds(std::hypot(a.time.in_si(), b.time.in_si())),
          Joules(std::hypot(a.energy.in_si(), b.energy.in_si()))};
}

/// Adds a kernel to an item: only pairs that both have remain.
void join(ClockItem& item, const ClockItem& kernel) {
  std::size_t kept = 0;
  for (std::size_t a = 0, b = 0; a < item.pairs.size() && b < kernel.pairs.size();) {
    if (item.pairs[a] < kernel.pairs[b]) {
      ++a;
    } else if (kernel.pairs[b] < item.pairs[a]) {
      ++b;
    } else {
      item.pairs[kept] = item.pairs[a];
      item.costs[kept] = item.costs[a] + kernel.costs[b];
      item.deviations[kept] = independent_sum(item.deviations[a], kernel.deviations[b]);
      ++kept, ++a, ++b;
    }
  }
  item.pairs.resize(kept);
  item.costs.resize(kept);
  item.deviations.resize(kept);
}

}  // namespace

ChoiceProblem ClockItems::problem() const {
  ChoiceProblem problem;
  for (const auto& item : items) problem.add_item(item.costs);
  return problem;
}

std::vector<std::uint32_t> ClockItems::options_at(trace::ClockPair clocks) const {
  std::vector<std::uint32_t> options;
  options.reserve(items.size());
  for (const auto& item : items) {
    const auto found = std::ranges::lower_bound(item.pairs, clocks);
    NW_ASSERT(found != item.pairs.end() && *found == clocks);
    options.push_back(static_cast<std::uint32_t>(found - item.pairs.begin()));
  }
  return options;
}

ClockItems items_of(const trace::KernelTable& table, Granularity granularity) {
  ClockItems result;
  std::unordered_map<std::string_view, std::uint32_t> item_of_group;
  for (const auto& kernel : table.kernels) {
    const auto next = static_cast<std::uint32_t>(result.items.size());
    std::uint32_t index = next;
    if (granularity == Granularity::one_pair) index = 0;
    if (granularity == Granularity::group)
      index = item_of_group.try_emplace(kernel.group, next).first->second;
    if (index == next) {
      result.items.push_back(item_of_kernel(kernel));
    } else {
      join(result.items[index], item_of_kernel(kernel));
    }
    result.item_of_kernel.push_back(index);
  }
  return result;
}

}  // namespace negawatt::plan
