// SPDX-License-Identifier: Apache-2.0
//
// Two small systems and six requests, for the tests of assignments.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "plan/assign.hpp"

namespace negawatt::plan::testing {

inline trace::SystemRun run(std::uint32_t input, std::uint32_t output, double joules,
                            double seconds) {
  return {{input, output}, {.time = Seconds(seconds), .energy = Joules(joules)}};
}

/// The small system is cheap and slow for short requests and dear for long ones.
inline trace::SystemTable two_systems() {
  trace::SystemTable table{.evidence = {EvidenceKind::measured, "meter"}, .name = "s.csv"};
  table.systems.push_back(
      {.name = "small",
       .model = "m",
       .runs = {run(8, 8, 1, 4), run(8, 64, 12, 40), run(64, 8, 9, 12), run(64, 64, 40, 90)}});
  table.systems.push_back(
      {.name = "large",
       .model = "m",
       .runs = {run(8, 8, 4, 1), run(8, 64, 10, 5), run(64, 8, 6, 1), run(64, 64, 16, 6)}});
  return table;
}

inline Workload requests(const std::vector<trace::RequestSize>& sizes) {
  std::vector<trace::Request> list;
  for (const auto size : sizes)
    list.push_back({.input_tokens = size.input_tokens, .output_tokens = size.output_tokens});
  return workload_of(list);
}

/// Six requests: three of (8, 8), and one of each other size.
inline Workload six() { return requests({{8, 8}, {64, 64}, {8, 8}, {8, 64}, {64, 8}, {8, 8}}); }

inline const Assignment& named(const AssignPlan& plan, std::string_view name) {
  if (plan.chosen.name == name) return plan.chosen;
  const auto found = std::ranges::find(plan.baselines, name, &Assignment::name);
  NW_ASSERT(found != plan.baselines.end());
  return *found;
}

inline std::string message_for(const AssignRequest& request, const Workload& workload = six()) {
  const auto plan = plan_assignment(two_systems(), workload, request);
  return plan ? "accepted" : plan.error().message;
}

}  // namespace negawatt::plan::testing
