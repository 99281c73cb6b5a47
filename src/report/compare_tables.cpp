// SPDX-License-Identifier: Apache-2.0
#include "report/compare_tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "report/compare_wording.hpp"
#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

constexpr std::size_t kMostSegments = 12;

std::string cell(std::string_view text, std::string_view tone_of_cell = {}) {
  return fmt::format("<td class=\"n {}\">{}</td>", tone_of_cell, text);
}

std::string change_cell(std::optional<double> percent) {
  return cell(percent ? typographic(change(*percent)) : "");
}

std::string achieved_cell(const std::optional<Change>& achieved) {
  if (!achieved) return cell("unknown");
  auto text = typographic(change(achieved->percent));
  if (achieved->error)
    text += fmt::format("<span class=\"clocks\">&plusmn;&nbsp;{:.2f}</span>", *achieved->error);
  return cell(text);
}

std::string difference_cell(std::optional<double> value) {
  if (!value) return cell("");
  return cell(typographic(points(*value)), *value > kPromiseTolerance ? "bad" : "");
}

std::string changes_cell(const ComparedRun& run) {
  if (!run.governed) return cell("");
  auto text = counted(run.changes, "");
  if (run.late > 0)
    text += fmt::format("<span class=\"clocks\">{} late</span>", counted(run.late, ""));
  return cell(text);
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string invocations(const ComparedSegment& segment) {
  if (segment.first == segment.last) return counted(segment.first, "");
  return counted(segment.first, "") + " to " + counted(segment.last, "");
}

std::string signed_quantity(Seconds value) {
  if (value < Seconds()) return "&minus;" + typographic(quantity(-value));
  return "+" + typographic(quantity(value));
}

std::string segment_rows(const ComparedRun& run) {
  std::string out;
  for (const auto& [segment, achieved] : farthest_segments(run, kMostSegments)) {
    const auto above = achieved - segment->promised;
    out += fmt::format("<tr><th scope=\"row\">{}</th>", invocations(*segment)) +
           cell(typographic(clock_name(segment->clocks.core))) +
           cell(typographic(clock_name(segment->clocks.memory))) +
           cell(typographic(quantity(segment->promised, 4))) +
           cell(typographic(quantity(achieved, 4))) + cell(signed_quantity(above)) +
           change_cell(change_pct(segment->promised, achieved)) +
           change_cell(100.0 * (above / run.promised.time)) + "</tr>\n";
  }
  return out;
}

std::string segments_note(const ComparedRun& run) {
  const auto timed =
      std::ranges::count_if(run.segments, [](const auto& s) { return s.achieved.has_value(); });
  Seconds above;
  for (const auto& segment : run.segments)
    if (segment.achieved) above += *segment.achieved - segment.promised;
  return fmt::format(
      "Stretches of one iteration at fixed clocks, those farthest from their promised time first: "
      "{} of {}. The {} that were timed from start to end take {} than promised, all together.",
      std::min<std::size_t>(kMostSegments, static_cast<std::size_t>(timed)),
      counted(run.segments.size(), "segment"), counted(static_cast<std::uint64_t>(timed), ""),
      above < Seconds() ? typographic(quantity(-above)) + " less"
                        : typographic(quantity(above)) + " more");
}

}  // namespace

std::string verdicts_html(const Comparison& comparison) {
  std::string out = "<dl class=\"notes\">\n";
  for (const auto& view : comparison.runs) {
    const auto why = reasons(view.run);
    const auto words = html_escaped(capitalized(verdict(view))) + ".";
    out += note_html(
        "<bdi>" + html_escaped(view.run.label) + "</bdi>",
        (view.standing == Standing::misses ? "<b class=\"bad\">" + words + "</b>" : words) +
            (why.empty()
                 ? ""
                 : " <span class=\"group\">" + html_escaped(capitalized(why)) + ".</span>"));
  }
  return out + "</dl>\n";
}

std::string runs_html(const Comparison& comparison) {
  std::string out;
  for (const auto& view : comparison.runs)
    out += fmt::format(
               "<tr class=\"{}\"><th scope=\"row\" class=\"name\"><bdi>{}</bdi><span "
               "class=\"clocks\">{}</span></th>",
               view.standing == Standing::baseline ? "baseline" : "", html_escaped(view.run.label),
               counted(view.run.achieved.iterations, "iteration")) +
           change_cell(view.promised_energy) + achieved_cell(view.energy) +
           difference_cell(view.energy_difference) + change_cell(view.static_energy) +
           change_cell(view.bound_energy) + change_cell(view.promised_time) +
           achieved_cell(view.time) + difference_cell(view.time_difference) +
           changes_cell(view.run) + "</tr>\n";
  return out;
}

std::string segments_html(const Comparison& comparison) {
  const auto* run = last_with_segments(comparison);
  if (run == nullptr) return {};
  return filled(compare_segments(), {{"run", "<bdi>" + html_escaped(run->label) + "</bdi>"},
                                     {"note", segments_note(*run)},
                                     {"rows", segment_rows(*run)}});
}

}  // namespace negawatt::report
