// SPDX-License-Identifier: Apache-2.0
//
// The energy of a stretch of time, by the device's counter, with its uncertainty. The counter moves
// in steps (about every 100 ms), so a reading is up to one period old at either end: windows below
// some periods are refused or made longer. An aligned window begins and ends at refreshes. A
// counter that goes back means a reloaded driver: the window is void and a new epoch starts;
// nothing is ever negative. What no power limit allows is quarantined. Both are counted. One meter
// per thread.
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
  Seconds time;      ///< between the moments at which the two counts were true
  double periods = 0;
  [[nodiscard]] Watts power() const { return energy / time; }
};

/// An open window: a count, when it was true, and how well that is known.
struct EnergyWindow {
  Millijoules counter;
  TimePoint counted_at;
  Seconds deviation;
  bool aligned = false;
  std::uint64_t epoch = 0;
};

struct MeterOptions {
  double least_periods = 10;
  /// Most that the GPU can draw over a window, margin included; none: nothing is quarantined.
  std::optional<Watts> ceiling;
};

/// Windows that could not be used, by cause.
struct MeterCounts {
  std::uint64_t too_short = 0;
  std::uint64_t resets = 0;       ///< of the counter, whether or not a window was open
  std::uint64_t quarantined = 0;  ///< more than the ceiling allows, or a counter that stands still
};

class EnergyMeter {
 public:
  /// Measures the refresh (a few seconds) and reads the power limits for the ceiling.
  [[nodiscard]] static Result<EnergyMeter> open(const Device& device);
  EnergyMeter(Device device, const Refresh& refresh, MeterOptions options);

  [[nodiscard]] Result<EnergyWindow> begin();
  /// Waits for the next refresh first (one or a few periods), so that the count is fresh and its
  /// moment known. Falls back to begin() where the refresh does not come when it is due.
  [[nodiscard]] Result<EnergyWindow> begin_aligned();
  /// Ends the window now or, to extend a short one, as soon as it is long enough; of a window that
  /// began aligned, just after a refresh. Fails as infeasible when it is too short, as internal
  /// when the counter went back or the energy is not plausible.
  [[nodiscard]] Result<EnergyUse> end(const EnergyWindow& window, WhenShort when_short);

  /// Shortest window that is not refused.
  [[nodiscard]] Seconds shortest() const;
  [[nodiscard]] const Refresh& refresh() const { return tracker_.refresh(); }
  [[nodiscard]] const MeterCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] Result<EnergyWindow> count_at(const SensorReading& reading,
                                              const std::optional<Edge>& edge);
  [[nodiscard]] Result<EnergyUse> judged(const EnergyUse& use);

  Device device_;
  RefreshTracker tracker_;
  MeterOptions options_;
  MeterCounts counts_;
  std::uint64_t epoch_ = 0;
  std::optional<Millijoules> newest_;
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
