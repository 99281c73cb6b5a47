// SPDX-License-Identifier: Apache-2.0
#include "govern/outcome.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "core/text.hpp"

namespace negawatt::govern {
namespace {

using Json = nlohmann::ordered_json;

Json clock_json(trace::Clock clock) {
  return clock.is_automatic() ? Json("auto") : Json(clock.mhz());
}

Json cost_json(const Cost& cost) {
  return {{"time_s", cost.time.in_si()}, {"energy_j", cost.energy.in_si()}};
}

/// Time and, if it was measured, energy against `from`.
void add_changes(Json& object, const Cost& from, const Achieved& achieved) {
  object["time_change_pct"] = change_pct(from.time, achieved.mean.time);
  if (achieved.has_energy)
    object["energy_change_pct"] = change_pct(from.energy, achieved.mean.energy);
}

Json achieved_json(const RunReport& report) {
  const auto& achieved = report.ran.followed.achieved;
  Json object = {{"iterations", achieved.iterations}};
  if (achieved.iterations == 0) return object;
  object["time_s"] = achieved.mean.time.in_si();
  object["time_sd_s"] = achieved.error.time.in_si();
  if (achieved.has_energy) {
    object["energy_j"] = achieved.mean.energy.in_si();
    object["energy_sd_j"] = achieved.error.energy.in_si();
  }
  add_changes(object, report.plan.baseline, achieved);
  return object;
}

Json segments_json(const RunReport& report) {
  auto list = Json::array();
  const auto& times = report.ran.followed.segment_times;
  for (std::size_t s = 0; s < report.plan.segments.size(); ++s) {
    const auto& segment = report.plan.segments[s];
    Json object = {{"first", segment.first},
                   {"last", segment.last},
                   {"core_mhz", clock_json(segment.clocks.core)},
                   {"memory_mhz", clock_json(segment.clocks.memory)},
                   {"promised_s", segment.promised.time.in_si()},
                   {"promised_j", segment.promised.energy.in_si()}};
    if (s < times.size() && times[s].count() > 0) object["achieved_s"] = times[s].mean();
    list.push_back(std::move(object));
  }
  return list;
}

Json reasons_json(const Followed& followed) {
  Json object = {{"requests", followed.requests},
                 {"accepted", followed.accepted},
                 {"refused", followed.refused},
                 {"changes", followed.punctuality.changes},
                 {"late", followed.punctuality.late},
                 {"most_late_s", followed.punctuality.most_late.in_si()},
                 {"missed_iterations", followed.punctuality.missed_iterations},
                 {"pace", followed.pace},
                 {"off_plan", followed.was_off_plan}};
  if (!followed.last_refusal.empty()) object["last_refusal"] = followed.last_refusal;
  return object;
}

std::string row(std::string_view name, const Cost& cost, bool has_energy, const Cost& from) {
  const auto energy = has_energy ? fmt::format("{:9.2f} J", cost.energy.in_si()) : "          -";
  const auto change =
      has_energy ? fmt::format("{:+8.2f} %", change_pct(from.energy, cost.energy)) : "         -";
  return fmt::format("{:<28} {:9.4f} s {} {:+8.2f} % {}\n", name, cost.time.in_si(), energy,
                     change_pct(from.time, cost.time), change);
}

constexpr std::size_t kWidth = 80;

std::string paragraph(std::string_view sentence) {
  std::string text;
  for (const auto line : wrapped(sentence, kWidth)) (text += line) += '\n';
  return text;
}

std::string reasons_text(const RunReport& report) {
  const auto& followed = report.ran.followed;
  std::string text;
  if (!report.note.empty() && !report.note_was_said) text += paragraph(report.note);
  if (report.note.empty() && !followed.was_seen)
    text += "The program never said where it is: nothing could be measured.\n";
  if (followed.was_off_plan) text += "The program runs another iteration than the plan's.\n";
  if (!report.ran.energy_note.empty()) text += paragraph(report.ran.energy_note);
  if (followed.refused > 0)
    text += paragraph(fmt::format("{} of {} requests were refused; the last: {}", followed.refused,
                                  followed.requests, followed.last_refusal));
  if (report.governed && followed.was_seen)
    text += paragraph(
        fmt::format("{} clock changes, {} late (at most {:.2f} ms); pace {:.4f} of the plan's.",
                    followed.punctuality.changes, followed.punctuality.late,
                    followed.punctuality.most_late.in_si() * 1e3, followed.pace));
  return text;
}

}  // namespace

std::string run_json(const RunReport& report) {
  const auto& plan = report.plan;
  const auto& achieved = report.ran.followed.achieved;
  Json object;
  object["governed"] = report.governed;
  object["baseline"] = cost_json(plan.baseline);
  object["baseline"]["core_mhz"] = clock_json(plan.baseline_clocks.core);
  object["baseline"]["memory_mhz"] = clock_json(plan.baseline_clocks.memory);
  object["promised"] = cost_json(plan.promised);
  object["promised"]["time_change_pct"] = change_pct(plan.baseline.time, plan.promised.time);
  object["promised"]["energy_change_pct"] = change_pct(plan.baseline.energy, plan.promised.energy);
  object["achieved"] = achieved_json(report);
  if (plan.best_static) object["best_static"] = cost_json(*plan.best_static);
  if (plan.bound) object["bound"] = {{"energy_j", plan.bound->in_si()}};
  if (achieved.iterations > 0) {
    Json difference;
    add_changes(difference, plan.promised, achieved);
    object["difference"] = std::move(difference);
  }
  object["segments"] = segments_json(report);
  object["why"] = reasons_json(report.ran.followed);
  if (!report.note.empty()) object["note"] = report.note;
  if (!report.ran.energy_note.empty()) object["energy_note"] = report.ran.energy_note;
  object["ending"] = to_string(report.ran.ending);
  object["gpu"] = report.gpu;
  object["plan_file"] = report.plan_file;
  object["command"] = report.command;
  object["evidence"] = name_of(report.evidence);
  object["promised_evidence"] = name_of(plan.evidence);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string run_text(const RunReport& report) {
  const auto& plan = report.plan;
  const auto& achieved = report.ran.followed.achieved;
  std::string text = fmt::format("{:<28} {:>11} {:>11} {:>10} {:>10}\n", "one iteration", "time",
                                 "energy", "time", "energy");
  text += row("baseline (by the table)", plan.baseline, true, plan.baseline);
  text += row("promised by the plan", plan.promised, true, plan.baseline);
  if (achieved.iterations > 0)
    text += row(fmt::format("achieved ({} iterations)", achieved.iterations), achieved.mean,
                achieved.has_energy, plan.baseline);
  text += reasons_text(report);
  text += paragraph("GPU: " + report.gpu);
  text += fmt::format("Evidence: {} (promised: {}).\n", name_of(report.evidence),
                      name_of(plan.evidence));
  return text;
}

}  // namespace negawatt::govern
