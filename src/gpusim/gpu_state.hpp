// SPDX-License-Identifier: Apache-2.0
//
// What a simulated GPU is doing: everything that changes, fixed in size and trivially copyable, so
// that it can lie in memory that processes share and be copied before it is changed.
// Between two events conditions are constant and all quantities have a closed form from `anchor`
// on; so a read needs no change of the state while it lies before `next_event_ns`.
// Times are simulated nanoseconds; clocks MHz. Only physics.hpp changes what is in here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/units.hpp"
#include "gpusim/fault_script.hpp"
#include "gpusim/gpu_model.hpp"

namespace negawatt::gpusim {

inline constexpr std::size_t kQueueItems = 256;
inline constexpr std::size_t kCompletions = 1024;
inline constexpr std::size_t kContexts = 64;
inline constexpr std::size_t kWriteLog = 256;
inline constexpr std::size_t kSensorHistory = 64;

/// The last `N` of a sequence, numbered from 0; item n lies in slots[n % N]. The owner of `begin`
/// moves it; a log leaves it alone and overwrites the oldest.
template <class T, std::size_t N>
struct Ring {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::array<T, N> slots{};

  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  [[nodiscard]] T& operator[](std::uint64_t n) { return slots[n % N]; }
  [[nodiscard]] const T& operator[](std::uint64_t n) const { return slots[n % N]; }
  void push(const T& item) { slots[end++ % N] = item; }
  /// Number of the oldest item that a log still has.
  [[nodiscard]] std::uint64_t oldest() const { return end > N ? end - N : 0; }
};

/// A lock of a clock domain; most_mhz 0 is automatic.
struct ClockSetting {
  std::uint32_t least_mhz = 0;
  std::uint32_t most_mhz = 0;

  [[nodiscard]] bool is_automatic() const { return most_mhz == 0; }
  bool operator==(const ClockSetting&) const = default;
};

struct ClockDomain {
  ClockSetting in_force;
  ClockSetting asked;                  ///< what the last accepted request asked for, as rounded
  std::int64_t effective_ns = kNever;  ///< when `asked` comes into force; kNever: it is
};

/// `calls` calls of one kernel, for a context.
struct WorkItem {
  std::uint64_t ticket = 0;
  std::uint64_t calls = 0;
  std::uint32_t context = 0;
  std::uint32_t surface = 0;
};

/// The item at the head of the queue, as of the anchor.
struct RunningWork {
  std::int64_t begin_ns = 0;
  std::uint64_t calls_done = 0;
  double call_share_done = 0;  ///< of the next call; below 0 before the first one's exact begin
  /// Its exact begin is that much after begin_ns, in [-0.5, 0.5]: what rounding the end of the item
  /// before it to a nanosecond left over, so that no time is lost over many short kernels.
  double begin_fraction_ns = 0;
  std::int64_t last_call_end_ns = 0;  ///< of the last whole call; begin_ns when there is none
  std::uint32_t started = 0;          ///< 0: the item was queued, conditions have not met it yet
  std::uint32_t reserved = 0;
  Joules energy;
};

/// A finished or cancelled item. Energy is the GPU's, all of it, from begin to end.
struct Completion {
  std::uint64_t ticket = 0;
  std::uint64_t calls = 0;  ///< whole calls; fewer than submitted when it was cancelled
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  ///< of the last whole call
  Joules energy;
  std::uint32_t context = 0;
  std::uint32_t surface = 0;
};

/// A process that uses the GPU. `id` 0 is an empty slot; ids are never used again.
struct Context {
  std::uint32_t id = 0;
  std::uint32_t pid = 0;
  std::uint64_t process_start = 0;  ///< field 22 of /proc/PID/stat: tells a reused pid
  std::uint64_t memory_bytes = 0;
  std::uint32_t mig_instance = kNvmlNoInstance;  ///< index into GpuModel::mig
};

/// A setter call, accepted or refused: lock (least, most in MHz), reset, limit (mW).
struct WriteRecord {
  std::int64_t at_ns = 0;
  std::uint32_t function = 0;  ///< function_index
  nvmlReturn_t result = NVML_SUCCESS;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t pid = 0;
};

/// Conditions that hold until the next event. Raw SI numbers.
struct Conditions {
  double power_w = 0;          ///< at the reference temperature
  double leakage_w_per_k = 0;  ///< 0 in deep idle
  double call_s = 0;           ///< of the running kernel; 0 when none runs
  double core_mhz = 0;
  std::uint32_t memory_mhz = 0;
  std::uint32_t reserved = 0;
  std::uint64_t event_reasons = 0;  ///< NVML's bits
};

/// Quantities at the time of the anchor.
struct Anchor {
  std::int64_t at_ns = 0;
  Joules energy;  ///< since the machine was started, exact
  double temperature_c = 0;
  Watts filtered_power;  ///< as the governor sees it
  std::int64_t busy_ns = 0;
};

/// Taken at each refresh of the sensors.
struct SensorSample {
  Joules energy;           ///< at the refresh
  Joules at_window_start;  ///< an instant window earlier
  std::int64_t busy_ns = 0;
};

/// What a stuck sensor shows until `until_ns`; 0: it is not stuck.
struct FrozenSensors {
  std::int64_t until_ns = 0;
  std::uint64_t energy_mj = 0;
  std::uint32_t instant_power_mw = 0;
  std::uint32_t average_power_mw = 0;
};

/// How the reported counter follows the true energy (faults bend it).
struct CounterMap {
  Joules true_base;
  Joules reported_base;
  double rate = 1;
};

struct GpuState {
  std::int64_t start_ns = 0;       ///< switched on
  std::int64_t now_ns = 0;         ///< time of the last advance
  std::int64_t next_event_ns = 0;  ///< a state before it can be read as it is
  std::int64_t completion_ns = kNever;
  std::int64_t governor_tick_ns = kNever;
  Anchor anchor;
  Conditions conditions;
  ClockDomain core;
  ClockDomain memory;
  Watts power_limit;
  std::uint32_t power_ceiling_mhz = 0;  ///< of the power governor
  std::uint32_t thermal_ceiling_mhz = 0;
  std::int64_t settled_ns = 0;  ///< awake until then, when nothing runs
  std::uint32_t lost = 0;
  std::uint32_t faults_applied = 0;  ///< of FaultScript::timed, in order
  std::uint32_t next_context = 1;
  std::uint32_t reserved = 0;
  std::uint64_t next_ticket = 1;
  CounterMap counter;
  FrozenSensors frozen;
  RunningWork running;
  std::uint64_t sampled = 0;          ///< refreshes in `samples` so far
  std::uint64_t windows_sampled = 0;  ///< beginnings of instant windows so far
  std::array<SensorSample, kSensorHistory> samples{};
  Ring<WorkItem, kQueueItems> queue;
  Ring<Completion, kCompletions> completions;
  std::array<Context, kContexts> contexts{};
  CallCounts calls{};
  Ring<WriteRecord, kWriteLog> writes;
};
static_assert(std::is_trivially_copyable_v<GpuState>);

}  // namespace negawatt::gpusim
