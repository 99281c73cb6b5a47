// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers as the driver counts them: MHz, mW, mJ. They live in this room and on the wire;
// to_si() is the only bridge to Watts and Joules, and back rounds to the nearest. No arithmetic is
// offered on purpose.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <string>

#include "core/units.hpp"

namespace negawatt::gpu {

struct Megahertz {
  std::uint32_t count = 0;
  constexpr auto operator<=>(const Megahertz&) const = default;
};

struct Milliwatts {
  std::uint32_t count = 0;
  constexpr auto operator<=>(const Milliwatts&) const = default;
};

struct Millijoules {
  std::uint64_t count = 0;
  constexpr auto operator<=>(const Millijoules&) const = default;
};

[[nodiscard]] constexpr Watts to_si(Milliwatts power) { return Watts(power.count * 1e-3); }
[[nodiscard]] constexpr Joules to_si(Millijoules energy) {
  return Joules(static_cast<double>(energy.count) * 1e-3);
}
/// `power` must be finite, not negative and below 4 MW.
[[nodiscard]] inline Milliwatts to_milliwatts(Watts power) {
  return {static_cast<std::uint32_t>(std::llround(power.in_si() * 1e3))};
}

/// "1410 MHz".
[[nodiscard]] std::string to_string(Megahertz clock);
/// "650 W", "87.5 W".
[[nodiscard]] std::string to_string(Milliwatts power);

}  // namespace negawatt::gpu
