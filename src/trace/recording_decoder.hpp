// SPDX-License-Identifier: Apache-2.0
//
// The payload of a block -> its events, and the tables that they refer to. Trusts nothing: an id
// that no table has, a time outside the range, a text too long, a byte too many end it. Not
// thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "trace/recording_fields.hpp"

namespace negawatt::trace {

/// What ids stand for. Entry 0 is what is not known: an empty name, an empty class.
class RecordingTables {
 public:
  RecordingTables();

  /// Any bytes: core/text.hpp makes them harmless.
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] std::span<const KernelClass> classes() const { return classes_; }
  [[nodiscard]] std::span<const Lane> lanes() const { return lanes_; }
  [[nodiscard]] std::span<const Sensor> sensors() const { return sensors_; }
  [[nodiscard]] std::size_t texts() const { return texts_.size(); }

 private:
  friend struct RecordTaker;
  std::vector<std::string> texts_;
  std::size_t text_bytes_ = 0;
  std::vector<KernelClass> classes_;
  std::vector<Lane> lanes_;
  std::vector<Sensor> sensors_;
};

class BlockDecoder {
 public:
  [[nodiscard]] static Result<RecordingHeader> header(std::string_view payload);
  /// Adds the events of a payload with `records` records to `events`. On error `events` is as
  /// before, and what this block added to the tables is referred to by nothing.
  Status decode(std::string_view payload, std::uint32_t records, std::vector<Event>& events);
  [[nodiscard]] const RecordingTables& tables() const { return tables_; }

 private:
  RecordingTables tables_;
};

}  // namespace negawatt::trace
