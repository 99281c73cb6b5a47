// SPDX-License-Identifier: Apache-2.0
#include "report/compare_view.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/wording.hpp"

namespace negawatt::report {
namespace {

bool is_only_watched(const ComparedRun& run) { return !run.governed && run.note.empty(); }

bool is_baseline(const ComparedRun& run) {
  return is_only_watched(run) && !run.was_off_plan && run.achieved.time && run.achieved.energy;
}

/// What a change is against; the table's baseline is taken as exact, since the plan was.
template <class Unit>
struct Reference {
  Unit value;
  std::optional<Unit> error;
};

/// Standard error by propagation through the ratio of two independent means.
template <class Unit>
std::optional<Change> measured_change(const Reference<Unit>& from, std::optional<Unit> to,
                                      std::optional<Unit> error) {
  if (!to) return std::nullopt;
  Change change{.percent = change_pct(from.value, *to)};
  if (error && from.error)
    change.error = 100.0 * (*to / from.value) * std::hypot(*error / *to, *from.error / from.value);
  return change;
}

template <class Unit>
Reference<Unit> reference(Unit by_table, std::optional<Unit> measured, std::optional<Unit> error) {
  if (measured) return {*measured, error};
  return {by_table, Unit()};
}

void add_achieved(RunView& view, const ComparedRun* baseline) {
  const auto& run = view.run;
  const bool is_itself = &run == baseline;
  view.is_against_measured =
      is_itself || (baseline != nullptr && is_driver_default(run.baseline_clocks));
  const auto measured = view.is_against_measured ? baseline->achieved : AchievedCost{};
  const auto& achieved = run.achieved;
  view.time = measured_change(reference(run.baseline.time, measured.time, measured.time_error),
                              achieved.time, achieved.time_error);
  view.energy =
      measured_change(reference(run.baseline.energy, measured.energy, measured.energy_error),
                      achieved.energy, achieved.energy_error);
  if (!is_itself) return;
  for (auto* change : {&view.time, &view.energy})
    if (*change) (*change)->error.reset();  // no change, for certain
}

void add_promised(RunView& view) {
  const auto& run = view.run;
  view.promised_time = change_pct(run.baseline.time, run.promised.time);
  view.promised_energy = change_pct(run.baseline.energy, run.promised.energy);
  if (run.best_static) {
    view.static_time = change_pct(run.baseline.time, run.best_static->time);
    view.static_energy = change_pct(run.baseline.energy, run.best_static->energy);
  }
  if (run.bound) view.bound_energy = change_pct(run.baseline.energy, *run.bound);
  if (view.time) view.time_difference = view.time->percent - *view.promised_time;
  if (!view.energy) return;
  view.energy_difference = view.energy->percent - *view.promised_energy;
  if (view.static_energy) view.against_static = view.energy->percent - *view.static_energy;
}

Standing standing_of(const RunView& view) {
  if (!view.run.governed || view.run.was_off_plan || !view.time) return Standing::unjudged;
  const bool misses = view.time_difference.value_or(0.0) > kPromiseTolerance ||
                      view.energy_difference.value_or(0.0) > kPromiseTolerance;
  return misses ? Standing::misses : Standing::holds;
}

RunView view_of(const ComparedRun& run, const ComparedRun* baseline) {
  RunView view{.run = run};
  add_achieved(view, baseline);
  if (!is_only_watched(run)) add_promised(view);
  view.standing = &run == baseline ? Standing::baseline : standing_of(view);
  return view;
}

EvidenceKind weakest(const Comparison& comparison, EvidenceKind ComparedRun::* kind) {
  auto found = EvidenceKind::measured;
  for (const auto& view : comparison.runs) found = std::max(found, view.run.*kind);
  return found;
}

}  // namespace

Comparison comparison_of(const CompareReport& report) {
  Comparison comparison;
  const auto found = std::ranges::find_if(report.runs, is_baseline);
  if (found != report.runs.end()) comparison.baseline = &*found;
  for (const auto& run : report.runs) comparison.runs.push_back(view_of(run, comparison.baseline));
  return comparison;
}

bool is_judged(const RunView& view) {
  return view.standing == Standing::holds || view.standing == Standing::misses;
}

std::optional<double> shortfall(const RunView& view) {
  if (!is_judged(view)) return std::nullopt;
  const double time = view.time_difference.value_or(0.0);
  return std::max(time, view.energy_difference.value_or(time));
}

const RunView* worst_by(const Comparison& comparison,
                        std::optional<double> (*value)(const RunView&)) {
  const RunView* worst = nullptr;
  double highest = 0.0;
  for (const auto& view : comparison.runs) {
    const auto here = value(view);
    if (!here || (worst != nullptr && *here <= highest)) continue;
    worst = &view;
    highest = *here;
  }
  return worst;
}

EvidenceKind achieved_evidence(const Comparison& comparison) {
  return weakest(comparison, &ComparedRun::evidence);
}

EvidenceKind promised_evidence(const Comparison& comparison) {
  return weakest(comparison, &ComparedRun::promised_evidence);
}

std::vector<TimedSegment> farthest_segments(const ComparedRun& run, std::size_t most) {
  std::vector<TimedSegment> segments;
  for (const auto& segment : run.segments)
    if (segment.achieved) segments.push_back({&segment, *segment.achieved});
  std::ranges::stable_sort(segments, std::greater{}, [](const TimedSegment& timed) {
    return std::abs((timed.achieved - timed.segment->promised).in_si());
  });
  segments.resize(std::min(segments.size(), most));
  return segments;
}

const ComparedRun* last_with_segments(const Comparison& comparison) {
  const ComparedRun* last = nullptr;
  for (const auto& view : comparison.runs)
    if (view.run.governed && !farthest_segments(view.run, 1).empty()) last = &view.run;
  return last;
}

std::vector<std::string> run_labels(const std::vector<std::string>& files) {
  const auto stem = [](const std::string& file) {
    const auto name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
    const auto dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
  };
  std::vector<std::string> labels;
  for (const auto& file : files) {
    const auto same = [&](const std::string& other) { return stem(other) == stem(file); };
    labels.push_back(std::ranges::count_if(files, same) > 1 ? file : stem(file));
  }
  return labels;
}

}  // namespace negawatt::report
