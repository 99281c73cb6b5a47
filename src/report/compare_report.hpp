// SPDX-License-Identifier: Apache-2.0
//
// Runs under clock plans, side by side: what each was promised, what it achieved, and how far that
// lies from the best static pair and the bound. Every function is pure: text out, nothing opened.
// Times and energies are of one iteration, in SI units; what was not measured is absent and stays
// so. Strings of the user's files are escaped for the place they go to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cost.hpp"
#include "core/evidence.hpp"
#include "core/units.hpp"
#include "trace/clocks.hpp"

namespace negawatt::report {

/// Means over the iterations that counted, and their standard errors.
struct AchievedCost {
  std::uint64_t iterations = 0;
  std::optional<Seconds> time;
  std::optional<Seconds> time_error;
  std::optional<Joules> energy;
  std::optional<Joules> energy_error;
};

struct ComparedSegment {
  std::uint32_t first = 0;  ///< invocation
  std::uint32_t last = 0;
  trace::ClockPair clocks;
  Seconds promised;
  std::optional<Seconds> achieved;
};

/// One run; times and energies that are there are above 0.
struct ComparedRun {
  std::string label;
  std::string file;
  bool governed = false;
  std::string note;         ///< why nothing was governed, unless asked for, or not to the end
  std::string energy_note;  ///< why no energy is claimed, if so
  Cost baseline;            ///< by the plan's table, at:
  trace::ClockPair baseline_clocks;
  Cost promised;
  std::optional<Cost> best_static;  ///< promised
  std::optional<Joules> bound;
  AchievedCost achieved;
  std::vector<ComparedSegment> segments;

  // Why promised and achieved may differ.
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::string last_refusal;
  std::uint64_t changes = 0;
  std::uint64_t late = 0;
  Seconds most_late;
  std::uint64_t missed_iterations = 0;
  bool was_off_plan = false;

  std::string ending;
  std::string gpu;
  std::string plan_file;
  std::string command;
  EvidenceKind evidence = EvidenceKind::unstated;           ///< of what was achieved
  EvidenceKind promised_evidence = EvidenceKind::unstated;  ///< of the plan's table
};

/// What every output is made from: at least one run, in the order given. The first that was only
/// watched (not governed, no note), on the plan's iteration, with time and energy measured, is the
/// baseline of all whose plan starts from automatic clocks; the others are compared with their
/// table's baseline.
struct CompareReport {
  const std::vector<ComparedRun>& runs;
  std::string command;  ///< the command line that made the comparison
  std::string version;  ///< of negawatt
};

/// What runs are called: their files' names without folder and ending, or the whole path where two
/// would have the same.
[[nodiscard]] std::vector<std::string> run_labels(const std::vector<std::string>& files);

/// One object, keys as docs/formats.md lists them.
[[nodiscard]] std::string compare_json(const CompareReport& report);

/// One row per run; a field that is unknown is empty.
[[nodiscard]] std::string compare_csv(const CompareReport& report);

/// One self-contained HTML page.
[[nodiscard]] std::string compare_html(const CompareReport& report);

/// Lines of at most 80 ASCII characters; `colour` adds ANSI colours.
[[nodiscard]] std::string compare_text(const CompareReport& report, bool colour);

}  // namespace negawatt::report
