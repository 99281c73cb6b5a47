// SPDX-License-Identifier: Apache-2.0
#include "report/page_data.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostFrontierPoints = 1'000;
constexpr std::size_t kMostStaticPairs = 2'000;
constexpr std::size_t kTopKernels = 12;

Json changes(const Cost& baseline, const Cost& cost) {
  return {change_pct(baseline.time, cost.time), change_pct(baseline.energy, cost.energy)};
}

/// Points on the frontier, evenly thinned; both ends stay.
Json frontier_json(const plan::ClockPlan& plan) {
  auto points = Json::array();
  const auto size = plan.frontier.size();
  const auto shown = std::min(size, kMostFrontierPoints);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto at = shown == size ? i : i * (size - 1) / (shown - 1);
    points.push_back(changes(plan.baseline, plan.frontier[at]));
  }
  return points;
}

Json static_pairs_json(const plan::ClockPlan& plan) {
  auto points = Json::array();
  for (const auto& pair : plan.static_pairs) {
    if (points.size() == kMostStaticPairs) break;
    auto point = changes(plan.baseline, pair.total);
    point.push_back(clocks_name(pair.clocks));
    points.push_back(std::move(point));
  }
  return points;
}

/// A bound has no time of its own: it is drawn at the budget, or at the plan's time.
Json marks_json(const plan::ClockPlan& plan) {
  auto marks = Json::array();
  for (const auto& row : yardsticks(plan)) {
    const auto time = row.time.value_or(plan.budget.value_or(plan.total.time));
    marks.push_back({{"key", row.key},
                     {"name", row.name},
                     {"at", changes(plan.baseline, {time, row.energy})},
                     {"time", row.time ? quantity(*row.time, 4) : ""},
                     {"energy", quantity(row.energy, 4)}});
  }
  return marks;
}

Json use_json(std::string_view name, const Cost& baseline, const Cost& planned) {
  return {{"name", displayable(name)},
          {"baseline_j", baseline.energy.in_si()},
          {"planned_j", planned.energy.in_si()}};
}

Json groups_json(const std::vector<KernelUse>& uses) {
  auto list = Json::array();
  for (const auto& group : group_uses(uses))
    list.push_back(
        use_json(group.name.empty() ? "(no group)" : group.name, group.baseline, group.planned));
  return list;
}

/// The kernels that use most energy, and the rest as one.
Json kernels_json(std::vector<KernelUse> uses) {
  std::ranges::stable_sort(uses, std::greater{}, [](const auto& u) { return u.baseline.energy; });
  auto list = Json::array();
  Cost baseline;
  Cost planned;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const auto& use = uses[k];
    if (k < kTopKernels) {
      list.push_back(use_json(use.kernel->name, use.baseline, use.planned));
    } else {
      baseline += use.baseline;
      planned += use.planned;
    }
  }
  if (uses.size() > kTopKernels)
    list.push_back(use_json(counted(uses.size() - kTopKernels, "other kernel"), baseline, planned));
  return list;
}

Json lane_json(const Lane& lane) {
  auto labels = Json::array();
  for (const auto& label : lane.labels) labels.push_back(displayable(label));
  auto ends = Json::array();
  auto values = Json::array();
  for (const auto& run : lane.runs) {
    ends.push_back(run.end.in_si());
    values.push_back(run.label);
  }
  return {{"name", lane.name},
          {"sliced", lane.sliced},
          {"labels", std::move(labels)},
          {"ends_s", std::move(ends)},
          {"values", std::move(values)}};
}

/// Group of every kernel, as an index into the labels of the group lane: kernels take its colour.
Json kernel_groups_json(const ClockReport& report, const Lane& groups) {
  auto list = Json::array();
  for (const auto& kernel : report.table.kernels) {
    const auto found = std::ranges::find(groups.labels, kernel.group);
    list.push_back(found - groups.labels.begin());
  }
  return list;
}

}  // namespace

std::string page_data(const ClockReport& report, const std::vector<KernelUse>& uses,
                      const Iteration& iteration) {
  const auto& plan = report.plan;
  Json data = {{"frontier", frontier_json(plan)},
               {"static_pairs", static_pairs_json(plan)},
               {"marks", marks_json(plan)},
               {"groups", groups_json(uses)},
               {"kernels", kernels_json(uses)},
               {"time_s", iteration.time.in_si()},
               {"kernel_groups", kernel_groups_json(report, iteration.lanes.front())}};
  if (plan.budget) data["budget_pct"] = change_pct(plan.baseline.time, *plan.budget);
  auto& lanes = data["lanes"] = Json::array();
  for (const auto& lane : iteration.lanes) lanes.push_back(lane_json(lane));
  return script_safe(data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace negawatt::report
