// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_decoder.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "trace/recording_field_reader.hpp"

namespace negawatt::trace {

RecordingTables::RecordingTables() : texts_(1), classes_(1), lanes_(1), sensors_(1) {}

/// Takes one record after the other into the tables or the events.
struct RecordTaker {
  FieldReader& reader;
  RecordingTables& tables;
  std::vector<Event>& events;

  Status take(std::uint8_t tag) {
    return take(tag, std::make_index_sequence<std::variant_size_v<Record>>{});
  }

  template <std::size_t... Tags>
  Status take(std::uint8_t tag, std::index_sequence<Tags...>) {
    Status done = failure(Code::invalid, fmt::format("there is no record of kind {}", tag));
    static_cast<void>(
        ((tag == Tags && (done = take_one<std::variant_alternative_t<Tags, Record>>(), true)) ||
         ...));
    return done;
  }

  template <class R>
  Status take_one() {
    R record;
    fields(record, reader);
    if (!reader.ok())
      return failure(Code::invalid, "a record is cut off or has a field out of range");
    if (!refers_well(record))
      return failure(Code::invalid, "a record refers to what is not defined");
    if constexpr (std::is_constructible_v<Event, R>) {
      events.emplace_back(record);
      return {};
    } else {
      return define(record);
    }
  }

  Status define(Text text) {
    if (tables.text_bytes_ + text.text.size() > kMostTextBytes) return too_many("bytes of text");
    tables.text_bytes_ += text.text.size();
    return add(tables.texts_, std::string(text.text), kMostTexts, "texts");
  }
  Status define(const KernelClass& one) {
    return add(tables.classes_, one, kMostClasses, "kernel classes");
  }
  Status define(const Lane& one) { return add(tables.lanes_, one, kMostLanes, "lanes"); }
  Status define(const Sensor& one) { return add(tables.sensors_, one, kMostSensors, "sensors"); }

  template <class T>
  Status add(std::vector<T>& table, T one, std::size_t most, std::string_view what) {
    if (table.size() == most) return too_many(what);
    table.push_back(std::move(one));
    return {};
  }
  static Status too_many(std::string_view what) {
    return failure(Code::invalid, fmt::format("there are more {} than a recording may have", what));
  }

  [[nodiscard]] bool refers_well(const auto& r) const {
    bool well = true;
    if constexpr (requires { r.name; }) well = well && r.name < tables.texts_.size();
    if constexpr (requires { r.domain; }) well = well && r.domain < tables.texts_.size();
    if constexpr (requires { r.source; }) well = well && r.source < tables.texts_.size();
    if constexpr (requires { r.kernel_class; }) {
      well = well && r.kernel_class < tables.classes_.size();
    }
    if constexpr (requires { r.lane; }) well = well && r.lane < tables.lanes_.size();
    if constexpr (requires { r.sensor; }) well = well && r.sensor < tables.sensors_.size();
    return well;
  }
};

Result<RecordingHeader> BlockDecoder::header(std::string_view payload) {
  RecordingHeader header;
  FieldReader reader(payload);
  header_fields(header, reader);
  if (!reader.ok() || !reader.at_end()) {
    return failure(Code::invalid, "the recording's header has a field out of range");
  }
  return header;
}

Status BlockDecoder::decode(std::string_view payload, std::uint32_t records,
                            std::vector<Event>& events) {
  const std::size_t before = events.size();
  FieldReader reader(payload);
  RecordTaker taker{reader, tables_, events};
  Status done;
  std::uint32_t taken = 0;
  for (; done && !reader.at_end(); ++taken) done = taker.take(reader.byte());
  if (done && taken != records) {
    done = failure(Code::invalid,
                   fmt::format("this block has {} records, {} are expected", taken, records));
  }
  if (!done) events.resize(before);
  return done;
}

}  // namespace negawatt::trace
