// SPDX-License-Identifier: Apache-2.0
//
// How often a sensor really changes. Measured on the device, by looking for changes: densely until
// a first estimate, then at most twice a period. Equal neighbouring values (a power sensor at rest)
// stretch a gap to several periods, which is accounted for.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/device.hpp"

namespace negawatt::gpu {

enum class Sensor : unsigned char { energy, power_instant, power_average };

/// A refresh that lies between two readings: not yet at `before`, done at `after`.
struct Edge {
  TimePoint before;
  TimePoint after;
};

struct Refresh {
  Seconds period;
  Seconds period_error;  ///< half width: the true mean period lies within
  Edge last;             ///< the newest refresh seen
  std::size_t seen = 0;  ///< refreshes that the estimate rests on
  Seconds read_cost;     ///< median
};

/// The period behind some edges in order, each gap a whole number of periods. None below 3 edges.
[[nodiscard]] std::optional<Refresh> refresh_of(std::span<const Edge> edges);

/// Takes about twenty refreshes and at most `patience`. Fails as unavailable when the sensor does
/// not answer, as internal when it does not change.
[[nodiscard]] Result<Refresh> measure_refresh(const Device& device, Sensor sensor,
                                              Seconds patience = Seconds(10));

}  // namespace negawatt::gpu
