// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>

#include "report/compare_report.hpp"
#include "report/compare_view.hpp"
#include "report/compare_wording.hpp"
#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/text_lines.hpp"

namespace negawatt::report {
namespace {

constexpr std::size_t kLabelWidth = 22;
// 80 columns.
constexpr std::string_view kRow = "{:<22} {:>9} {:>9} {:>7} {:>10} {:>9} {:>8}";

std::string label_of(const ComparedRun& run) {
  return shortened(ascii_only(run.label), kLabelWidth);
}

std::string change_or_dash(std::optional<double> percent) {
  return percent ? change(*percent) : "-";
}

std::string points_or_dash(std::optional<double> value) { return value ? points(*value) : "-"; }

std::string achieved_of(const std::optional<Change>& achieved) {
  return achieved ? change(achieved->percent) : "-";
}

std::string error_of(const std::optional<Change>& achieved) {
  return achieved && achieved->error ? fmt::format("{:.2f}", *achieved->error) : "-";
}

void write_energy(const Comparison& comparison, TextLines& lines) {
  lines.add(fmt::format(kRow, "energy change", "promised", "achieved", "+-", "difference", "static",
                        "bound"));
  for (const auto& view : comparison.runs)
    lines.add(fmt::format(kRow, label_of(view.run), change_or_dash(view.promised_energy),
                          achieved_of(view.energy), error_of(view.energy),
                          points_or_dash(view.energy_difference),
                          change_or_dash(view.static_energy), change_or_dash(view.bound_energy)));
}

void write_time(const Comparison& comparison, TextLines& lines) {
  lines.add(fmt::format(kRow, "time change", "promised", "achieved", "+-", "difference", "changes",
                        "late"));
  for (const auto& view : comparison.runs) {
    const auto& run = view.run;
    lines.add(fmt::format(
        kRow, label_of(run), change_or_dash(view.promised_time), achieved_of(view.time),
        error_of(view.time), points_or_dash(view.time_difference),
        run.governed ? counted(run.changes, "") : "-", run.governed ? counted(run.late, "") : "-"));
  }
}

void write_verdicts(const Comparison& comparison, TextLines& lines) {
  for (const auto& view : comparison.runs) {
    const auto why = reasons(view.run);
    lines.wrapped(fmt::format("{}: {}.{}", ascii_only(view.run.label), verdict(view),
                              why.empty() ? "" : " " + ascii_only(why) + "."));
  }
}

}  // namespace

std::string compare_text(const CompareReport& report, bool colour) {
  const auto comparison = comparison_of(report);
  TextLines lines(colour);
  lines.strong_wrapped(ascii_only(compare_headline(comparison)));
  lines.wrapped(ascii_only(baseline_sentence(comparison)));
  lines.add("");
  write_energy(comparison, lines);
  lines.add("");
  write_time(comparison, lines);
  lines.add("");
  write_verdicts(comparison, lines);
  lines.add("");
  for (const auto& caution : cautions(comparison)) lines.wrapped("Note: " + caution);
  lines.wrapped(
      fmt::format("Evidence: achieved {}, promised {}. Differences are points of the "
                  "baseline; +- is a standard error; static and bound are promised.",
                  name_of(achieved_evidence(comparison)), name_of(promised_evidence(comparison))));
  return std::move(lines).text();
}

}  // namespace negawatt::report
