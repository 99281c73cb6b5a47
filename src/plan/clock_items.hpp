// SPDX-License-Identifier: Apache-2.0
//
// From a kernel table to a choice problem: what one decision covers (a kernel, a group, the whole
// iteration), which clock pairs it can take, and what each costs in one iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "plan/clock_plan.hpp"
#include "solve/choice.hpp"
#include "solve/robust.hpp"
#include "trace/clocks.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::plan {

/// One decision: the pairs that all its kernels were measured at, and their totals.
struct ClockItem {
  std::vector<trace::ClockPair> pairs;  ///< sorted
  std::vector<Cost> costs;              ///< per pair: sum over kernels of calls * cost
  std::vector<solve::Deviation>
      deviations;  ///< per pair, if the table has them: standard errors of those sums
};

struct ClockItems {
  std::vector<ClockItem> items;
  std::vector<std::uint32_t> item_of_kernel;

  [[nodiscard]] solve::ChoiceProblem problem() const;
  /// Position of `clocks` among the pairs of every item; all of them must have it.
  [[nodiscard]] std::vector<std::uint32_t> options_at(trace::ClockPair clocks) const;
};

/// Items of a table at granularity kernel, group or one_pair. Kernels of one item that share no
/// pair leave that item without options; with a baseline pair common to all this cannot happen.
[[nodiscard]] ClockItems items_of(const trace::KernelTable& table, Granularity granularity);

}  // namespace negawatt::plan
