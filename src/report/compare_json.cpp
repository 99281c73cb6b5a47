// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "report/compare_report.hpp"
#include "report/compare_view.hpp"
#include "report/compare_wording.hpp"

namespace negawatt::report {
namespace {

using Json = nlohmann::ordered_json;

void add(Json& object, const char* key, std::optional<double> value) {
  if (value) object[key] = *value;
}

template <class Unit>
void add_quantity(Json& object, const char* key, std::optional<Unit> value) {
  if (value) object[key] = value->in_si();
}

void add_measured(Json& object, const AchievedCost& achieved) {
  object["iterations"] = achieved.iterations;
  add_quantity(object, "time_s", achieved.time);
  add_quantity(object, "time_sd_s", achieved.time_error);
  add_quantity(object, "energy_j", achieved.energy);
  add_quantity(object, "energy_sd_j", achieved.energy_error);
}

Json cost_json(const Cost& cost, std::optional<double> time, std::optional<double> energy) {
  Json object = {{"time_s", cost.time.in_si()}, {"energy_j", cost.energy.in_si()}};
  add(object, "time_change_pct", time);
  add(object, "energy_change_pct", energy);
  return object;
}

Json achieved_json(const RunView& view) {
  Json object = Json::object();
  add_measured(object, view.run.achieved);
  if (view.time) object["time_change_pct"] = view.time->percent;
  if (view.time) add(object, "time_change_sd_pct", view.time->error);
  if (view.energy) object["energy_change_pct"] = view.energy->percent;
  if (view.energy) add(object, "energy_change_sd_pct", view.energy->error);
  object["against"] = view.is_against_measured ? "run" : "table";
  return object;
}

Json why_json(const ComparedRun& run) {
  Json object = {{"changes", run.changes},
                 {"late", run.late},
                 {"most_late_s", run.most_late.in_si()},
                 {"requests", run.requests},
                 {"refused", run.refused},
                 {"missed_iterations", run.missed_iterations},
                 {"off_plan", run.was_off_plan}};
  if (!run.last_refusal.empty()) object["last_refusal"] = run.last_refusal;
  return object;
}

Json run_object(const RunView& view) {
  const auto& run = view.run;
  Json object = {{"run", run.label}, {"file", run.file}, {"governed", run.governed}};
  if (!run.note.empty()) object["note"] = run.note;
  if (!run.energy_note.empty()) object["energy_note"] = run.energy_note;
  if (view.promised_time) {
    object["promised"] = cost_json(run.promised, view.promised_time, view.promised_energy);
    if (run.best_static)
      object["best_static"] = cost_json(*run.best_static, view.static_time, view.static_energy);
    if (run.bound) object["bound"] = {{"energy_j", run.bound->in_si()}};
    if (run.bound) add(object["bound"], "energy_change_pct", view.bound_energy);
  }
  object["achieved"] = achieved_json(view);
  if (view.time_difference) {
    auto& difference = object["difference"];
    difference["time_points"] = *view.time_difference;
    add(difference, "energy_points", view.energy_difference);
    add(difference, "energy_against_best_static_points", view.against_static);
  }
  object["why"] = why_json(run);
  object["verdict"] = verdict(view);
  object["ending"] = run.ending;
  object["gpu"] = run.gpu;
  object["plan_file"] = run.plan_file;
  object["command"] = run.command;
  object["evidence"] = name_of(run.evidence);
  object["promised_evidence"] = name_of(run.promised_evidence);
  return object;
}

}  // namespace

std::string compare_json(const CompareReport& report) {
  const auto comparison = comparison_of(report);
  Json object;
  if (comparison.baseline != nullptr) {
    object["baseline"]["run"] = comparison.baseline->label;
    add_measured(object["baseline"], comparison.baseline->achieved);
  }
  auto& runs = object["runs"] = Json::array();
  for (const auto& view : comparison.runs) runs.push_back(run_object(view));
  object["headline"] = compare_headline(comparison);
  object["cautions"] = cautions(comparison);
  object["evidence"] = name_of(achieved_evidence(comparison));
  object["promised_evidence"] = name_of(promised_evidence(comparison));
  object["command"] = report.command;
  object["version"] = report.version;
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace negawatt::report
