// SPDX-License-Identifier: Apache-2.0
//
// What can be set on a GPU: three knobs, each with its own state. An empty lock means that the
// driver decides; 'memory unlocked' and 'memory locked at its maximum' are different states. Locks
// cannot be read back from the driver (it has no getter), power limits can.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu/units.hpp"

namespace negawatt::gpu {

/// Bounds of a locked clock. Made by name, so that least and most cannot be swapped.
class ClockRange {
 public:
  [[nodiscard]] static constexpr ClockRange exactly(Megahertz clock) { return {clock, clock}; }
  [[nodiscard]] static constexpr ClockRange at_most(Megahertz clock) { return {{0}, clock}; }
  /// The two in either order.
  [[nodiscard]] static constexpr ClockRange between(Megahertz a, Megahertz b) {
    return a < b ? ClockRange{a, b} : ClockRange{b, a};
  }
  [[nodiscard]] constexpr Megahertz least() const { return least_; }
  [[nodiscard]] constexpr Megahertz most() const { return most_; }
  constexpr auto operator<=>(const ClockRange&) const = default;

 private:
  constexpr ClockRange(Megahertz a, Megahertz b) : least_(a), most_(b) {}
  Megahertz least_;
  Megahertz most_;
};

struct CoreLock {
  std::optional<ClockRange> range;  ///< none: the driver decides
  constexpr auto operator<=>(const CoreLock&) const = default;
};

struct MemoryLock {
  std::optional<ClockRange> range;
  constexpr auto operator<=>(const MemoryLock&) const = default;
};

struct PowerLimit {
  Milliwatts limit;
  constexpr auto operator<=>(const PowerLimit&) const = default;
};

/// Whether two limits are the same one: drivers round what they are asked for.
inline constexpr Milliwatts kPowerRounding{1000};
[[nodiscard]] constexpr bool same_limit(Milliwatts a, Milliwatts b) {
  return (a < b ? b.count - a.count : a.count - b.count) <= kPowerRounding.count;
}

/// One knob and the state it is to have, or had.
using Setting = std::variant<CoreLock, MemoryLock, PowerLimit>;

enum class Knob : unsigned char { core_lock, memory_lock, power_limit };
inline constexpr std::array kKnobs = {Knob::core_lock, Knob::memory_lock, Knob::power_limit};

[[nodiscard]] constexpr Knob knob_of(const Setting& setting) {
  return static_cast<Knob>(setting.index());
}
/// "core lock", "memory lock", "power limit".
[[nodiscard]] std::string_view name_of(Knob knob);
/// "core lock 210 to 1410 MHz", "memory lock none", "power limit 650 W".
[[nodiscard]] std::string to_string(const Setting& setting);

/// What is asked of a GPU at once: a knob that is not named stays as it is.
struct Request {
  std::optional<CoreLock> core;
  std::optional<MemoryLock> memory;
  std::optional<PowerLimit> power;
  auto operator<=>(const Request&) const = default;
};

/// The knobs that the request names, in the order core, memory, power.
[[nodiscard]] std::vector<Setting> settings_of(const Request& request);
/// Names the knob in the request.
void put(const Setting& setting, Request& request);
/// The request no longer names the knob.
void drop(Knob knob, Request& request);
[[nodiscard]] std::optional<Setting> setting_in(const Request& request, Knob knob);

}  // namespace negawatt::gpu
