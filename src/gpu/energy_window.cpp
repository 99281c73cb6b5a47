// SPDX-License-Identifier: Apache-2.0
#include "gpu/energy_window.hpp"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace negawatt::gpu {
namespace {

// Above its power limit a GPU is for tens of milliseconds only (an H200: 950 W at a limit of 700 W
// for 30 to 60 ms), which windows of a second average out.
constexpr double kCeilingMargin = 1.5;
constexpr int kTriesToAlign = 8;

}  // namespace

Result<EnergyMeter> EnergyMeter::open(const Device& device) {
  NW_TRY(const Refresh refresh, measure_refresh(device, Sensor::energy));
  MeterOptions options;
  if (const auto limits = device.power_limits()) {
    const auto most = limits->most ? limits->most : limits->enforced;
    if (most) options.ceiling = to_si(*most) * kCeilingMargin;
  }
  return EnergyMeter(device, refresh, options);
}

EnergyMeter::EnergyMeter(Device device, const Refresh& refresh, MeterOptions options)
    : device_(device), tracker_(std::move(device), Sensor::energy, refresh), options_(options) {}

Seconds EnergyMeter::shortest() const { return refresh().period * options_.least_periods; }

/// When the count was true: at the refresh that was seen, else up to a period before the reading.
Result<EnergyWindow> EnergyMeter::count_at(const SensorReading& reading,
                                           const std::optional<Edge>& edge) {
  const Millijoules counter{reading.value};
  if (newest_ && counter < *newest_) {
    // The driver was reloaded: what was counted before says nothing about what is counted now.
    ++epoch_;
    ++counts_.resets;
  }
  newest_ = counter;
  EnergyWindow window{.counter = counter, .aligned = edge.has_value(), .epoch = epoch_};
  if (edge) {
    window.counted_at = edge->middle();
    window.deviation = edge->half_width() / std::sqrt(3.0);
  } else {
    const Seconds period = refresh().period;
    const Seconds call = reading.ended - reading.began;
    window.counted_at = reading.began + call * 0.5 - period * 0.5;
    window.deviation = (period + call) / std::sqrt(12.0);
  }
  return window;
}

Result<EnergyWindow> EnergyMeter::begin() {
  NW_TRY(const SensorReading reading, read_sensor(device_, Sensor::energy));
  return count_at(reading, std::nullopt);
}

Result<EnergyWindow> EnergyMeter::begin_aligned() {
  NW_TRY(const auto seen, tracker_.follow_to_edge(kTriesToAlign));
  return count_at(seen.reading, seen.edge);
}

Result<EnergyUse> EnergyMeter::end(const EnergyWindow& window, WhenShort when_short) {
  const DeviceClock clock = device_.clock();
  // A reading tells of up to one period before it.
  const TimePoint long_enough = window.counted_at + shortest() + refresh().period;
  if (when_short == WhenShort::extend) clock.sleep_until(long_enough);
  NW_TRY(const EnergyWindow close, window.aligned ? begin_aligned() : begin());
  if (close.epoch != window.epoch || close.counter < window.counter) {
    return failure(Code::internal,
                   fmt::format("the energy counter of {} went back (the driver was reloaded): this "
                               "window has no energy",
                               device_.id().text()));
  }
  const Seconds time = close.counted_at - window.counted_at;
  const double periods = time / refresh().period;
  // Half a period is what a moment that is not aligned may be off by.
  if (periods + 0.5 < options_.least_periods) {
    ++counts_.too_short;
    return failure(
        Code::infeasible,
        fmt::format("a window of {:.3f} s is too short for the energy counter of {}, which changes "
                    "every {:.3f} s: at least {:.3f} s are needed",
                    time.in_si(), device_.id().text(), refresh().period.in_si(),
                    shortest().in_si()));
  }
  const Joules energy = to_si(Millijoules{close.counter.count - window.counter.count});
  const Seconds deviation(std::hypot(window.deviation.in_si(), close.deviation.in_si()));
  return judged({energy, energy / time * deviation, time, periods});
}

/// Quarantines what no GPU does: drawing far more than its limit, or nothing at all.
Result<EnergyUse> EnergyMeter::judged(const EnergyUse& use) {
  const bool too_much = options_.ceiling && use.energy > *options_.ceiling * use.time;
  if (!too_much && use.energy > Joules(0)) return use;
  ++counts_.quarantined;
  return failure(
      Code::internal,
      too_much ? fmt::format("the energy counter of {} says {:.1f} J in {:.3f} s, more than any "
                             "power limit allows ({:.0f} W with margin)",
                             device_.id().text(), use.energy.in_si(), use.time.in_si(),
                             options_.ceiling->in_si())
               : fmt::format("the energy counter of {} stood still for {:.3f} s",
                             device_.id().text(), use.time.in_si()));
}

void PowerIntegral::add(TimePoint at, Watts power) {
  if (last_at_) {
    const Seconds held = at - *last_at_;
    if (held > Seconds(0) && held <= longest_hold_) {
      energy_ += last_power_ * held;
      covered_ += held;
    }
  }
  last_at_ = at;
  last_power_ = power;
}

}  // namespace negawatt::gpu
