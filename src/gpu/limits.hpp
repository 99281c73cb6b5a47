// SPDX-License-Identifier: Apache-2.0
//
// What a GPU may be asked for: what the device can do, and what its administrator allows. clamp()
// is the one place where a request is brought within both. An administrator's lower limit is never
// raised: the power ceiling is at most the limit in force when the limits were read.
#pragma once

#include <optional>
#include <vector>

#include "core/result.hpp"
#include "gpu/device.hpp"
#include "gpu/settings.hpp"
#include "gpu/units.hpp"

namespace negawatt::gpu {

/// What the device said. Empty lists and absent limits: it did not say, so nothing is allowed
/// there.
struct DeviceLimits {
  std::vector<Megahertz> core_clocks;    ///< ascending, at its highest memory clock
  std::vector<Megahertz> memory_clocks;  ///< ascending
  std::optional<Milliwatts> least_power;
  std::optional<Milliwatts> most_power;  ///< lowest of: settable, requested, enforced when read
};

/// What the administrator allows beyond that; absent: no limit of his.
struct AdminLimits {
  std::optional<ClockRange> core;
  bool memory_lock = true;
  bool power_limit = true;
  std::optional<Milliwatts> least_power;
  std::optional<Milliwatts> most_power;
};

/// Reads what the device can do; what it does not tell is left empty.
[[nodiscard]] DeviceLimits read_limits(const Device& device);

struct Limits {
  DeviceLimits device;
  AdminLimits admin;
};

/// The request within the limits. A bound that the device does not have becomes its nearest clock
/// (the lower of two that are equally near), within the administrator's range. "The driver decides"
/// becomes the administrator's range where there is one. Fails when the device or the administrator
/// leaves nothing to choose.
[[nodiscard]] Result<Request> clamp(const Request& request, const Limits& limits);

}  // namespace negawatt::gpu
