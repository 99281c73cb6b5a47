// SPDX-License-Identifier: Apache-2.0
//
// Least energy * time^exponent over all schedules. The product is quasi-concave, so its minimum
// lies on a vertex of the lower convex hull of all schedules' (time, energy); the hull is explored
// between two vertices only while the corner of their supporting lines could hold a smaller
// product.
#pragma once

#include <optional>

#include "plan/schedule.hpp"
#include "plan/schedule_tables.hpp"

namespace negawatt::plan {

struct DelayOptimum {
  Assignment assignment;
  double value = 0.0;  ///< J * s^exponent
  double bound = 0.0;  ///< no schedule's product is less
};

/// Nothing when no schedule fits the latencies.
[[nodiscard]] std::optional<DelayOptimum> least_energy_delay_product(const ScheduleTables& tables,
                                                                     int exponent,
                                                                     const ScheduleLimits& limits);

}  // namespace negawatt::plan
