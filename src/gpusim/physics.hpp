// SPDX-License-Identifier: Apache-2.0
//
// How a simulated GPU moves through time. Event-driven and exact: between events power, temperature
// and the governor's filtered power obey linear differential equations that are solved in closed
// form, so cost follows the number of events, not the time that passes, and splitting an advance
// changes nothing. Nothing here allocates, blocks or reads a clock. Setters answer as NVML does and
// log every call. Callers advance the device to the present before any other call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/units.hpp"
#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"
#include "gpusim/kernel_surface.hpp"

namespace negawatt::gpusim {

/// A GPU: constant, shared by its users, changing. Refers to all three.
struct Device {
  const GpuModel& model;
  std::span<const KernelSurface> surfaces;
  GpuState& state;
};

/// A GPU that was just switched on at `now_ns`: idle at ambient temperature, nothing locked.
[[nodiscard]] GpuState initial_state(const GpuModel& model, std::int64_t now_ns);

/// Moves the device to `to_ns`; an earlier time than its own leaves it as it is.
void advance(const Device& device, std::int64_t to_ns);

/// When the item at the head of the queue ends if conditions stay; kNever when none is there.
[[nodiscard]] std::int64_t next_completion(const GpuState& state);
/// Before this time conditions do not change by themselves: whoever waits for a completion sleeps
/// until the earlier of the two.
[[nodiscard]] std::int64_t next_event(const GpuState& state);

// ---- what NVML's setters do; `pid` is for the log -----------------------------------------------

/// A core or memory lock. The highest clock is rounded down to a supported one (the lowest when
/// there is none below), the lowest one up, then not above the highest. least > most, or 0, is
/// INVALID_ARGUMENT. Takes effect after the latency to the rounded highest clock; a newer request
/// replaces one that is still on its way, and asking again for the same does not delay it.
nvmlReturn_t lock_core(const Device& device, ClockSetting asked, std::uint32_t pid);
nvmlReturn_t lock_memory(const Device& device, ClockSetting asked, std::uint32_t pid);
nvmlReturn_t reset_core(const Device& device, std::uint32_t pid);
nvmlReturn_t reset_memory(const Device& device, std::uint32_t pid);
/// In force at once; outside the limits INVALID_ARGUMENT.
nvmlReturn_t set_power_limit(const Device& device, std::uint32_t milliwatts, std::uint32_t pid);
/// Puts a setter call that was refused before it reached the device (by a fault, for want of
/// permission) into the log.
void log_refusal(GpuState& state, const WriteRecord& record);

// ---- work ---------------------------------------------------------------------------------------

/// Opens a context in the first free slot; its id, or nothing when there is no room or the GPU is
/// lost.
std::optional<std::uint32_t> create_context(const Device& device, const Context& process);
/// In that slot; nothing when it is taken or the GPU is lost.
std::optional<std::uint32_t> create_context(const Device& device, const Context& process,
                                            std::size_t slot);
/// Closes it; its queued and running work is gone without completions.
void remove_context(const Device& device, std::uint32_t context);

/// Queues `calls` (at least one) calls of the kernel in a surface slot. The ticket, or nothing when
/// the queue is full, the slot is empty or the context is unknown.
std::optional<std::uint64_t> submit(const Device& device, std::uint32_t context,
                                    std::uint32_t surface, std::uint64_t calls);
/// Takes all of a context's work off the queue. What was running completes with its whole calls so
/// far, if any; the call that was under way is not counted.
void cancel(const Device& device, std::uint32_t context);

/// The item at the head of the queue at `now_ns` (not before the last advance, before next_event).
struct Progress {
  std::uint64_t ticket = 0;
  std::uint64_t calls = 0;  ///< whole calls done
  std::int64_t begin_ns = 0;
  std::int64_t last_end_ns = 0;  ///< end of the last whole call; begin_ns when there is none
};
[[nodiscard]] std::optional<Progress> running_work(const GpuState& state, std::int64_t now_ns);

/// The completions of a context from number `cursor` on, oldest first, as many as fit; moves the
/// cursor behind the last one looked at. A new reader starts at state.completions.end. One that
/// stayed away for more than kCompletions of all contexts has lost the oldest.
[[nodiscard]] std::size_t completions_since(const GpuState& state, std::uint32_t context,
                                            std::uint64_t& cursor, std::span<Completion> out);

// ---- what the sensors say -----------------------------------------------------------------------

struct Readings {
  std::uint64_t energy_mj = 0;  ///< the counter, as of its last refresh
  std::uint32_t instant_power_mw = 0;
  std::uint32_t average_power_mw = 0;
  std::uint32_t core_mhz = 0;    ///< actual
  std::uint32_t memory_mhz = 0;  ///< actual
  std::uint64_t event_reasons = 0;
  std::uint32_t temperature_c = 0;
  std::uint32_t performance_state = 0;
  std::uint32_t busy_pct = 0;  ///< of the last sensor period; memory's is the same
  std::uint32_t power_limit_mw = 0;
};
/// At `now_ns`, which is not before the last advance and before next_event(state). Pure.
[[nodiscard]] Readings read_sensors(const GpuModel& model, const GpuState& state,
                                    std::int64_t now_ns);

/// The truth behind the sensors, for tests and for the player.
struct Truth {
  Joules energy;  ///< since the machine was started
  Watts power;
  double temperature_c = 0;
  Watts filtered_power;
  std::int64_t busy_ns = 0;
};
[[nodiscard]] Truth truth_at(const GpuModel& model, const GpuState& state, std::int64_t now_ns);

}  // namespace negawatt::gpusim
