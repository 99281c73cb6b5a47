// SPDX-License-Identifier: Apache-2.0
//
// The energy of a stretch of time, by the device's counter, with its uncertainty. The counter moves
// in steps (about every 100 ms), so a reading is up to one period old at either end: windows below
// some periods are refused or made longer. A counter that goes back means a reloaded driver: the
// window is void and a new epoch starts; nothing is ever negative. What no power limit allows is
// quarantined. Both are counted. One meter per thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/device.hpp"
#include "gpu/refresh.hpp"

namespace negawatt::gpu {

enum class WhenShort : unsigned char { refuse, extend };

struct EnergyUse {
  Joules energy;
  Joules deviation;  ///< standard uncertainty from the counter's steps
  Seconds time;      ///< between the two readings
  double periods = 0;
  [[nodiscard]] Watts power() const { return energy / time; }
};

/// An open window: where it began.
struct EnergyWindow {
  EnergyReading start;
  std::uint64_t epoch = 0;
  bool aligned = false;
};

struct MeterOptions {
  Refresh refresh;
  double least_periods = 10;
  /// Most that the GPU can draw over a window, margin included; none: nothing is quarantined.
  std::optional<Watts> ceiling;
};

/// Windows that could not be used, by cause.
struct MeterCounts {
  std::uint64_t short_windows = 0;
  std::uint64_t resets = 0;
  std::uint64_t quarantined = 0;
};

class EnergyMeter {
 public:
  /// Measures the refresh (a few seconds) and reads the power limits for the ceiling.
  [[nodiscard]] static Result<EnergyMeter> open(const Device& device);
  EnergyMeter(Device device, MeterOptions options);

  [[nodiscard]] Result<EnergyWindow> begin();
  /// Waits for the next refresh first, so that the reading is fresh.
  [[nodiscard]] Result<EnergyWindow> begin_aligned();
  /// Ends the window now or, to extend a short one, as soon as it is long enough; of a window that
  /// began aligned, just after a refresh. Fails as infeasible when it is too short, internal when
  /// the counter went back or the energy is not plausible.
  [[nodiscard]] Result<EnergyUse> end(const EnergyWindow& window, WhenShort when_short);

  /// Shortest window that is not refused.
  [[nodiscard]] Seconds shortest() const;
  [[nodiscard]] const MeterOptions& options() const { return options_; }
  [[nodiscard]] const MeterCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] Result<EnergyReading> read();
  [[nodiscard]] Result<EnergyReading> read_after_refresh();

  Device device_;
  MeterOptions options_;
  MeterCounts counts_;
  std::uint64_t epoch_ = 0;
  std::optional<EnergyReading> newest_;
};

/// Energy of a device without a counter, from power samples: each holds until the next. Says
/// nothing before the second sample; a gap above `longest_hold` is left out of time and energy.
class PowerIntegral {
 public:
  explicit PowerIntegral(Seconds longest_hold) : longest_hold_(longest_hold) {}
  void add(TimePoint at, Watts power);
  [[nodiscard]] Joules energy() const { return energy_; }
  [[nodiscard]] Seconds covered() const { return covered_; }

 private:
  Seconds longest_hold_;
  Joules energy_;
  Seconds covered_;
  std::optional<TimePoint> last_at_;
  Watts last_power_;
};

}  // namespace negawatt::gpu
