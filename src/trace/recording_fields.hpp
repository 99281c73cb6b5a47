// SPDX-License-Identifier: Apache-2.0
//
// The grammar of the records of a recording, stated once for its encoder and its decoder.
//
//   file    = magic[8] version:u32 block*                        ; integers little-endian
//   block   = mark:u32 sequence:u32 stored:u32 raw:u32 records:u32 checksum:u32 payload[stored]
//   payload = one zstd frame of `raw` bytes: in block 0 a header, in the others `records` records
//   record  = tag:u8 field*
//
// The checksum is the CRC-32 of the 20 bytes before it and of the payload. A field is a varint
// (seven bits a byte, low ones first). What moves little is stored as the difference to its last
// value within the block, zigzag: 0, -1, 1, -2 become 0, 1, 2, 3. So a block needs no other block
// but for its tables, and a file that is cut off anywhere is whole up to its last whole block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "trace/recording.hpp"

namespace negawatt::trace {

inline constexpr std::string_view kRecordingMagic =
    "\x89NWREC\r\n";  // broken by text mode, as PNG's
inline constexpr std::uint32_t kRecordingVersion = 1;
inline constexpr std::size_t kRecordingPreamble = 12;
inline constexpr std::size_t kBlockHeader = 24;

// Limits, so that neither a hostile file nor a long run decides how much memory is used.
inline constexpr std::size_t kLargestBlock = std::size_t{256} << 10U;  ///< bytes, decompressed
inline constexpr std::size_t kLongestText = std::size_t{16} << 10U;
inline constexpr std::size_t kMostTextBytes = std::size_t{64} << 20U;
inline constexpr std::uint32_t kMostTexts = 1U << 20U;
inline constexpr std::uint32_t kMostClasses = 1U << 20U;
inline constexpr std::uint32_t kMostLanes = 1U << 16U;
inline constexpr std::uint32_t kMostSensors = 1U << 10U;
inline constexpr std::size_t kMostArguments = 1024;
/// Moments lie in [0, 2^62) ns: 146 years, and sums of two of them do not overflow.
inline constexpr std::int64_t kLastMoment = (std::int64_t{1} << 62U) - 1;

/// The tag of a record is its place in this list.
using Record =
    std::variant<Text, KernelClass, Lane, Sensor, KernelRun, MemoryCopy, MemorySet, GraphLaunch,
                 HostCall, RangePush, RangePop, RangeStart, RangeEnd, DeviceSeen, ContextCreated,
                 StreamCreated, Sample, Dropped, Coverage, Closed>;

/// What differences are taken to; all 0 at the start of a block.
struct DeltaState {
  std::int64_t moment = 0;
  std::uint32_t correlation = 0;
  std::uint64_t graph_node = 0;
  std::array<std::uint64_t, kMostSensors> value{};
};

/// Hands the fields of a record to `codec`, in the order of the file.
template <class R, class Codec>
constexpr void fields(R& record, Codec& codec) {  // long: one line a record, read as a table
  using Kind = std::remove_const_t<R>;
  auto& r = record;
  if constexpr (std::is_same_v<Kind, Text>) {
    codec.text(r.text);
  } else if constexpr (std::is_same_v<Kind, KernelClass>) {
    codec.numbers(r.name, r.grid.x, r.grid.y, r.grid.z, r.block.x, r.block.y, r.block.z,
                  r.static_shared_bytes, r.dynamic_shared_bytes, r.registers_per_thread);
  } else if constexpr (std::is_same_v<Kind, Lane>) {
    codec.numbers(r.device, r.context, r.stream);
  } else if constexpr (std::is_same_v<Kind, Sensor>) {
    codec.numbers(r.device, r.source);
    codec.name(r.quantity, SensorQuantity::energy_counter_mj);
    codec.if_known(r.period_ns);
    codec.if_known(r.window_ns);
  } else if constexpr (std::is_same_v<Kind, KernelRun>) {
    codec.span(r.start, r.end);
    codec.numbers(r.kernel_class, r.lane);
    codec.correlation(r.correlation);
    codec.graph_node(r.graph_node);
  } else if constexpr (std::is_same_v<Kind, MemoryCopy>) {
    codec.span(r.start, r.end);
    codec.numbers(r.bytes, r.lane);
    codec.correlation(r.correlation);
    codec.name(r.kind, CopyKind::peer);
  } else if constexpr (std::is_same_v<Kind, MemorySet>) {
    codec.span(r.start, r.end);
    codec.numbers(r.bytes, r.lane);
    codec.correlation(r.correlation);
  } else if constexpr (std::is_same_v<Kind, GraphLaunch>) {
    codec.span(r.start, r.end);
    codec.numbers(r.graph, r.lane);
    codec.correlation(r.correlation);
  } else if constexpr (std::is_same_v<Kind, HostCall>) {
    codec.span(r.start, r.end);
    codec.numbers(r.thread);
    codec.correlation(r.correlation);
  } else if constexpr (std::is_same_v<Kind, Dropped>) {
    codec.span(r.from, r.to);
    codec.numbers(r.count);
    codec.name(r.reason, DropReason::bad_times);
  } else if constexpr (std::is_same_v<Kind, Coverage>) {
    codec.span(r.from, r.to);
    codec.flag(r.traced);
  } else {
    codec.moment(r.at);
    if constexpr (std::is_same_v<Kind, RangePush>) codec.numbers(r.thread, r.domain, r.name);
    if constexpr (std::is_same_v<Kind, RangePop>) codec.numbers(r.thread, r.domain);
    if constexpr (std::is_same_v<Kind, RangeStart>) codec.numbers(r.range, r.domain, r.name);
    if constexpr (std::is_same_v<Kind, RangeEnd>) codec.numbers(r.range);
    if constexpr (std::is_same_v<Kind, ContextCreated>) codec.numbers(r.device, r.context);
    if constexpr (std::is_same_v<Kind, StreamCreated>) codec.numbers(r.context, r.stream);
    if constexpr (std::is_same_v<Kind, Sample>) codec.sample(r.sensor, r.value);
    if constexpr (std::is_same_v<Kind, Closed>) codec.numbers(r.lost_tables);
    if constexpr (std::is_same_v<Kind, DeviceSeen>) {
      codec.numbers(r.device, r.name);
      codec.bytes(r.uuid);
    }
  }
}

/// The same of block 0, which has no tag.
template <class H, class Codec>
constexpr void header_fields(H& r, Codec& codec) {
  codec.numbers(r.process_id, r.parent_process_id);
  codec.name(r.clock, CommonClock::realtime);
  codec.moment(r.start);
  codec.wall(r.wall_start_ns);
  codec.text(r.host);
  codec.text(r.boot);
  codec.texts(r.command);
}

}  // namespace negawatt::trace
