// SPDX-License-Identifier: Apache-2.0
//
// Closes the duality gap of small problems: labels (time, energy) of partial schedules, built from
// the cut backwards and pruned by the Lagrangian bound of the dynamic program at several prices
// (label setting with bounds, as Dumitrescu and Boland 2003 for constrained shortest paths).
// Exact around the cycle: a label knows the pair across the cut and how long it was held before.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plan/schedule_tables.hpp"

namespace negawatt::plan {

struct LabelRequest {
  double budget = 0.0;          ///< seconds
  double longest = 0.0;         ///< seconds that still count as keeping it
  std::vector<double> prices;   ///< watts; the one with the best bound first
  double energy_below = 0.0;    ///< joules; a schedule that needs this much or more is of no use
  std::size_t most_labels = 0;  ///< gives up beyond
};

struct LabelAnswer {
  bool is_complete = false;  ///< no schedule keeps the budget below energy_below, but this one
  std::optional<Assignment> assignment;  ///< the best found
  std::size_t labels = 0;                ///< made
};

/// Bytes taken beside the labels.
[[nodiscard]] std::size_t label_bytes_for(const ScheduleTables& tables, std::size_t prices);

/// `tables` are told from the cut on, and so is the answer. Schedules without any change are left
/// to the caller.
[[nodiscard]] LabelAnswer search_labels(const ScheduleTables& tables, const LabelRequest& request);

}  // namespace negawatt::plan
