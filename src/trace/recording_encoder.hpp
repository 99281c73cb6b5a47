// SPDX-License-Identifier: Apache-2.0
//
// Records -> the payload of a block (grammar: recording_fields.hpp), into memory that the caller
// owns. Allocates nothing, throws nothing; not thread-safe.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "trace/recording_fields.hpp"

namespace negawatt::trace {

/// Writes fields without looking at the room left: whoever calls it has made sure.
class FieldWriter {
 public:
  FieldWriter(char* next, DeltaState& last) : next_(next), last_(last) {}
  [[nodiscard]] char* end() const { return next_; }

  void byte(std::uint8_t value) { *next_++ = static_cast<char>(value); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) byte(static_cast<std::uint8_t>(value | 0x80U));
    byte(static_cast<std::uint8_t>(value));
  }
  /// Of two numbers whose difference may wrap around.
  void difference(std::uint64_t to, std::uint64_t from) {
    const std::uint64_t ahead = to - from;
    varint((ahead << 1U) ^ (0U - (ahead >> 63U)));
  }

  template <class... Numbers>
  void numbers(const Numbers&... all) {
    (varint(all), ...);
  }
  template <class Enum>
  void name(const Enum& value, Enum /*greatest*/) {
    byte(static_cast<std::uint8_t>(value));
  }
  void flag(const bool& value) { byte(value ? 1 : 0); }
  void if_known(const std::optional<std::uint64_t>& value) {
    flag(value.has_value());
    if (value) varint(*value);
  }
  void moment(const Instant& at) {
    difference(static_cast<std::uint64_t>(at.ns), static_cast<std::uint64_t>(last_.moment));
    last_.moment = at.ns;
  }
  /// The end is stored as a duration, and what follows most often starts right behind it.
  void span(const Instant& from, const Instant& to) {
    moment(from);
    varint(static_cast<std::uint64_t>(to.ns - from.ns));
    last_.moment = to.ns;
  }
  void wall(const std::int64_t& ns) { difference(static_cast<std::uint64_t>(ns), 0); }
  void correlation(const std::uint32_t& value) {
    difference(value, last_.correlation);
    last_.correlation = value;
  }
  void graph_node(const std::optional<std::uint64_t>& node) {
    flag(node.has_value());
    if (node) difference(*node, last_.graph_node);
    last_.graph_node = node.value_or(last_.graph_node);
  }
  void sample(const std::uint32_t& sensor, const std::uint64_t& value) {
    varint(sensor);
    difference(value, last_.value[sensor % kMostSensors]);
    last_.value[sensor % kMostSensors] = value;
  }
  template <std::size_t N>
  void bytes(const std::array<std::uint8_t, N>& all) {
    for (const std::uint8_t one : all) byte(one);
  }
  void text(std::string_view text) {
    varint(text.size());
    std::memcpy(next_, text.data(), text.size());
    next_ += text.size();
  }
  void texts(const std::vector<std::string>& all) {
    varint(all.size());
    for (const auto& one : all) text(one);
  }

 private:
  char* next_;
  DeltaState& last_;
};

/// More than any record but a text takes (recording_codec_test.cpp).
inline constexpr std::size_t kLargestRecord = 128;

/// One block in the making.
class BlockEncoder {
 public:
  /// `space` outlives this; a block that nobody refuses is at most kLargestBlock.
  explicit BlockEncoder(std::span<char> space) : space_(space) {}

  /// False, and nothing written, when there is not surely room for it. Moments must lie in
  /// [0, kLastMoment] and no end before its start; a text has at most kLongestText bytes.
  template <class R>
  [[nodiscard]] bool add(const R& record) {
    std::size_t most = kLargestRecord;
    if constexpr (std::is_same_v<R, Text>) most += record.text.size();
    if (space_.size() - used_ < most) return false;
    FieldWriter writer(space_.data() + used_, last_);
    writer.byte(tag_of<R>());
    fields(record, writer);
    used_ = static_cast<std::size_t>(writer.end() - space_.data());
    ++records_;
    return true;
  }
  [[nodiscard]] std::string_view payload() const { return {space_.data(), used_}; }
  [[nodiscard]] std::uint32_t records() const { return records_; }

 private:
  template <class R, std::size_t Index = 0>
  static constexpr std::uint8_t tag_of() {
    if constexpr (std::is_same_v<R, std::variant_alternative_t<Index, Record>>) {
      return Index;
    } else {
      return tag_of<R, Index + 1>();
    }
  }

  std::span<char> space_;
  std::size_t used_ = 0;
  std::uint32_t records_ = 0;
  DeltaState last_;
};

/// The payload of block 0. A command that is too long for it loses its last arguments, and a host
/// or boot id over 256 bytes its end.
[[nodiscard]] std::string encode_header(const RecordingHeader& header);

}  // namespace negawatt::trace
