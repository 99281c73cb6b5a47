// SPDX-License-Identifier: Apache-2.0
//
// The clock a GPU lives by: the machine's monotonic one, or the simulated one when the driver is
// simulated. Whatever waits for a GPU waits on this clock. In virtual time, time stands still while
// a thread that takes part is awake. Thread-safe. When a simulated world breaks, the clock goes on
// from its last time at the machine's pace, so that no wait is for ever.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/units.hpp"

namespace negawatt::gpu {

class NvmlLibrary;

/// A point on a device clock; points of two clocks have nothing to do with each other.
class TimePoint {
 public:
  constexpr TimePoint() = default;
  [[nodiscard]] static constexpr TimePoint at_nanoseconds(std::int64_t count) {
    TimePoint point;
    point.nanoseconds_ = count;
    return point;
  }
  [[nodiscard]] constexpr std::int64_t nanoseconds() const { return nanoseconds_; }
  constexpr auto operator<=>(const TimePoint&) const = default;
  friend constexpr Seconds operator-(TimePoint a, TimePoint b) {
    return Seconds(static_cast<double>(a.nanoseconds_ - b.nanoseconds_) * 1e-9);
  }
  friend constexpr TimePoint operator+(TimePoint a, Seconds b) {
    return at_nanoseconds(a.nanoseconds_ + static_cast<std::int64_t>(b.in_si() * 1e9));
  }
  friend constexpr TimePoint operator-(TimePoint a, Seconds b) { return a + -b; }

 private:
  std::int64_t nanoseconds_ = 0;
};

/// While it lives, the thread that made it takes part in virtual time. Destroy on the same thread.
class Participation {
 public:
  explicit Participation(std::shared_ptr<const NvmlLibrary> library);
  ~Participation();
  Participation(Participation&&) noexcept = default;
  Participation& operator=(Participation&&) = delete;
  Participation(const Participation&) = delete;
  Participation& operator=(const Participation&) = delete;

 private:
  std::shared_ptr<const NvmlLibrary> library_;
};

class DeviceClock {
 public:
  explicit DeviceClock(std::shared_ptr<const NvmlLibrary> library) : library_(std::move(library)) {}

  [[nodiscard]] TimePoint now() const;
  /// Returns at `time` or later, whoever notifies.
  void sleep_until(TimePoint time) const;
  void sleep_for(Seconds duration) const { sleep_until(now() + duration); }
  /// Returns at `time`, or earlier: on notify() of any process (simulated) or a signal (machine).
  void wait_until(TimePoint time) const;
  /// Wakes those who wait_until(), in every process of the simulated world. Else nothing.
  void notify() const;
  /// Only a thread that takes part makes virtual time stand still while it is awake.
  [[nodiscard]] Participation participate() const { return Participation(library_); }
  [[nodiscard]] bool is_simulated() const;

 private:
  std::shared_ptr<const NvmlLibrary> library_;
};

}  // namespace negawatt::gpu
