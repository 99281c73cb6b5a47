// SPDX-License-Identifier: Apache-2.0
#include "plan/clock_items.hpp"

#include <algorithm>  // IWYU pragma: keep
#include <string_view>
#include <unordered_map>

#include "solve/compensated_sum.hpp"

namespace negawatt::plan {
namespace {

/// What a kernel's calls of one iteration cost at one pair.
Cost total_of(const trace::KernelOption& option, double calls) {
  return {option.time * calls, option.energy * calls};
}

/// A kernel's calls share one measured mean, so that their errors add up fully: the deviation of
/// the total is calls times that of the mean.
solve::Deviation deviation_of(const trace::KernelOption& option, double calls) {
  return solve::deviation_of_product(total_of(option, calls), option.time_sd * calls,
                                     option.energy_sd * calls);
}

/// A kernel that has its clocks for itself. Large tables have millions of options: no sums here.
ClockItem item_of_one(const trace::Kernel& kernel, bool has_deviations) {
  ClockItem item;
  item.pairs.reserve(kernel.options.size());
  item.costs.reserve(kernel.options.size());
  if (has_deviations) item.deviations.reserve(kernel.options.size());
  for (const auto& option : kernel.options) {
    item.pairs.push_back(option.clocks);
    item.costs.push_back(total_of(option, kernel.calls));
    if (has_deviations) item.deviations.push_back(deviation_of(option, kernel.calls));
  }
  return item;
}

/// An item of several kernels in the making: sums that do not depend on their order.
class ItemBuilder {
 public:
  explicit ItemBuilder(const trace::Kernel& kernel)
      : pairs_(kernel.options.size()), sums_(kernel.options.size()) {
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      pairs_[p] = kernel.options[p].clocks;
      sums_[p].add(kernel.options[p], kernel.calls);
    }
  }

  /// Adds a kernel that shares the item's clocks: only pairs that both have remain.
  void join(const trace::Kernel& kernel) {
    std::size_t kept = 0;
    auto option = kernel.options.begin();
    for (std::size_t p = 0; p < pairs_.size() && option != kernel.options.end();) {
      if (pairs_[p] < option->clocks) {
        ++p;
      } else if (option->clocks < pairs_[p]) {
        ++option;
      } else {
        sums_[p].add(*option, kernel.calls);
        pairs_[kept] = pairs_[p];
        sums_[kept] = sums_[p];
        ++kept, ++p, ++option;
      }
    }
    pairs_.resize(kept);
    sums_.resize(kept);
  }

  [[nodiscard]] ClockItem item() const {
    ClockItem item{.pairs = pairs_};
    for (const auto& sum : sums_) {
      item.costs.push_back({Seconds(sum.time.value()), Joules(sum.energy.value())});
      item.deviations.push_back(sum.deviation);
    }
    return item;
  }

 private:
  struct Sum {
    solve::CompensatedSum time;
    solve::CompensatedSum energy;
    solve::Deviation deviation;

    void add(const trace::KernelOption& option, double calls) {
      const auto total = total_of(option, calls);
      time.add(total.time.in_si());
      energy.add(total.energy.in_si());
      deviation = deviation + deviation_of(option, calls);
    }
  };

  std::vector<trace::ClockPair> pairs_;
  std::vector<Sum> sums_;
};

}  // namespace

solve::ChoiceProblem ClockItems::problem() const {
  solve::ChoiceProblem problem;
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
  result.item_of_kernel.reserve(table.kernels.size());
  if (granularity == Granularity::kernel) {
    result.items.reserve(table.kernels.size());
    for (const auto& kernel : table.kernels) {
      result.item_of_kernel.push_back(static_cast<std::uint32_t>(result.items.size()));
      result.items.push_back(item_of_one(kernel, table.has_deviations));
    }
    return result;
  }
  std::vector<ItemBuilder> builders;
  std::unordered_map<std::string_view, std::uint32_t> item_of_group;
  for (const auto& kernel : table.kernels) {
    const auto next = static_cast<std::uint32_t>(builders.size());
    const auto group = granularity == Granularity::group ? std::string_view(kernel.group) : "";
    const auto index = item_of_group.try_emplace(group, next).first->second;
    if (index == next) {
      builders.emplace_back(kernel);
    } else {
      builders[index].join(kernel);
    }
    result.item_of_kernel.push_back(index);
  }
  for (const auto& builder : builders) result.items.push_back(builder.item());
  return result;
}

}  // namespace negawatt::plan
