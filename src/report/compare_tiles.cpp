// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "report/compare_tables.hpp"
#include "report/compare_view.hpp"
#include "report/compare_wording.hpp"
#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"

namespace negawatt::report {
namespace {

std::string_view tone(double value, double tolerance) {
  return value > tolerance ? "bad" : value < -tolerance ? "good" : "";
}

std::optional<double> energy_percent(const RunView& view) {
  if (!view.energy || !view.promised_energy) return std::nullopt;
  return view.energy->percent;
}

std::optional<double> energy_saved(const RunView& view) {
  const auto percent = energy_percent(view);
  return percent ? std::optional(-*percent) : std::nullopt;
}

std::optional<double> time_percent(const RunView& view) {
  if (!view.time || !view.promised_time) return std::nullopt;
  return view.time->percent;
}

std::optional<double> against_static(const RunView& view) { return view.against_static; }

std::string in_run(const RunView& view, std::string_view text) {
  return fmt::format("<bdi>{}</bdi>, {}", html_escaped(view.run.label), text);
}

std::string tile_of(std::string_view name, const RunView* view, std::string value,
                    std::string_view detail, std::string_view tone_of_tile) {
  if (view == nullptr) return tile_html({std::string(name), "unknown", "not measured", ""});
  return tile_html({std::string(name), std::move(value), in_run(*view, detail), tone_of_tile});
}

std::string late_tile(const Comparison& comparison) {
  std::uint64_t changes = 0;
  std::uint64_t late = 0;
  Seconds most;
  for (const auto& view : comparison.runs) {
    changes += view.run.changes;
    late += view.run.late;
    most = std::max(most, view.run.most_late);
  }
  const auto detail = "of " + counted(changes, "") +
                      (late > 0 ? ", at most by " + typographic(quantity(most)) : "");
  return tile_html({"Clock changes late", counted(late, ""), detail, ""});
}

}  // namespace

std::string compare_tiles_html(const Comparison& comparison) {
  const auto value_of = [](const RunView* view, std::optional<double> (*value)(const RunView&)) {
    return view == nullptr ? 0.0 : value(*view).value_or(0.0);
  };
  const auto* saved = worst_by(comparison, energy_saved);
  const auto* slowest = worst_by(comparison, time_percent);
  const auto* farthest = worst_by(comparison, shortfall);
  const auto* fixed = worst_by(comparison, against_static);
  const double energy = value_of(saved, energy_percent);
  const double above = value_of(farthest, shortfall);
  const double over_static = value_of(fixed, against_static);
  return tile_of("Most energy saved", saved, change(energy), "achieved",
                 tone(energy, kShownChange)) +
         tile_of("Longest iteration", slowest, change(value_of(slowest, time_percent)), "achieved",
                 "") +
         tile_of("Most above its promise", farthest, points(above), "points of energy or time",
                 above > kPromiseTolerance ? "bad" : "") +
         tile_of("Against one fixed setting", fixed, points(over_static),
                 "points of energy at worst", tone(over_static, kStaticTolerance)) +
         late_tile(comparison);
}

}  // namespace negawatt::report
