// SPDX-License-Identifier: Apache-2.0
#include "gpusim/sensors.hpp"

#include <algorithm>
#include <cmath>

#include "gpusim/conditions.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {
namespace {

std::uint32_t to_milli(Watts power) {
  return static_cast<std::uint32_t>(std::llround(std::max(0.0, power.in_si()) * 1e3));
}

/// Number of grid points at phase, phase + period, ... that are not after `at_ns`.
std::uint64_t passed(const SensorModel& sensors, std::int64_t at_ns, std::int64_t earlier_ns) {
  const auto since = at_ns - sensors.phase_ns + earlier_ns;
  return since < 0 ? 0 : static_cast<std::uint64_t>(since / sensors.period_ns) + 1;
}

/// What the sensors have seen, at refreshes that lie in the samples or after the anchor.
class History {
 public:
  History(const GpuModel& model, const GpuState& state, std::int64_t now_ns)
      : sensors_(model.sensors),
        state_(state),
        segment_(model, state),
        refreshes_(passed(sensors_, now_ns, 0)) {}

  [[nodiscard]] bool has_refreshed() const { return refreshes_ > 0; }
  [[nodiscard]] std::int64_t last_ns() const {
    return sensors_.phase_ns + static_cast<std::int64_t>(refreshes_ - 1) * sensors_.period_ns;
  }
  /// `periods` refreshes before the last one; the beginning when it did not reach so far back.
  [[nodiscard]] Joules energy(std::uint64_t periods) const {
    if (periods >= refreshes_) return Joules(0);
    const auto n = refreshes_ - 1 - periods;
    return n < state_.sampled ? sample(n).energy : energy_at(segment_, state_, time_of(n));
  }
  [[nodiscard]] Joules energy_at_window_start() const {
    const auto n = refreshes_ - 1;
    if (window_start_ns() <= state_.start_ns) return Joules(0);
    return n < state_.windows_sampled ? sample(n).at_window_start
                                      : energy_at(segment_, state_, window_start_ns());
  }
  [[nodiscard]] std::int64_t busy_ns(std::uint64_t periods) const {
    if (periods >= refreshes_) return 0;
    const auto n = refreshes_ - 1 - periods;
    if (n < state_.sampled) return sample(n).busy_ns;
    const bool busy = state_.queue.size() > 0;
    return state_.anchor.busy_ns + (busy ? time_of(n) - state_.anchor.at_ns : 0);
  }
  [[nodiscard]] Watts mean(Joules since, std::int64_t window_ns) const {
    const auto window = std::min(window_ns, last_ns() - state_.start_ns);
    if (window <= 0) return Watts(state_.conditions.power_w);
    return (energy(0) - since) / Seconds(static_cast<double>(window) * 1e-9);
  }

 private:
  [[nodiscard]] const SensorSample& sample(std::uint64_t n) const {
    return state_.samples[n % kSensorHistory];
  }
  [[nodiscard]] std::int64_t time_of(std::uint64_t n) const {
    return sensors_.phase_ns + static_cast<std::int64_t>(n) * sensors_.period_ns;
  }
  [[nodiscard]] std::int64_t window_start_ns() const {
    return last_ns() - sensors_.instant_window_ns;
  }

  const SensorModel& sensors_;
  const GpuState& state_;
  Segment segment_;
  std::uint64_t refreshes_;
};

std::uint32_t busy_pct(const GpuModel& model, const History& history) {
  if (!history.has_refreshed()) return 0;
  const auto busy = history.busy_ns(0) - history.busy_ns(1);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      (100 * busy + model.sensors.period_ns / 2) / model.sensors.period_ns, 0, 100));
}

void read_powers(const GpuModel& model, const GpuState& state, const History& history,
                 Readings& readings) {
  if (!history.has_refreshed()) {
    readings.instant_power_mw = readings.average_power_mw =
        to_milli(Watts(state.conditions.power_w));
    return;
  }
  const auto& sensors = model.sensors;
  const auto periods = static_cast<std::uint64_t>(sensors.average_window_ns / sensors.period_ns);
  readings.instant_power_mw =
      to_milli(history.mean(history.energy_at_window_start(), sensors.instant_window_ns));
  readings.average_power_mw =
      to_milli(history.mean(history.energy(periods), sensors.average_window_ns));
}

}  // namespace

void take_samples(const GpuModel& model, const Segment& segment, GpuState& state,
                  std::int64_t at_ns) {
  const auto& sensors = model.sensors;
  const auto time_of = [&](std::uint64_t n) {
    return sensors.phase_ns + static_cast<std::int64_t>(n) * sensors.period_ns;
  };
  const auto oldest_kept = [](std::uint64_t count) {
    return count > kSensorHistory ? count - kSensorHistory : 0;
  };
  const auto windows = passed(sensors, at_ns, sensors.instant_window_ns);
  for (auto n = std::max(state.windows_sampled, oldest_kept(windows)); n < windows; ++n)
    state.samples[n % kSensorHistory].at_window_start =
        energy_at(segment, state, time_of(n) - sensors.instant_window_ns);
  state.windows_sampled = std::max(state.windows_sampled, windows);

  const auto refreshes = passed(sensors, at_ns, 0);
  const bool busy = state.queue.size() > 0;
  for (auto n = std::max(state.sampled, oldest_kept(refreshes)); n < refreshes; ++n) {
    auto& sample = state.samples[n % kSensorHistory];
    sample.energy = energy_at(segment, state, time_of(n));
    sample.busy_ns = state.anchor.busy_ns + (busy ? time_of(n) - state.anchor.at_ns : 0);
  }
  state.sampled = std::max(state.sampled, refreshes);
}

Joules refreshed_energy(const GpuModel& model, const GpuState& state, std::int64_t now_ns) {
  const History history(model, state, now_ns);
  return history.has_refreshed() ? history.energy(0) : Joules(0);
}

Joules reported(const CounterMap& counter, Joules true_energy) {
  return counter.reported_base +
         counter.rate * std::max(Joules(0), true_energy - counter.true_base);
}

Readings read_sensors(const GpuModel& model, const GpuState& state, std::int64_t now_ns) {
  const History history(model, state, now_ns);
  const auto& conditions = state.conditions;
  Readings readings{.core_mhz = static_cast<std::uint32_t>(std::lround(conditions.core_mhz)),
                    .memory_mhz = conditions.memory_mhz,
                    .event_reasons = conditions.event_reasons,
                    .busy_pct = busy_pct(model, history),
                    .power_limit_mw = to_milli(state.power_limit)};
  const auto temperature = Segment(model, state).temperature_c(now_ns);
  readings.temperature_c = static_cast<std::uint32_t>(std::lround(std::max(0.0, temperature)));
  const auto& identity = model.identity;
  readings.performance_state =
      is_in_deep_idle(state) ? identity.idle_performance_state : identity.performance_state;
  if (now_ns < state.frozen.until_ns) {
    readings.energy_mj = state.frozen.energy_mj;
    readings.instant_power_mw = state.frozen.instant_power_mw;
    readings.average_power_mw = state.frozen.average_power_mw;
    return readings;
  }
  const auto energy = history.has_refreshed() ? history.energy(0) : Joules(0);
  // Truncated, as a counter is; the small part of a millijoule covers the rounding of a sum.
  readings.energy_mj =
      static_cast<std::uint64_t>(reported(state.counter, energy).in_si() * 1e3 + 1e-6);
  read_powers(model, state, history, readings);
  return readings;
}

Truth truth_at(const GpuModel& model, const GpuState& state, std::int64_t now_ns) {
  const Segment segment(model, state);
  const bool busy = state.queue.size() > 0;
  return {.energy = energy_at(segment, state, now_ns),
          .power = segment.power(now_ns),
          .temperature_c = segment.temperature_c(now_ns),
          .filtered_power = segment.filtered_power(now_ns),
          .busy_ns = state.anchor.busy_ns + (busy ? now_ns - state.anchor.at_ns : 0)};
}

}  // namespace negawatt::gpusim
