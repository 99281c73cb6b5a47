// SPDX-License-Identifier: Apache-2.0
//
// What it takes to carry out a clock plan: which clocks every stretch of the iteration runs at, how
// long before its start they must be asked for, and what was promised. Read from the JSON that
// `negawatt plan` writes (its key `execution`, docs/formats.md).
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
#include "trace/clocks.hpp"

namespace negawatt::govern {

/// Invocations first..last of the iteration run at one pair.
struct PlannedSegment {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  trace::ClockPair clocks;
  Seconds core_lead;    ///< the core clock is asked for this long before the segment starts
  Seconds memory_lead;  ///< likewise
  Cost promised;
};

struct Execution {
  std::vector<std::string> kernels;
  std::vector<std::uint32_t> sequence;   ///< per invocation: index into kernels
  std::vector<Seconds> expected;         ///< per invocation: its time under the plan
  std::vector<PlannedSegment> segments;  ///< cover the sequence in order
  Cost promised;                         ///< of one iteration
  Cost baseline;  ///< of one iteration at the clocks the plan is compared with
  trace::ClockPair baseline_clocks;
  std::optional<Cost> best_static;  ///< of one iteration at the best single pair, if there is one
  std::optional<Joules> bound;      ///< no plan of its granularity and budget uses less
  EvidenceKind evidence = EvidenceKind::unstated;
};

/// Fails (`invalid`) on bytes that are no plan of ours, on a plan without `execution`, and on
/// segments that do not cover the sequence exactly once in order.
[[nodiscard]] Result<Execution> parse_execution(std::string_view bytes, std::string_view file);

}  // namespace negawatt::govern
