// SPDX-License-Identifier: Apache-2.0
#include "gpusim/governor.hpp"

#include <algorithm>
#include <cmath>

#include "gpusim/segment.hpp"

namespace negawatt::gpusim {
namespace {

// Cooler than the slowdown temperature by this, the ceiling rises again.
constexpr double kThermalHysteresisK = 3.0;

std::int64_t next_on_grid(std::int64_t period_ns, std::int64_t after_ns) {
  return (after_ns / period_ns + 1) * period_ns;
}

std::uint32_t supported_below(const ClockModel& clocks, double mhz) {
  const auto above = std::ranges::upper_bound(clocks.core_mhz, mhz);
  return above == clocks.core_mhz.begin() ? clocks.core_mhz.front() : *(above - 1);
}

bool at_top(const ClockModel& clocks, std::uint32_t ceiling_mhz) {
  return ceiling_mhz >= clocks.core_mhz.back();
}

/// Filtered power follows power without overshoot, so it stays between its own value and the range
/// of power's approach: with all three ends quiet, no tick acts.
bool power_is_quiet(const GpuModel& model, const GpuState& state, const Segment& segment) {
  const auto least = at_top(model.clocks, state.power_ceiling_mhz)
                         ? Watts(-1e9)
                         : state.power_limit - model.governor.slack;
  const auto quiet = [&](Watts power) { return power >= least && power <= state.power_limit; };
  const auto at = state.anchor.at_ns;
  return quiet(segment.final_power()) && quiet(segment.power(at)) &&
         quiet(state.anchor.filtered_power);
}

bool heat_is_quiet(const GpuModel& model, const GpuState& state, const Segment& segment) {
  return at_top(model.clocks, state.thermal_ceiling_mhz) &&
         std::max(state.anchor.temperature_c, segment.final_temperature_c()) <
             model.thermal.slowdown_c;
}

void run_power_governor(const GpuModel& model, GpuState& state) {
  const auto& clocks = model.clocks;
  const auto& governor = model.governor;
  auto& ceiling = state.power_ceiling_mhz;
  const auto power = state.anchor.filtered_power;
  const double change = std::pow(state.power_limit / power, governor.gain);
  if (power > state.power_limit) {
    // From the actual clock, which a lock may keep below the ceiling, and a step at least.
    const double actual = std::min<double>(ceiling, state.conditions.core_mhz);
    ceiling = supported_below(clocks, std::min(actual * change, actual - 1.0));
  } else if (power < state.power_limit - governor.slack && !at_top(clocks, ceiling)) {
    const auto next = *std::ranges::upper_bound(clocks.core_mhz, ceiling);
    const double risen = std::min<double>(ceiling * change, ceiling + governor.rise_mhz);
    ceiling = std::max(next, supported_below(clocks, risen));
  }
}

void run_thermal_governor(const GpuModel& model, GpuState& state) {
  const auto& clocks = model.clocks;
  const auto& thermal = model.thermal;
  auto& ceiling = state.thermal_ceiling_mhz;
  if (state.anchor.temperature_c >= thermal.slowdown_c) {
    const double actual = std::min<double>(ceiling, state.conditions.core_mhz);
    ceiling = supported_below(clocks, actual - thermal.step_mhz);
  } else if (state.anchor.temperature_c < thermal.slowdown_c - kThermalHysteresisK) {
    ceiling = std::max(ceiling, supported_below(clocks, ceiling + thermal.step_mhz));
  }
}

}  // namespace

std::int64_t next_governor_tick(const GpuModel& model, const GpuState& state) {
  if (state.lost != 0) return kNever;
  const Segment segment(model, state);
  const auto at = state.anchor.at_ns;
  std::int64_t next = kNever;
  if (model.governor.kind == Governor::Kind::feedback && !power_is_quiet(model, state, segment))
    next = next_on_grid(model.governor.period_ns, at);
  if (!heat_is_quiet(model, state, segment))
    next = std::min(next, next_on_grid(model.thermal.period_ns, at));
  return next;
}

bool run_governors(const GpuModel& model, GpuState& state) {
  const auto at = state.anchor.at_ns;
  if (at != state.governor_tick_ns) return false;
  if (model.governor.kind == Governor::Kind::feedback && at % model.governor.period_ns == 0)
    run_power_governor(model, state);
  if (at % model.thermal.period_ns != 0) return false;
  run_thermal_governor(model, state);
  return state.anchor.temperature_c >= model.thermal.shutdown_c;
}

}  // namespace negawatt::gpusim
