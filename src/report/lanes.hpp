// SPDX-License-Identifier: Apache-2.0
//
// The time axis of one iteration as lanes: what holds when (group, kernel, core clock, memory
// clock). A lane is a list of runs; one with more runs than a screen shows is cut into equal
// slices of time, each of which shows one of the labels that hold during it, in such a way that
// every label's share of the whole time is kept. Memory is bounded, whatever the sequence's length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "report/report.hpp"

namespace negawatt::report {

inline constexpr std::size_t kMostRuns = 2'000;

struct Lane {
  struct Run {
    Seconds end;  ///< it starts where the one before ends
    std::uint32_t label = 0;
  };
  std::string name;
  std::vector<std::string> labels;
  std::vector<Run> runs;
  bool sliced = false;    ///< runs are slices, not exact
  std::uint64_t all = 0;  ///< runs of the exact lane
};

struct Iteration {
  Seconds time;
  std::vector<Lane> lanes;  ///< group, kernel, core clock, memory clock
};

[[nodiscard]] Iteration iteration_lanes(const ClockReport& report, std::size_t most = kMostRuns);

}  // namespace negawatt::report
