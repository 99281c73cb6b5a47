// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "report/compare_data.hpp"
#include "report/compare_report.hpp"
#include "report/compare_tables.hpp"
#include "report/compare_view.hpp"
#include "report/compare_wording.hpp"
#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"

namespace negawatt::report {
namespace {

std::string_view origin(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::measured:
      return "measured";
    case EvidenceKind::modelled:
      return "taken from a model";
    case EvidenceKind::simulated:
      return "simulated";
    case EvidenceKind::published:
      return "published";
    case EvidenceKind::unstated:
      return "of unstated origin";
  }
  return {};
}

std::string evidence_sentence(const Comparison& comparison) {
  const auto& gpu = comparison.runs.front().run.gpu;
  return fmt::format("What was achieved was {}{}; what was promised rests on numbers that are {}.",
                     origin(achieved_evidence(comparison)),
                     gpu.empty() ? "" : " on <bdi>" + html_escaped(gpu) + "</bdi>",
                     origin(promised_evidence(comparison)));
}

std::string method(const Comparison& comparison) {
  std::string files;
  for (const auto& view : comparison.runs)
    files += fmt::format("{}<bdi>{}</bdi> (plan <bdi>{}</bdi>)", files.empty() ? "" : ", ",
                         html_escaped(view.run.file), html_escaped(view.run.plan_file));
  return "<dl class=\"notes\">\n" +
         note_html("Promised",
                   "What the plan's totals are against the baseline of its own table, as are the "
                   "best static pair and the bound.") +
         note_html("Achieved",
                   "Means over the iterations that counted, against the measured baseline if there "
                   "is one. &plusmn; is one standard error, that of the baseline included.") +
         note_html("Difference",
                   "Achieved less promised, in points of the baseline: above zero is "
                   "more energy or time than promised.") +
         note_html("Holds its promise",
                   fmt::format("Neither energy nor time is more than {} points above it.",
                               kPromiseTolerance)) +
         note_html("Best static pair",
                   fmt::format("The best that one locked pair can do by the plan's table. Level "
                               "means within {} points of energy.",
                               kStaticTolerance)) +
         note_html("Lower bound", "No plan of the same granularity and budget uses less energy.") +
         note_html("Late",
                   "A clock change that took effect over 100 &micro;s after the kernel it "
                   "was meant for began.") +
         note_html("Evidence", evidence_sentence(comparison)) + note_html("Files", files + ".") +
         "</dl>\n";
}

std::string cautions_html(const Comparison& comparison) {
  std::string out;
  for (const auto& caution : cautions(comparison))
    out += fmt::format("<p class=\"note\"><b>Note.</b> {}</p>\n", html_escaped(caution));
  return out;
}

std::string main_html(const Comparison& comparison) {
  const bool is_measured = comparison.baseline != nullptr;
  return filled(compare_body(),
                {{"changes_note",
                  std::string("Runs in the order given; down is less. Zero is ") +
                      (is_measured ? "automatic clocks." : "the baseline of the plan's table.") +
                      " Whiskers are one standard error."},
                 {"energy_alt", energy_alt(comparison)},
                 {"time_alt", time_alt(comparison)},
                 {"verdicts", verdicts_html(comparison)},
                 {"runs", runs_html(comparison)},
                 {"cautions", cautions_html(comparison)},
                 {"segments", segments_html(comparison)},
                 {"method", method(comparison)}});
}

/// A number stays with its percent sign.
std::string unbroken(std::string html) {
  for (auto at = html.find(" %"); at != std::string::npos; at = html.find(" %", at))
    html.replace(at, 1, "&nbsp;");
  return html;
}

/// The command that all runs have in common, or how many there are.
std::string subject(const CompareReport& report) {
  const auto& command = report.runs.front().command;
  const auto same = [&command](const ComparedRun& run) { return run.command == command; };
  if (!command.empty() && std::ranges::all_of(report.runs, same)) return command;
  return counted(report.runs.size(), "run");
}

}  // namespace

std::string compare_html(const CompareReport& report) {
  const auto comparison = comparison_of(report);
  return page_html({.kind = "promised and achieved",
                    .file = html_escaped(subject(report)),
                    .headline = html_escaped(compare_headline(comparison)),
                    .lede = unbroken(html_escaped(baseline_sentence(comparison))),
                    .evidence_kind = std::string(name_of(achieved_evidence(comparison))),
                    .evidence = evidence_sentence(comparison),
                    .tiles = compare_tiles_html(comparison),
                    .main = main_html(comparison),
                    .data = compare_data(comparison),
                    .script = compare_js(),
                    .command = html_escaped(report.command),
                    .version = html_escaped(report.version)});
}

}  // namespace negawatt::report
