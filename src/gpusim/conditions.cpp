// SPDX-License-Identifier: Apache-2.0
#include "gpusim/conditions.hpp"

#include <algorithm>
#include <cmath>

#include "gpusim/governor.hpp"
#include "gpusim/segment.hpp"
#include "gpusim/sensors.hpp"

namespace negawatt::gpusim {
namespace {

// The driver names the power cap as the reason when an automatic clock is this near to the limit.
constexpr double kNearLimit = 0.93;

bool is_busy(const GpuState& state) { return state.queue.size() > 0; }

bool has_context(const GpuState& state) {
  return std::ranges::any_of(state.contexts, [](const Context& c) { return c.id != 0; });
}

bool is_awake(const GpuState& state) {
  return is_busy(state) || state.anchor.at_ns < state.settled_ns;
}

/// The memory setting in force, as surfaces name it (0: automatic), at a core clock.
std::uint32_t memory_setting(const GpuModel& model, const GpuState& state, double core_mhz) {
  const auto mhz = state.memory.in_force.most_mhz;
  for (const auto& hold : model.clocks.memory_holds)
    if (hold.memory_mhz == mhz && core_mhz > hold.core_at_most_mhz) return hold.otherwise_mhz;
  return mhz;
}

std::uint32_t idle_clock(std::uint32_t idle_mhz, const ClockSetting& lock) {
  if (lock.is_automatic()) return idle_mhz;
  return std::clamp(idle_mhz, lock.least_mhz, lock.most_mhz);
}

void set_running(const Device& device, double core_mhz) {
  const auto& [model, surfaces, state] = device;
  auto& now = state.conditions;
  const auto setting_mhz = memory_setting(model, state, core_mhz);
  const auto& setting = surfaces[state.queue[state.queue.begin].surface].setting(setting_mhz);
  double actual_mhz = core_mhz;
  const bool equilibrium = model.governor.kind == Governor::Kind::equilibrium;
  if (equilibrium) actual_mhz = clock_within(setting, core_mhz, state.power_limit);
  const auto point = operating_point(setting, actual_mhz);
  now.core_mhz = actual_mhz;
  now.memory_mhz = setting_mhz == 0 ? model.clocks.auto_memory_mhz : setting_mhz;
  now.call_s = point.time.in_si();
  now.power_w = point.power.in_si();
  const bool at_limit = core_mhz >= model.clocks.auto_core_mhz &&
                        now.power_w >= kNearLimit * state.power_limit.in_si();
  if (equilibrium ? actual_mhz < core_mhz || at_limit
                  : state.power_ceiling_mhz < wanted_core_mhz(model, state))
    now.event_reasons |= nvmlClocksEventReasonSwPowerCap;
}

void set_idle(const GpuModel& model, GpuState& state, double core_mhz) {
  auto& now = state.conditions;
  now.core_mhz = core_mhz;
  now.event_reasons |= nvmlClocksEventReasonGpuIdle;
  if (is_awake(state)) {
    const auto& power = model.power;
    now.power_w =
        (power.static_power + power.clock_power * model.clocks.switching_power_at(core_mhz))
            .in_si();
    return;
  }
  now.leakage_w_per_k = 0;
  if (has_context(state)) {
    now.power_w = model.power.with_context.in_si();
    return;
  }
  now.power_w = model.power.without_context.in_si();
  now.core_mhz = idle_clock(model.clocks.idle_core_mhz, state.core.in_force);
  now.memory_mhz = idle_clock(model.clocks.idle_memory_mhz, state.memory.in_force);
}

/// Below ambient-temperature power nothing can fall: a surface that is colder than its leakage
/// allows leaks less.
void limit_leakage(const GpuModel& model, Conditions& now) {
  const double cooling_k = model.power.reference_c - model.thermal.ambient_c;
  if (cooling_k > 0) now.leakage_w_per_k = std::min(now.leakage_w_per_k, now.power_w / cooling_k);
}

/// The exact end of the running item, in nanoseconds after the anchor.
double exact_end_ns(const GpuState& state) {
  const auto& item = state.queue[state.queue.begin];
  const auto& running = state.running;
  const double left =
      static_cast<double>(item.calls - running.calls_done) - running.call_share_done;
  return left * state.conditions.call_s * 1e9;
}

void set_completion(GpuState& state) {
  state.completion_ns = kNever;
  if (!is_busy(state)) return;
  auto& running = state.running;
  if (running.started == 0) {
    running.started = 1;
    running.begin_ns = running.last_call_end_ns = state.anchor.at_ns;
    running.call_share_done = -running.begin_fraction_ns / (state.conditions.call_s * 1e9);
  }
  const double end = exact_end_ns(state);
  // A time beyond the range of nanoseconds (292 years) is never.
  if (end < 9e18 - static_cast<double>(state.anchor.at_ns))
    state.completion_ns = state.anchor.at_ns + std::max<std::int64_t>(0, std::llround(end));
}

std::int64_t next_fault_ns(const FaultScript& script, const GpuState& state) {
  std::int64_t next = kNever;
  if (state.faults_applied < script.timed.size())
    next = std::max(script.timed[state.faults_applied].at_ns, state.anchor.at_ns);
  for (const auto& fault : script.timed)
    if (fault.until_ns > state.anchor.at_ns) next = std::min(next, fault.until_ns);
  return next;
}

}  // namespace

void move_anchor(const Device& device, std::int64_t at_ns) {
  const auto& [model, surfaces, state] = device;
  auto& anchor = state.anchor;
  if (at_ns == anchor.at_ns) return;
  const Segment segment(model, state);
  take_samples(model, segment, state, at_ns);
  const auto energy = segment.energy_since_anchor(at_ns);
  if (const auto progress = running_work(state, at_ns)) {
    auto& running = state.running;
    running.energy += energy;
    running.call_share_done +=
        static_cast<double>(at_ns - anchor.at_ns) * 1e-9 / state.conditions.call_s -
        static_cast<double>(progress->calls - running.calls_done);
    running.calls_done = progress->calls;
    running.last_call_end_ns = progress->last_end_ns;
    anchor.busy_ns += at_ns - anchor.at_ns;
  }
  anchor.energy += energy;
  anchor.temperature_c = segment.temperature_c(at_ns);
  anchor.filtered_power = segment.filtered_power(at_ns);
  anchor.at_ns = at_ns;
}

void settle(const Device& device) {
  const auto& [model, surfaces, state] = device;
  const auto ceiling = std::min(state.power_ceiling_mhz, state.thermal_ceiling_mhz);
  const auto wanted = wanted_core_mhz(model, state);
  const auto core_mhz = std::max(std::min(wanted, ceiling), model.clocks.core_mhz.front());
  auto& now = state.conditions;
  now = {.leakage_w_per_k = model.power.leakage_w_per_k};
  const auto memory = memory_setting(model, state, core_mhz);
  now.memory_mhz = memory == 0 ? model.clocks.auto_memory_mhz : memory;
  if (state.thermal_ceiling_mhz < wanted)
    now.event_reasons |= nvmlClocksEventReasonSwThermalSlowdown;
  if (is_busy(state)) {
    set_running(device, core_mhz);
  } else {
    set_idle(model, state, core_mhz);
  }
  limit_leakage(model, now);
  set_completion(state);
  state.governor_tick_ns = next_governor_tick(model, state);
  state.next_event_ns =
      std::min({state.core.effective_ns, state.memory.effective_ns, state.completion_ns,
                next_fault_ns(model.faults, state), state.governor_tick_ns});
  if (!is_busy(state) && is_awake(state))
    state.next_event_ns = std::min(state.next_event_ns, state.settled_ns);
}

const TimedFault* active_fault(const GpuModel& model, const GpuState& state,
                               TimedFault::Kind kind) {
  for (const auto& fault : model.faults.timed)
    if (fault.kind == kind && state.anchor.at_ns >= fault.at_ns &&
        state.anchor.at_ns < fault.until_ns)
      return &fault;
  return nullptr;
}

bool is_in_deep_idle(const GpuState& state) { return !is_awake(state) && !has_context(state); }

std::uint32_t wanted_core_mhz(const GpuModel& model, const GpuState& state) {
  const auto& lock = state.core.in_force;
  if (lock.is_automatic()) return model.clocks.auto_core_mhz;
  if (const auto* fault = active_fault(model, state, TimedFault::Kind::override_lock))
    return static_cast<std::uint32_t>(fault->value);
  return std::min(model.clocks.auto_core_mhz, lock.most_mhz);
}

}  // namespace negawatt::gpusim
