// SPDX-License-Identifier: Apache-2.0
//
// The parts of the page that are readable without a script: tiles and rows of its tables, as HTML
// with everything foreign escaped. Numbers that the script sorts by stand in `data-v`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/iteration.hpp"
#include "report/lanes.hpp"
#include "report/report.hpp"

namespace negawatt::report {

/// More rows than this are neither read nor scrolled; the CSV has them all.
inline constexpr std::size_t kMostKernelRows = 500;

/// Five figures that answer the first questions.
[[nodiscard]] std::string tiles_html(const ClockReport& report);
/// Baselines, plan and bound.
[[nodiscard]] std::string yardsticks_html(const plan::ClockPlan& plan);
/// Kernels in order of the joules they save, at most kMostKernelRows.
[[nodiscard]] std::string kernels_html(const std::vector<KernelUse>& uses);

/// How long the iteration runs at each clock pair.
struct PairUse {
  trace::ClockPair clocks;
  Cost cost;
  std::uint32_t segments = 0;
};
/// The pair that holds longest first.
[[nodiscard]] std::vector<PairUse> pair_uses(const plan::ClockPlan& plan);
/// At most `most` rows.
[[nodiscard]] std::string pairs_html(const std::vector<PairUse>& pairs, std::size_t most);

}  // namespace negawatt::report
