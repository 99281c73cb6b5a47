// SPDX-License-Identifier: Apache-2.0
//
// A clock setting of a GPU as a plan names it: `auto` (the driver decides) or a frequency in MHz
// that is locked. 'memory auto' and 'memory locked at its maximum' are different states
// (kernel-level DVFS measurements differ by up to 11 % energy between the two).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace negawatt::trace {

/// One clock domain's setting. `auto` orders below every frequency.
class Clock {
 public:
  constexpr Clock() = default;  ///< auto
  [[nodiscard]] static constexpr Clock automatic() { return Clock(); }
  /// `mhz` must be positive.
  [[nodiscard]] static constexpr Clock locked_mhz(std::uint32_t mhz) { return Clock(mhz); }

  [[nodiscard]] constexpr bool is_automatic() const { return mhz_ == 0; }
  /// The locked frequency; 0 stands for auto, in this type only.
  [[nodiscard]] constexpr std::uint32_t mhz() const { return mhz_; }
  constexpr auto operator<=>(const Clock&) const = default;

 private:
  constexpr explicit Clock(std::uint32_t mhz) : mhz_(mhz) {}
  std::uint32_t mhz_ = 0;
};

struct ClockPair {
  Clock core;
  Clock memory;
  constexpr auto operator<=>(const ClockPair&) const = default;
};

/// "auto" or "1410".
[[nodiscard]] std::string to_string(Clock clock);
/// "core 1410, memory auto".
[[nodiscard]] std::string to_string(ClockPair clocks);

}  // namespace negawatt::trace

template <>
struct std::hash<negawatt::trace::ClockPair> {
  std::size_t operator()(const negawatt::trace::ClockPair& clocks) const noexcept {
    return std::hash<std::uint64_t>{}((std::uint64_t{clocks.core.mhz()} << 32U) |
                                      clocks.memory.mhz());
  }
};
