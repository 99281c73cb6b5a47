// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"
#include "report/pipeline_report.hpp"
#include "report/pipeline_view.hpp"

namespace negawatt::report {
namespace {

using Json = nlohmann::ordered_json;

// Bars of one chart; more are neither seen nor drawn quickly.
constexpr std::size_t kMostBars = 10'000;
constexpr std::size_t kMostPoints = 1'000;

double busy_share(const plan::PipelinePlan& plan, const std::vector<StageUse>& uses) {
  Seconds busy;
  for (const auto& use : uses) busy += use.busy.time;
  return busy / (static_cast<double>(uses.size()) * plan.total.time);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string tiles(const PipelineReport& report) {
  const auto& before = report.baseline.total;
  const auto& after = report.plan.total;
  const double energy = change_pct(before.energy, after.energy);
  const auto deadline = report.deadline ? ", deadline " + typographic(quantity(*report.deadline))
                                        : std::string(", no deadline set");
  const auto busy_before = busy_share(report.baseline, stage_uses(report.problem, report.baseline));
  const auto busy_after = busy_share(report.plan, stage_uses(report.problem, report.plan));
  const double gap = gap_pct(after.energy, report.plan.lower_bound);
  return tile_html({"Energy", change(energy),
                    typographic(quantity(before.energy - after.energy)) + " of " +
                        typographic(quantity(before.energy)) + " saved an iteration",
                    energy <= -kShownChange ? "good" : ""}) +
         tile_html({"Time", change(change_pct(before.time, after.time)),
                    typographic(quantity(after.time)) + " an iteration" + deadline, ""}) +
         tile_html({"Stages are busy", percent(busy_after),
                    typographic(percent(busy_before)) + " at the highest clocks", ""}) +
         tile_html({"Mean power", quantity(after.energy / after.time),
                    typographic(quantity(before.energy / before.time)) + " at the highest clocks",
                    ""}) +
         tile_html({"Gap to the lower bound", significant(gap, 2) + " %",
                    html_escaped(pipeline_proof(report.plan)) + ", solved in " +
                        typographic(quantity(report.solve_time)),
                    ""});
}

std::string cell(std::string number) {
  return fmt::format("<td class=\"n\">{}</td>", typographic(std::move(number)));
}

std::string total_row(const PipelineReport& report, std::string_view key, std::string_view name,
                      std::string_view meaning) {
  const auto& before = report.baseline.total;
  const auto& cost = key == "plan" ? report.plan.total : before;
  const bool is_bound = key == "bound";
  const auto energy = is_bound ? report.plan.lower_bound : cost.energy;
  return fmt::format("<tr class=\"{}\"><th scope=\"row\">{}</th>", key, name) +
         cell(change(change_pct(before.energy, energy))) +
         cell(is_bound ? "" : change(change_pct(before.time, cost.time))) +
         cell(quantity(energy, 4)) + cell(is_bound ? "" : quantity(cost.time, 4)) +
         fmt::format("<td class=\"wide\">{}</td></tr>\n", meaning);
}

std::string total_rows(const PipelineReport& report) {
  return total_row(report, "baseline", "highest clocks", "Every pass at its highest clock.") +
         total_row(report, "plan", "this plan", "The plan of this report.") +
         total_row(report, "bound", "lower bound",
                   "No plan that keeps the deadline uses less, even if passes could mix clocks.");
}

std::string stage_rows(const PipelineReport& report) {
  const auto before = stage_uses(report.problem, report.baseline);
  const auto after = stage_uses(report.problem, report.plan);
  std::string out;
  for (std::size_t s = 0; s < after.size(); ++s)
    out += "<tr>" + fmt::format("<th scope=\"row\" class=\"n\">{}</th>", s) +
           cell(fmt::format("{:.0f} MHz", after[s].forward_mhz)) +
           cell(fmt::format("{:.0f} MHz", after[s].backward_mhz)) +
           cell(percent(before[s].busy.time / report.baseline.total.time)) +
           cell(percent(after[s].busy.time / report.plan.total.time)) +
           cell(quantity(before[s].busy.energy, 4)) + cell(quantity(after[s].busy.energy, 4)) +
           cell(change(change_pct(before[s].busy.energy, after[s].busy.energy))) + "</tr>\n";
  return out;
}

std::string method(const PipelineReport& report) {
  return "<dl class=\"notes\">\n" +
         note_html("Pipeline", html_escaped(pipeline_shape(report.problem)) + ".") +
         note_html("Energy",
                   fmt::format("Passes cost what the profile says; a stage that waits draws {}.",
                               typographic(quantity(report.problem.blocking)))) +
         note_html("Plan",
                   "One core clock per pass, real clocks of the profile only. It may finish "
                   "before its deadline when waiting costs more than it saves.") +
         note_html("Lower bound",
                   "The optimum when a pass may run partly at one clock and partly at another: a "
                   "linear program, solved exactly. Plans with whole passes lie above it.") +
         note_html("Evidence", evidence_html(report.problem.profile.evidence)) + "</dl>\n";
}

Json changes(const Cost& before, const Cost& cost) {
  return {change_pct(before.time, cost.time), change_pct(before.energy, cost.energy)};
}

/// At most kMostPoints of them, evenly thinned; both ends stay.
Json points_json(const Cost& before, const std::vector<Cost>& costs) {
  auto list = Json::array();
  const auto shown = std::min(costs.size(), kMostPoints);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto at = shown == costs.size() ? i : i * (costs.size() - 1) / (shown - 1);
    list.push_back(changes(before, costs[at]));
  }
  return list;
}

Json mark(std::string_view key, std::string_view name, Json at, const Cost& cost) {
  return {{"key", key},
          {"name", name},
          {"at", std::move(at)},
          {"time", key == "bound" ? "" : quantity(cost.time, 4)},
          {"energy", quantity(cost.energy, 4)}};
}

Json marks(const PipelineReport& report) {
  const auto& before = report.baseline.total;
  const auto& after = report.plan.total;
  const Cost bound{report.deadline.value_or(after.time), report.plan.lower_bound};
  return Json::array({mark("baseline", "highest clocks", changes(before, before), before),
                      mark("plan", "this plan", changes(before, after), after),
                      mark("bound", "lower bound", changes(before, bound), bound)});
}

/// Stage, pass, microbatch, MHz, start, end of the instructions that start first.
Json instructions_json(const plan::PipelinePlan& plan) {
  auto instructions = plan.instructions;
  std::ranges::stable_sort(instructions, {}, &plan::InstructionChoice::start);
  instructions.resize(std::min(instructions.size(), kMostBars));
  auto list = Json::array();
  for (const auto& instruction : instructions)
    list.push_back({instruction.stage, instruction.pass == trace::Pass::forward ? 0 : 1,
                    instruction.microbatch, instruction.mhz, instruction.start.in_si(),
                    instruction.end.in_si()});
  return list;
}

std::string data(const PipelineReport& report) {
  const auto& before = report.baseline.total;
  const auto by_mhz = [](const auto& a, const auto& b) { return a.mhz < b.mhz; };
  const auto lowest = std::ranges::min_element(report.plan.instructions, by_mhz);
  const auto highest = std::ranges::max_element(report.baseline.instructions, by_mhz);
  auto stages = Json::array();
  for (std::size_t s = 0; s < report.problem.profile.stages.size(); ++s) stages.push_back(s);
  Json json = {{"frontier", points_json(before, report.frontier)},
               {"bound_line", points_json(before, report.bound_corners)},
               {"static_pairs", Json::array()},
               {"marks", marks(report)},
               {"stages", std::move(stages)},
               {"mhz_range", {lowest->mhz, highest->mhz}},
               {"longest_s", std::max(before.time, report.plan.total.time).in_si()},
               {"plan", instructions_json(report.plan)},
               {"baseline", instructions_json(report.baseline)}};
  if (report.deadline) json["budget_pct"] = change_pct(before.time, *report.deadline);
  return script_safe(json.dump(-1, ' ', true));
}

std::string stages_note(const PipelineReport& report) {
  std::string out =
      "Each bar is one pass of one microbatch; the stronger its colour, the higher its clock. "
      "Both charts have the same time axis.";
  const auto all = report.plan.instructions.size();
  if (all > kMostBars)
    out +=
        fmt::format(" Drawn are the first {} of {}.", counted(kMostBars, ""), counted(all, "pass"));
  return out;
}

std::string frontier_note(const PipelineReport& report) {
  return report.frontier.empty()
             ? "The frontier was not asked for; <code>--frontier</code> adds it."
             : "Every point of the frontier is a plan with real clocks.";
}

std::string frontier_alt(const PipelineReport& report) {
  return "Chart of energy change against time change. This plan: energy " +
         typographic(change(change_pct(report.baseline.total.energy, report.plan.total.energy))) +
         ". The table below has the values.";
}

std::string main_html(const PipelineReport& report) {
  return filled(pipeline_body(),
                {{"frontier", frontier_html("all stages at their highest clocks",
                                            frontier_note(report), frontier_alt(report))},
                 {"yardsticks", total_rows(report)},
                 {"stages_note", stages_note(report)},
                 {"plan_alt",
                  "Time axis of the plan, one row per stage. The table of stages sums "
                  "it up."},
                 {"baseline_alt", "Time axis of the baseline, one row per stage."},
                 {"stages", stage_rows(report)},
                 {"method", method(report)}});
}

}  // namespace

std::string pipeline_html(const PipelineReport& report) {
  const auto& profile = report.problem.profile;
  return page_html({.kind = "pipeline plan",
                    .file = html_escaped(profile.name),
                    .headline = html_escaped(pipeline_headline(report)),
                    .lede = html_escaped(pipeline_shape(report.problem)) + ".",
                    .evidence_kind = std::string(name_of(profile.evidence.kind)),
                    .evidence = evidence_html(profile.evidence),
                    .tiles = tiles(report),
                    .main = main_html(report),
                    .data = data(report),
                    .script = pipeline_js(),
                    .command = html_escaped(report.command),
                    .version = html_escaped(report.version)});
}

}  // namespace negawatt::report
