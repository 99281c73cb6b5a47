// SPDX-License-Identifier: Apache-2.0
//
// What the outputs of a comparison of runs have in common: changes against a baseline with their
// standard errors, and whether each run kept its promise. Changes are in percent of the baseline,
// differences between changes in percentage points; more is worse.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "report/compare_report.hpp"

namespace negawatt::report {

/// A promise is kept when neither energy nor time is this many points above it.
inline constexpr double kPromiseTolerance = 0.3;
/// A run is as good as the best static pair when its energy is within this many points of it.
inline constexpr double kStaticTolerance = 0.1;

struct Change {
  double percent = 0.0;
  std::optional<double> error;  ///< standard error in points, where it is known
};

enum class Standing : unsigned char { baseline, holds, misses, unjudged };

/// One run against its baseline. What is not known of it is absent.
struct RunView {
  const ComparedRun& run;
  bool is_against_measured = false;  ///< achieved changes are against the measured baseline
  std::optional<Change> time;        ///< achieved
  std::optional<Change> energy;
  std::optional<double> promised_time;  ///< against the table's baseline, as are the next ones
  std::optional<double> promised_energy;
  std::optional<double> static_time;
  std::optional<double> static_energy;
  std::optional<double> bound_energy;
  std::optional<double> time_difference;  ///< points that achieved lies above promised
  std::optional<double> energy_difference;
  std::optional<double> against_static;  ///< points of energy above the best static pair's
  Standing standing = Standing::unjudged;
};

struct Comparison {
  const ComparedRun* baseline = nullptr;  ///< measured; null when there is none
  std::vector<RunView> runs;              ///< in the order given
};
[[nodiscard]] Comparison comparison_of(const CompareReport& report);

/// Whether the run holds or misses its promise.
[[nodiscard]] bool is_judged(const RunView& view);
/// The points by which a judged run is above its promise in energy or time, whichever is more.
[[nodiscard]] std::optional<double> shortfall(const RunView& view);
/// Of the runs that `value` is known of, the one where it is highest; null when there is none.
[[nodiscard]] const RunView* worst_by(const Comparison& comparison,
                                      std::optional<double> (*value)(const RunView&));
/// The weakest evidence behind what the runs achieved, and behind what they were promised.
[[nodiscard]] EvidenceKind achieved_evidence(const Comparison& comparison);
[[nodiscard]] EvidenceKind promised_evidence(const Comparison& comparison);

struct TimedSegment {
  const ComparedSegment* segment = nullptr;
  Seconds achieved;
};
/// The segments of a run whose achieved time is farthest from what was promised.
[[nodiscard]] std::vector<TimedSegment> farthest_segments(const ComparedRun& run, std::size_t most);
/// The last run that was governed and whose segments were timed; null when there is none.
[[nodiscard]] const ComparedRun* last_with_segments(const Comparison& comparison);

}  // namespace negawatt::report
