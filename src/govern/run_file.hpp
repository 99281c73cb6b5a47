// SPDX-License-Identifier: Apache-2.0
//
// What a run under a plan promised and achieved, read back from the JSON that `negawatt run --out`
// wrote (outcome.hpp). Units are SI. What was not measured is absent: a standard error of 0 is one
// that is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost.hpp"
#include "core/evidence.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "govern/governor.hpp"
#include "trace/clocks.hpp"

namespace negawatt::govern {

/// Means over the iterations that count, and their standard errors. Without an iteration nothing
/// else is there.
struct MeasuredIteration {
  std::uint64_t iterations = 0;
  std::optional<Seconds> time;
  std::optional<Seconds> time_error;
  std::optional<Joules> energy;
  std::optional<Joules> energy_error;
};

struct RanSegment {
  std::uint32_t first = 0;  ///< invocation
  std::uint32_t last = 0;
  trace::ClockPair clocks;
  Seconds promised;
  std::optional<Seconds> achieved;  ///< mean over the times it was seen from start to end
};

struct RunFile {
  bool governed = false;
  std::string note;         ///< why nothing was governed, unless asked for, or not to the end
  std::string energy_note;  ///< why no energy is claimed, if so
  Cost baseline;            ///< one iteration, by the plan's table
  trace::ClockPair baseline_clocks;
  Cost promised;
  std::optional<Cost> best_static;  ///< as the plan promised it
  std::optional<Joules> bound;
  MeasuredIteration achieved;
  std::vector<RanSegment> segments;

  // Why promised and achieved differ.
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::string last_refusal;
  Punctuality punctuality;
  double pace = 1.0;
  bool was_off_plan = false;

  std::string ending;
  std::string gpu;
  std::string plan_file;
  std::string command;
  EvidenceKind evidence = EvidenceKind::unstated;           ///< of what was achieved
  EvidenceKind promised_evidence = EvidenceKind::unstated;  ///< of the plan's table
};

/// Fails (`invalid`) on bytes that are no report of `negawatt run`, on a time or energy that cannot
/// be, and on segments that end before they start.
[[nodiscard]] Result<RunFile> parse_run(std::string_view bytes, std::string_view file);

}  // namespace negawatt::govern
