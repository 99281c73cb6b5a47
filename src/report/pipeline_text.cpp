// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/pipeline_report.hpp"
#include "report/pipeline_view.hpp"
#include "report/text_lines.hpp"

namespace negawatt::report {
namespace {

constexpr std::size_t kMostStages = 20;

void write_totals(const PipelineReport& report, TextLines& lines) {
  constexpr std::string_view kRow = "{:<32} {:>9} {:>9}  {:>11}  {:>13}";
  const auto& before = report.baseline.total;
  const auto row = [&](std::string_view name, const Cost& cost) {
    return fmt::format(kRow, name, quantity(cost.time, 4), quantity(cost.energy, 4),
                       change(change_pct(before.time, cost.time)),
                       change(change_pct(before.energy, cost.energy)));
  };
  lines.add(fmt::format(kRow, "one iteration, all stages", "time", "energy", "time change",
                        "energy change"));
  lines.add(row("highest clocks", before));
  lines.strong(row("this plan", report.plan.total));
  lines.add(fmt::format(kRow, "lower bound", "", quantity(report.plan.lower_bound, 4), "",
                        change(change_pct(before.energy, report.plan.lower_bound))));
}

void write_stages(const PipelineReport& report, TextLines& lines) {
  constexpr std::string_view kRow = "{:<10} {:>15} {:>15} {:>9} {:>12} {:>13}";
  const auto before = stage_uses(report.problem, report.baseline);
  const auto after = stage_uses(report.problem, report.plan);
  lines.add(
      fmt::format(kRow, "stage", "forward MHz", "backward MHz", "busy", "energy", "energy change"));
  for (std::size_t s = 0; s < std::min(kMostStages, after.size()); ++s)
    lines.add(
        fmt::format(kRow, s, fmt::format("{:.0f}", after[s].forward_mhz),
                    fmt::format("{:.0f}", after[s].backward_mhz),
                    fmt::format("{:.1f} %", 100.0 * (after[s].busy.time / report.plan.total.time)),
                    quantity(after[s].busy.energy, 4),
                    change(change_pct(before[s].busy.energy, after[s].busy.energy))));
  if (after.size() > kMostStages) lines.add(counted(after.size() - kMostStages, "more stage"));
}

}  // namespace

std::string pipeline_text(const PipelineReport& report, bool colour) {
  const auto& evidence = report.problem.profile.evidence;
  TextLines lines(colour);
  lines.strong_wrapped(pipeline_headline(report));
  lines.add("");
  write_totals(report, lines);
  lines.add("");
  write_stages(report, lines);
  lines.add("");
  const auto deadline =
      report.deadline ? fmt::format("; deadline {}", quantity(*report.deadline, 4)) : "";
  lines.wrapped(fmt::format("Plan: {}{}; {}, solved in {}. Waiting stages draw {} each.",
                            pipeline_shape(report.problem), deadline, pipeline_proof(report.plan),
                            quantity(report.solve_time), quantity(report.problem.blocking)));
  lines.add(fmt::format("Evidence: {}{}{}", name_of(evidence.kind),
                        evidence.source.empty() ? "" : ", ", ascii_only(evidence.source)));
  return std::move(lines).text();
}

}  // namespace negawatt::report
