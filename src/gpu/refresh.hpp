// SPDX-License-Identifier: Apache-2.0
//
// When a sensor really changes. Measured on the device by looking for changes: densely until a
// first estimate, then twice a period, just before and just after the next one is due, which
// narrows it down. Equal neighbouring values (a power sensor at rest) stretch a gap to several
// periods, which is accounted for. Waits on the device clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/device.hpp"

namespace negawatt::gpu {

enum class Sensor : unsigned char { energy, power_instant, power_average };

/// A refresh lies between two readings: not yet at `before`, done at `after`.
struct Edge {
  TimePoint before;
  TimePoint after;
  [[nodiscard]] TimePoint middle() const { return before + (after - before) * 0.5; }
  [[nodiscard]] Seconds half_width() const { return (after - before) * 0.5; }
};

struct Refresh {
  Seconds period;
  Seconds period_error;     ///< half width: the true mean period lies within
  Edge first;               ///< the oldest refresh the estimate rests on
  Edge last;                ///< the newest one
  std::size_t periods = 0;  ///< between the two
  Seconds read_cost;        ///< of one reading, the longest seen
};

/// The period behind some edges in order, when every gap is a whole number of periods, to within 15
/// % of one. None below 3 edges, or when no period fits.
[[nodiscard]] std::optional<Refresh> refresh_of(std::span<const Edge> edges);

/// One reading of a sensor: its raw value and when the call began and ended.
struct SensorReading {
  std::uint64_t value = 0;
  TimePoint began;
  TimePoint ended;
};
[[nodiscard]] Answer<SensorReading> read_sensor(const Device& device, Sensor sensor);

/// Keeps up with a sensor whose refresh is known, by at most two readings a period, and narrows it
/// down: of the stretch in which the next refresh must come, half is ruled out each time.
class RefreshTracker {
 public:
  RefreshTracker(Device device, Sensor sensor, const Refresh& refresh);

  /// A reading after a refresh, and when that was if it was seen to happen between two readings.
  struct Seen {
    SensorReading reading;
    std::optional<Edge> edge;
  };
  /// Waits for the next refresh that is due and reads around it.
  [[nodiscard]] Answer<Seen> follow();
  /// follow() until a refresh is seen in a narrow stretch, at most so many times.
  [[nodiscard]] Answer<Seen> follow_to_edge(int tries);

  [[nodiscard]] const Refresh& refresh() const { return refresh_; }

 private:
  /// The stretch of the next refresh that can still be read around, and how many periods ahead.
  struct Due {
    Edge stretch;
    std::size_t periods = 0;
  };
  [[nodiscard]] Due next_due() const;
  /// What is too narrow to be cut in two.
  [[nodiscard]] Seconds narrow() const;
  void advance(const Due& due, const Edge& stretch);
  void sharpen_period();
  void note_cost(const SensorReading& reading);

  Device device_;
  Sensor sensor_;
  Refresh refresh_;
  /// The value after the last refresh, when it was surely read before the next one.
  std::optional<std::uint64_t> settled_;
};

constexpr Seconds kRefreshPatience{10};

/// Takes about twenty refreshes and at most `patience`; asked to stop, it ends within two
/// refreshes. Fails as unavailable when the sensor does not answer, as internal when it does not
/// change or when asked to stop.
[[nodiscard]] Result<Refresh> measure_refresh(const Device& device, Sensor sensor,
                                              Seconds patience = kRefreshPatience,
                                              const std::stop_token& stop = {});

}  // namespace negawatt::gpu
