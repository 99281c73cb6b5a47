// SPDX-License-Identifier: Apache-2.0
#include "report/compare_data.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "report/escape.hpp"
#include "report/numbers.hpp"

namespace negawatt::report {
namespace {

using Json = nlohmann::ordered_json;

Json value_or_null(std::optional<double> value) { return value ? Json(*value) : Json(); }

/// Runs that a chart shows: the measured baseline is its zero.
std::vector<const RunView*> drawn(const Comparison& comparison) {
  std::vector<const RunView*> views;
  for (const auto& view : comparison.runs)
    if (view.standing != Standing::baseline) views.push_back(&view);
  return views;
}

struct Levels {
  std::optional<double> promised;
  std::optional<Change> achieved;
  std::optional<double> best_static;
  std::optional<double> bound;
};

Json levels_json(const Comparison& comparison, Levels (*levels_of)(const RunView&)) {
  Json json = {{"promised", Json::array()},
               {"achieved", Json::array()},
               {"errors", Json::array()},
               {"best_static", Json::array()},
               {"bound", Json::array()}};
  for (const auto* view : drawn(comparison)) {
    const auto levels = levels_of(*view);
    const auto& achieved = levels.achieved;
    json["promised"].push_back(value_or_null(levels.promised));
    json["achieved"].push_back(achieved ? Json(achieved->percent) : Json());
    json["errors"].push_back(achieved ? value_or_null(achieved->error) : Json());
    json["best_static"].push_back(value_or_null(levels.best_static));
    json["bound"].push_back(value_or_null(levels.bound));
  }
  return json;
}

Levels energy_levels(const RunView& view) {
  return {view.promised_energy, view.energy, view.static_energy, view.bound_energy};
}

Levels time_levels(const RunView& view) {
  return {view.promised_time, view.time, view.static_time, std::nullopt};
}

/// For readers who do not see the chart.
std::string alt(const Comparison& comparison, std::string_view what,
                Levels (*levels_of)(const RunView&)) {
  auto out = fmt::format("Bar chart of the change of {}, promised and achieved.", what);
  for (const auto* view : drawn(comparison)) {
    const auto levels = levels_of(*view);
    if (!levels.promised || !levels.achieved) continue;
    out += fmt::format(" {}: {}, {}.", html_escaped(view->run.label),
                       typographic(change(*levels.promised)),
                       typographic(change(levels.achieved->percent)));
  }
  return out + " The table below has the values.";
}

}  // namespace

std::string compare_data(const Comparison& comparison) {
  auto runs = Json::array();
  for (const auto* view : drawn(comparison)) runs.push_back(displayable(view->run.label));
  const Json json = {{"runs", std::move(runs)},
                     {"energy", levels_json(comparison, energy_levels)},
                     {"time", levels_json(comparison, time_levels)}};
  return script_safe(json.dump(-1, ' ', true));
}

std::string energy_alt(const Comparison& comparison) {
  return alt(comparison, "energy", energy_levels);
}

std::string time_alt(const Comparison& comparison) { return alt(comparison, "time", time_levels); }

}  // namespace negawatt::report
