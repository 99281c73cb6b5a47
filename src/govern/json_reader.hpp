// SPDX-License-Identifier: Apache-2.0
//
// Reads a JSON document of ours: members by name, numbers checked for what they may be. The first
// thing that is wrong is remembered, and what is read from then on is empty, so that a reader of a
// format states what it wants and asks once, at the end, whether it got it. Units are SI. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost.hpp"
#include "core/evidence.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/clocks.hpp"

namespace negawatt::govern {

class JsonReader;

/// A value of the reader's document; lives as long as the reader.
class JsonValue {
  friend JsonReader;
  explicit JsonValue(const void* json) : json_(json) {}
  const void* json_;
};

/// What messages name; both must outlive the reader.
struct JsonSource {
  std::string_view file;
  std::string_view command;  ///< that writes such files
};

class JsonReader {
 public:
  /// Bytes that are no JSON are the first thing that is wrong.
  JsonReader(std::string_view bytes, JsonSource source);
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;
  ~JsonReader();

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  /// FILE: what is wrong (`invalid`). Call after failed().
  [[nodiscard]] tl::unexpected<Error> error() const;
  /// Remembers `what`, unless something was wrong before.
  void refuse(std::string what);

  [[nodiscard]] JsonValue root() const;
  /// The member, which must be there.
  JsonValue member(JsonValue object, const char* key);
  [[nodiscard]] std::optional<JsonValue> find(JsonValue object, const char* key) const;
  /// The elements of a member that is a list.
  std::vector<JsonValue> list(JsonValue object, const char* key);

  /// A finite number that is not negative.
  double number(JsonValue object, const char* key);
  double number_of(JsonValue value, const char* key);
  /// A finite number above 0.
  double positive(JsonValue object, const char* key);
  /// A whole number of at most 4294967295.
  std::uint32_t whole(JsonValue object, const char* key);
  std::uint32_t whole_of(JsonValue value, const char* key);
  /// A whole number of any size.
  std::uint64_t count(JsonValue object, const char* key);
  bool flag(JsonValue object, const char* key);
  std::string text(JsonValue object, const char* key);
  std::string text_of(JsonValue value, const char* key);

  /// MHz above 0, or "auto".
  trace::Clock clock(JsonValue object, const char* key);
  /// `core_mhz` and `memory_mhz`.
  trace::ClockPair clocks(JsonValue object);
  /// `time_s` and `energy_j`.
  Cost cost(JsonValue object);
  /// Likewise, both above 0, so that changes can be taken against it; `name` is what it is called.
  Cost positive_cost(JsonValue object, const char* name);
  /// A kind of evidence; what is missing or unknown is unstated.
  [[nodiscard]] EvidenceKind evidence(JsonValue object, const char* key) const;

 private:
  struct Document;

  std::unique_ptr<const Document> document_;
  JsonSource source_;
  std::optional<std::string> error_;
};

}  // namespace negawatt::govern
