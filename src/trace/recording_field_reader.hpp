// SPDX-License-Identifier: Apache-2.0
//
// Reads the fields that recording_encoder.hpp writes, from bytes that may be anything. After the
// first field that is wrong every field is 0 or empty and `ok()` is false.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording_fields.hpp"

namespace negawatt::trace {

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : left_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return left_.empty(); }

  std::uint8_t byte() {
    if (left_.empty()) return fail(), std::uint8_t{0};
    const auto value = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return value;
  }
  /// At most ten bytes, and the tenth holds one bit.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= (next & 0x7FU) << shift;
      if (next < 0x80U) return value;
    }
    return fail(), 0;
  }
  std::uint64_t after(std::uint64_t from) {
    const std::uint64_t folded = varint();
    return from + ((folded >> 1U) ^ (0U - (folded & 1U)));
  }

  template <class... Numbers>
  void numbers(Numbers&... all) {
    (number(all), ...);
  }
  template <class Enum>
  void name(Enum& value, Enum greatest) {
    const std::uint8_t number = byte();
    if (number > static_cast<std::uint8_t>(greatest)) return fail();
    value = static_cast<Enum>(number);
  }
  void flag(bool& value) {
    const std::uint8_t number = byte();
    if (number > 1) return fail();
    value = number == 1;
  }
  void if_known(std::optional<std::uint64_t>& value) {
    bool known = false;
    flag(known);
    if (known) value = varint();
  }
  void moment(Instant& at) {
    at = {static_cast<std::int64_t>(after(static_cast<std::uint64_t>(last_.moment)))};
    if (at.ns < 0 || at.ns > kLastMoment) return fail();
    last_.moment = at.ns;
  }
  void span(Instant& from, Instant& to) {
    moment(from);
    const std::uint64_t duration = varint();
    if (!ok_ || duration > static_cast<std::uint64_t>(kLastMoment - from.ns)) return fail();
    to.ns = from.ns + static_cast<std::int64_t>(duration);
    last_.moment = to.ns;
  }
  void wall(std::int64_t& ns) { ns = static_cast<std::int64_t>(after(0)); }
  void correlation(std::uint32_t& value) {
    const std::uint64_t number = after(last_.correlation);
    if (number > UINT32_MAX) return fail();
    last_.correlation = value = static_cast<std::uint32_t>(number);
  }
  void graph_node(std::optional<std::uint64_t>& node) {
    bool known = false;
    flag(known);
    if (known) node = last_.graph_node = after(last_.graph_node);
  }
  void sample(std::uint32_t& sensor, std::uint64_t& value) {
    number(sensor);
    if (sensor >= kMostSensors) return fail();
    value = last_.value[sensor] = after(last_.value[sensor]);
  }
  template <std::size_t N>
  void bytes(std::array<std::uint8_t, N>& all) {
    for (std::uint8_t& one : all) one = byte();
  }
  /// Refers to the bytes that are read.
  void text(std::string_view& text) {
    const std::uint64_t size = varint();
    if (size > kLongestText || size > left_.size()) return fail();
    text = left_.substr(0, size);
    left_.remove_prefix(size);
  }
  void text(std::string& text) {
    std::string_view bytes;
    this->text(bytes);
    text = bytes;
  }
  void texts(std::vector<std::string>& all) {
    const std::uint64_t count = varint();
    if (count > kMostArguments) return fail();
    for (std::uint64_t i = 0; i < count && ok_; ++i) text(all.emplace_back());
  }

 private:
  void fail() {
    ok_ = false;
    left_ = {};
  }
  void number(std::uint64_t& value) { value = varint(); }
  void number(std::uint32_t& value) {
    const std::uint64_t wide = varint();
    if (wide > UINT32_MAX) return fail();
    value = static_cast<std::uint32_t>(wide);
  }

  std::string_view left_;
  bool ok_ = true;
  DeltaState last_;
};

}  // namespace negawatt::trace
