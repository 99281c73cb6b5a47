// SPDX-License-Identifier: Apache-2.0
//
// What a device can do, found out by asking it, once: each query by itself, never inferred from the
// architecture or the driver's version. Nothing is written, so whether a knob can be turned is
// known only as far as the library has the function. Slow parts (periods, cross-check) are
// separate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/device.hpp"
#include "gpu/refresh.hpp"

namespace negawatt::gpu {

/// One query and what became of it.
struct Capability {
  std::string_view name;             ///< "energy counter"
  std::optional<DriverError> error;  ///< none: it answered
  std::string answer;                ///< for a person, with unit
};

struct Capabilities {
  std::vector<Capability> queries;
  /// True when the query of that name answered.
  [[nodiscard]] bool has(std::string_view name) const;
};

[[nodiscard]] Capabilities probe(const Device& device);

/// The energy counter against integrated power over one stretch of time.
struct CrossCheck {
  Joules counter;
  Joules integrated;
  Seconds time;
  double spread = 0;  ///< standard deviation of the power samples over their mean
  enum class Verdict : unsigned char { agrees, disagrees, undecided } verdict = Verdict::undecided;
};

struct SensorRefreshes {
  Refresh energy;
  Refresh power;
};

/// Samples power at twice its refresh for `time`. Undecided when the power changed so much that a
/// sensor that sees a quarter of the time cannot tell; run it on an idle or steadily loaded GPU.
[[nodiscard]] Result<CrossCheck> cross_check(const Device& device, const SensorRefreshes& refreshes,
                                             Seconds time = Seconds(3));

}  // namespace negawatt::gpu
