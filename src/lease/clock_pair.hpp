// SPDX-License-Identifier: Apache-2.0
//
// A clock setting as it crosses from a client to the daemon: core and memory clock, each locked at
// a frequency in MHz or left to the driver ("automatic"). 'Memory automatic' and 'memory locked at
// its maximum' are different states. Nothing here fails; the daemon checks what it is asked for.
#pragma once

#include <compare>
#include <cstdint>

namespace negawatt::lease {

/// The highest frequency that can be asked for: it must fit the 16 bits that a mailbox has for it.
inline constexpr std::uint32_t kMaxMegahertz = 0xFFFF;

/// One clock domain's setting. Automatic orders below every frequency.
class Clock {
 public:
  constexpr Clock() = default;  ///< automatic
  /// `mhz` is 1 to kMaxMegahertz; anything above is held at kMaxMegahertz, which no GPU supports.
  [[nodiscard]] static constexpr Clock locked_mhz(std::uint32_t mhz) {
    return Clock(static_cast<std::uint16_t>(mhz < kMaxMegahertz ? mhz : kMaxMegahertz));
  }

  [[nodiscard]] constexpr bool is_automatic() const { return mhz_ == 0; }
  /// The locked frequency; 0 stands for automatic, in this type only.
  [[nodiscard]] constexpr std::uint16_t mhz() const { return mhz_; }
  constexpr auto operator<=>(const Clock&) const = default;

 private:
  constexpr explicit Clock(std::uint16_t mhz) : mhz_(mhz) {}
  std::uint16_t mhz_ = 0;
};

struct ClockPair {
  Clock core;
  Clock memory;
  constexpr auto operator<=>(const ClockPair&) const = default;
};

}  // namespace negawatt::lease
