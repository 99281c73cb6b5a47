// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gpusim/conditions.hpp"
#include "gpusim/governor.hpp"
#include "gpusim/physics.hpp"
#include "gpusim/sensors.hpp"
#include "gpusim/work_queue.hpp"

namespace negawatt::gpusim {
namespace {

void lose_gpu(GpuState& state) {
  state.lost = 1;
  drop_all_work(state);
  state.contexts = {};
  state.settled_ns = 0;
}

void reset_counter(GpuState& state) {
  state.counter = {.true_base = state.anchor.energy, .rate = state.counter.rate};
}

void reload_driver(const GpuModel& model, GpuState& state) {
  drop_all_work(state);
  state.contexts = {};
  state.core = {};
  state.memory = {};
  state.power_limit = model.limits.standard;
  reset_counter(state);
}

void freeze_sensors(const GpuModel& model, GpuState& state, std::int64_t until_ns) {
  const auto shown = read_sensors(model, state, state.anchor.at_ns);
  state.frozen = {until_ns, shown.energy_mj, shown.instant_power_mw, shown.average_power_mw};
}

/// Bends the counter from what it last showed, so that the change of rate makes no jump.
void set_counter_rate(const GpuModel& model, GpuState& state, double rate) {
  const auto shown = refreshed_energy(model, state, state.anchor.at_ns);
  state.counter = {.true_base = std::max(shown, state.counter.true_base),
                   .reported_base = reported(state.counter, shown),
                   .rate = rate};
}

void begin_fault(const GpuModel& model, GpuState& state, const TimedFault& fault) {
  switch (fault.kind) {
    case TimedFault::Kind::gpu_lost:
      lose_gpu(state);
      break;
    case TimedFault::Kind::driver_reload:
      reload_driver(model, state);
      break;
    case TimedFault::Kind::counter_reset:
      reset_counter(state);
      break;
    case TimedFault::Kind::counter_rate:
      set_counter_rate(model, state, fault.value);
      break;
    case TimedFault::Kind::stuck_sensor:
      freeze_sensors(model, state, fault.until_ns);
      break;
    default:
      break;  // asked for while they last: active_fault, decide
  }
}

void run_faults(const GpuModel& model, GpuState& state) {
  const auto& timed = model.faults.timed;
  const auto at = state.anchor.at_ns;
  for (const auto& fault : timed)
    if (fault.kind == TimedFault::Kind::counter_rate && fault.until_ns == at)
      set_counter_rate(model, state, 1.0);
  while (state.faults_applied < timed.size() && timed[state.faults_applied].at_ns <= at)
    begin_fault(model, state, timed[state.faults_applied++]);
}

void take_effect(ClockDomain& domain, std::int64_t at_ns) {
  if (domain.effective_ns > at_ns) return;
  domain.in_force = domain.asked;
  domain.effective_ns = kNever;
}

void step(const Device& device, std::int64_t at_ns) {
  const auto& [model, surfaces, state] = device;
  move_anchor(device, at_ns);
  if (state.completion_ns == at_ns) complete_head(model, state);
  take_effect(state.core, at_ns);
  take_effect(state.memory, at_ns);
  if (run_governors(model, state)) lose_gpu(state);
  run_faults(model, state);
  settle(device);
}

}  // namespace

GpuState initial_state(const GpuModel& model, std::int64_t now_ns) {
  GpuState state;
  state.start_ns = state.now_ns = state.anchor.at_ns = now_ns;
  state.anchor.temperature_c = model.thermal.ambient_c;
  state.anchor.filtered_power = model.power.without_context;
  state.power_limit = model.limits.initial;
  state.power_ceiling_mhz = state.thermal_ceiling_mhz = model.clocks.core_mhz.back();
  run_faults(model, state);
  settle({model, {}, state});
  return state;
}

void advance(const Device& device, std::int64_t to_ns) {
  auto& state = device.state;
  while (state.next_event_ns <= to_ns) step(device, state.next_event_ns);
  state.now_ns = std::max(state.now_ns, to_ns);
}

std::int64_t next_completion(const GpuState& state) { return state.completion_ns; }

std::int64_t next_event(const GpuState& state) { return state.next_event_ns; }

}  // namespace negawatt::gpusim
