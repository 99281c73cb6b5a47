// SPDX-License-Identifier: Apache-2.0
#include "report/iteration.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "report/wording.hpp"

namespace negawatt::report {
namespace {

/// How often a kernel runs at each of its options; a schedule may use several.
using OptionCounts = std::vector<std::pair<const trace::KernelOption*, std::uint32_t>>;

void count_option(OptionCounts& counts, const trace::KernelOption* option) {
  const auto found = std::ranges::find(counts, option, &OptionCounts::value_type::first);
  if (found == counts.end())
    counts.emplace_back(option, 1);
  else
    ++found->second;
}

Cost cost_of_calls(const trace::KernelOption& option, std::uint32_t calls) {
  return static_cast<double>(calls) * Cost{option.time, option.energy};
}

std::uint32_t count_dominated(const trace::Kernel& kernel) {
  std::vector<Cost> costs;
  costs.reserve(kernel.options.size());
  for (const auto& option : kernel.options) costs.push_back({option.time, option.energy});
  std::ranges::sort(costs, [](const Cost& a, const Cost& b) {
    return std::pair(a.time, a.energy) < std::pair(b.time, b.energy);
  });
  std::uint32_t dominated = 0;
  Joules least(std::numeric_limits<double>::infinity());
  for (const auto& cost : costs) {
    if (cost.energy < least)
      least = cost.energy;
    else
      ++dominated;
  }
  return dominated;
}

plan::Reason reason_in_schedule(const trace::Kernel& kernel) {
  return kernel.options.size() == 1 ? plan::Reason::only_pair : plan::Reason::shared;
}

}  // namespace

std::vector<KernelUse> kernel_uses(const ClockReport& report) {
  const auto& kernels = report.table.kernels;
  std::vector<OptionCounts> counts(kernels.size());
  for_each_invocation(report, [&](const Invocation& invocation) {
    count_option(counts[invocation.kernel], invocation.option);
  });
  std::vector<KernelUse> uses(kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    auto& use = uses[k];
    const auto* baseline = kernels[k].at(report.plan.baseline_clocks);
    NW_ASSERT(baseline != nullptr && !counts[k].empty());
    use.kernel = &kernels[k];
    use.baseline = cost_of_calls(*baseline, kernels[k].calls);
    for (const auto& [option, calls] : counts[k]) use.planned += cost_of_calls(*option, calls);
    const auto most = std::ranges::max_element(counts[k], {}, &OptionCounts::value_type::second);
    use.clocks = most->first->clocks;
    use.pairs_used = static_cast<std::uint32_t>(counts[k].size());
    use.reason = reason_in_schedule(kernels[k]);
    use.dominated = count_dominated(kernels[k]);
  }
  for (const auto& choice : report.plan.choices) {
    uses[choice.kernel].reason = choice.reason;
    uses[choice.kernel].dominated = choice.dominated;
  }
  return uses;
}

std::vector<GroupUse> group_uses(const std::vector<KernelUse>& kernels) {
  std::vector<GroupUse> groups;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const auto& use : kernels) {
    const auto [found, is_new] = index.emplace(use.kernel->group, groups.size());
    if (is_new) groups.push_back({.name = use.kernel->group});
    auto& group = groups[found->second];
    ++group.kernels;
    group.baseline += use.baseline;
    group.planned += use.planned;
  }
  return groups;
}

std::vector<Yardstick> yardsticks(const plan::ClockPlan& plan) {
  std::vector<Yardstick> rows;
  rows.push_back({.key = "baseline",
                  .name = is_driver_default(plan.baseline_clocks) ? "driver default" : "baseline",
                  .meaning = "What the iteration costs without a plan.",
                  .clocks = plan.baseline_clocks,
                  .time = plan.baseline.time,
                  .energy = plan.baseline.energy});
  if (plan.best_static)
    rows.push_back({.key = "static",
                    .name = "best fixed setting",
                    .meaning = "The best that one pair for all kernels does, same objective.",
                    .clocks = plan.best_static->clocks,
                    .time = plan.best_static->total.time,
                    .energy = plan.best_static->total.energy});
  if (plan.local)
    rows.push_back({.key = "local",
                    .name = "kernel by kernel (local)",
                    .meaning = "Every kernel keeps the slowdown by itself; free clock changes.",
                    .time = plan.local->time,
                    .energy = plan.local->energy});
  if (plan.global)
    rows.push_back({.key = "global",
                    .name = "total only (global)",
                    .meaning = "Only the iteration keeps the slowdown; free clock changes.",
                    .time = plan.global->time,
                    .energy = plan.global->energy});
  rows.push_back({.key = "plan",
                  .name = "this plan",
                  .meaning = "The plan of this report.",
                  .time = plan.total.time,
                  .energy = plan.total.energy});
  rows.push_back({.key = "bound",
                  .name = "lower bound",
                  .meaning = "No plan of this granularity and budget uses less energy.",
                  .energy = plan.bound});
  return rows;
}

}  // namespace negawatt::report
