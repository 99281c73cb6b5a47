// SPDX-License-Identifier: Apache-2.0
//
// What a recording of a CUDA program holds: who ran, what the names stand for, and what happened
// when. Every moment is on the recording's common clock, GPU and host alike, in nanoseconds. Values
// of sensors are whole numbers in the driver's unit, which the name of the quantity ends in.
// docs/formats.md describes the file, recording_fields.hpp is its grammar.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/units.hpp"

namespace negawatt::trace {

/// A moment of the common clock; between two moments lie Seconds.
struct Instant {
  std::int64_t ns = 0;
  auto operator<=>(const Instant&) const = default;
};
[[nodiscard]] inline Seconds operator-(Instant a, Instant b) {
  // Moments of a hostile file may lie further apart than 2^63: wrong then, but defined.
  const std::uint64_t ns = static_cast<std::uint64_t>(a.ns) - static_cast<std::uint64_t>(b.ns);
  return Seconds(static_cast<double>(static_cast<std::int64_t>(ns)) / 1e9);
}

enum class CommonClock : std::uint8_t { monotonic, monotonic_raw, realtime };

/// Whose recording it is. Files are on one time axis when `host`, `boot` and `clock` are equal.
struct RecordingHeader {
  std::uint32_t process_id = 0;
  std::uint32_t parent_process_id = 0;
  CommonClock clock = CommonClock::monotonic;
  Instant start;                   ///< on the common clock
  std::int64_t wall_start_ns = 0;  ///< the same moment, since 1970-01-01 UTC
  std::string host;
  std::string boot;  ///< the kernel's boot id: the common clock begins with it
  std::vector<std::string> command;
  bool operator==(const RecordingHeader&) const = default;
};

// Ids of texts, kernel classes, lanes and sensors count from 1 in the order of the file; 0 is "not
// known" (a table was full).
struct Text {
  std::string_view text;  ///< any bytes, at most kLongestText
};
struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
  auto operator<=>(const Extent&) const = default;
};
/// Launches that differ in none of this are of one class.
struct KernelClass {
  std::uint32_t name = 0;  ///< text
  Extent grid, block;
  std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0, registers_per_thread = 0;
  auto operator<=>(const KernelClass&) const = default;
};
/// A stream of a context of a device.
struct Lane {
  std::uint32_t device = 0, context = 0, stream = 0;
  auto operator<=>(const Lane&) const = default;
};
enum class SensorQuantity : std::uint8_t {
  instant_power_mw,
  average_power_mw,
  core_clock_mhz,
  memory_clock_mhz,
  temperature_c,
  throttle_reasons,  ///< a set of bits, as the driver defines them
  energy_counter_mj,
};
inline constexpr std::size_t kSensorQuantities = 7;
struct Sensor {
  std::uint32_t device = 0;
  SensorQuantity quantity = SensorQuantity::instant_power_mw;
  std::optional<std::uint64_t> period_ns;  ///< between two refreshes
  std::optional<std::uint64_t> window_ns;  ///< that a value is the mean of
  std::uint32_t source = 0;                ///< text: which call of which library
  auto operator<=>(const Sensor&) const = default;
};

// What happened. `correlation` ties what a GPU did to the call that asked for it.
struct KernelRun {
  Instant start, end;
  std::uint32_t kernel_class = 0, lane = 0, correlation = 0;
  std::optional<std::uint64_t> graph_node;  ///< of the graph launch with the same correlation
};
enum class CopyKind : std::uint8_t {
  other,
  host_to_device,
  device_to_host,
  device_to_device,
  peer
};
struct MemoryCopy {
  Instant start, end;
  std::uint64_t bytes = 0;
  std::uint32_t lane = 0, correlation = 0;
  CopyKind kind = CopyKind::other;
};
struct MemorySet {
  Instant start, end;
  std::uint64_t bytes = 0;
  std::uint32_t lane = 0, correlation = 0;
};
/// A whole CUDA graph; its kernels follow as KernelRun where they were traced.
struct GraphLaunch {
  Instant start, end;
  std::uint32_t graph = 0, lane = 0, correlation = 0;
};
/// The call on the host that asked for a kernel, copy, set or graph.
struct HostCall {
  Instant start, end;
  std::uint32_t thread = 0, correlation = 0;
};
struct RangePush {
  Instant at;
  std::uint32_t thread = 0, domain = 0, name = 0;  ///< domain, name: texts
};
struct RangePop {
  Instant at;
  std::uint32_t thread = 0, domain = 0;
};
/// A range that may end on another thread and need not nest.
struct RangeStart {
  Instant at;
  std::uint64_t range = 0;
  std::uint32_t domain = 0, name = 0;
};
struct RangeEnd {
  Instant at;
  std::uint64_t range = 0;
};
struct DeviceSeen {
  Instant at;
  std::uint32_t device = 0, name = 0;
  std::array<std::uint8_t, 16> uuid{};
};
struct ContextCreated {
  Instant at;
  std::uint32_t device = 0, context = 0;
};
struct StreamCreated {
  Instant at;
  std::uint32_t context = 0, stream = 0;
};
struct Sample {
  Instant at;
  std::uint32_t sensor = 0;
  std::uint64_t value = 0;
};
enum class DropReason : std::uint8_t {
  no_room,    ///< the recorder's buffers were full
  profiler,   ///< the profiling interface dropped them itself
  bad_times,  ///< start 0, or an end before the start
};
struct Dropped {
  Instant from, to;
  std::uint64_t count = 0;
  DropReason reason = DropReason::no_room;
};
/// Whether kernels were traced from one moment to another, so that a gap is no idle GPU.
struct Coverage {
  Instant from, to;
  bool traced = true;
};
/// The last record of a recording that was ended in order.
struct Closed {
  Instant at;
  std::uint64_t lost_tables = 0;  ///< names, classes, lanes and sensors that got id 0
};

using Event = std::variant<KernelRun, MemoryCopy, MemorySet, GraphLaunch, HostCall, RangePush,
                           RangePop, RangeStart, RangeEnd, DeviceSeen, ContextCreated,
                           StreamCreated, Sample, Dropped, Coverage, Closed>;

/// When it began.
[[nodiscard]] Instant time_of(const Event& event);

}  // namespace negawatt::trace
