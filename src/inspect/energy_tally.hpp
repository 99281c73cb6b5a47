// SPDX-License-Identifier: Apache-2.0
//
// The energy of a GPU since `negawatt top` began, over readings a second or so apart. By the
// counter where there is one; a counter that goes back was reset with its driver: a new epoch
// begins, and the energy in between is unknown and not added. A step that no power limit allows is
// left out and counted. Without a counter, power is integrated. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/units.hpp"
#include "gpu/energy_window.hpp"
#include "inspect/reading.hpp"

namespace negawatt::inspect {

enum class EnergySource : unsigned char { none, counter, integrated };
/// "unavailable", "counter", "integrated".
[[nodiscard]] std::string_view name_of(EnergySource source);

class EnergyTally {
 public:
  void add(const Reading& reading);

  /// None before the second reading.
  [[nodiscard]] std::optional<Joules> energy() const;
  /// By the last two readings of the counter, on the device's clock.
  [[nodiscard]] std::optional<Watts> counter_power() const { return counter_power_; }
  [[nodiscard]] EnergySource source() const { return source_; }
  [[nodiscard]] std::uint64_t resets() const { return resets_; }
  [[nodiscard]] std::uint64_t implausible() const { return implausible_; }

 private:
  void add_count(const gpu::EnergyReading& count, std::optional<gpu::Milliwatts> most_power);

  EnergySource source_ = EnergySource::none;
  Joules counted_;
  bool any_step_ = false;
  std::optional<gpu::EnergyReading> last_;
  std::optional<Watts> counter_power_;
  std::uint64_t resets_ = 0;
  std::uint64_t implausible_ = 0;
  // Longer than any pause of top: a GPU that was silent for a minute has an unknown minute.
  gpu::PowerIntegral integral_{Seconds(60)};
};

}  // namespace negawatt::inspect
