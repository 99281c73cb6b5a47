// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "report/pipeline_report.hpp"

namespace negawatt::report {
namespace {

using Json = nlohmann::ordered_json;

Json cost_json(const Cost& cost) {
  return {{"time_s", cost.time.in_si()}, {"energy_j", cost.energy.in_si()}};
}

Json costs_json(const std::vector<Cost>& costs) {
  auto list = Json::array();
  for (const auto& cost : costs) list.push_back(cost_json(cost));
  return list;
}

Json plan_object(const PipelineReport& report) {
  const auto& plan = report.plan;
  auto object = cost_json(plan.total);
  object["time_change_pct"] = change_pct(report.baseline.total.time, plan.total.time);
  object["energy_change_pct"] = change_pct(report.baseline.total.energy, plan.total.energy);
  auto& list = object["instructions"] = Json::array();
  for (const auto& instruction : plan.instructions)
    list.push_back({{"stage", instruction.stage},
                    {"microbatch", instruction.microbatch},
                    {"instruction", trace::name_of(instruction.pass)},
                    {"frequency", instruction.mhz},
                    {"start_s", instruction.start.in_si()},
                    {"end_s", instruction.end.in_si()}});
  return object;
}

}  // namespace

std::string pipeline_json(const PipelineReport& report) {
  const auto& problem = report.problem;
  const bool is_gpipe = problem.schedule == plan::PipelineSchedule::gpipe;
  Json object;
  object["baseline"] = cost_json(report.baseline.total);
  object["plan"] = plan_object(report);
  object["bound"] = {{"energy_j", report.plan.lower_bound.in_si()}};
  object["gap_pct"] = gap_pct(report.plan.total.energy, report.plan.lower_bound);
  if (report.deadline) object["deadline_s"] = report.deadline->in_si();
  if (!report.frontier.empty()) object["frontier"] = costs_json(report.frontier);
  if (!report.bound_corners.empty()) object["bound_frontier"] = costs_json(report.bound_corners);
  object["solve_s"] = report.solve_time.in_si();
  object["evidence"] = name_of(problem.profile.evidence.kind);
  if (!problem.profile.evidence.source.empty())
    object["evidence_from"] = problem.profile.evidence.source;
  object["request"] = {{"stages", problem.profile.stages.size()},
                       {"microbatches", problem.microbatches},
                       {"schedule", is_gpipe ? "gpipe" : "1f1b"},
                       {"blocking_w", problem.blocking.in_si()}};
  object["profile"] = problem.profile.name;
  object["command"] = report.command;
  object["version"] = report.version;
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace negawatt::report
