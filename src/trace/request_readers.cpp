// SPDX-License-Identifier: Apache-2.0
#include "trace/request_readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/csv.hpp"
#include "trace/request_builder.hpp"
#include "trace/request_json_lines.hpp"

namespace negawatt::trace {
namespace {

/// Columns a record cannot be without.
std::vector<std::string_view> required(const RequestLayout& layout) {
  std::vector<std::string_view> names;
  for (const auto name : {layout.arrival, layout.input, layout.output, layout.batch})
    if (!name.empty()) names.push_back(name);
  return names;
}

bool has(const CsvReader& csv, std::string_view column) {
  return csv.find(column) < csv.columns().size();
}

std::string columns_of(const RequestLayout& layout) {
  std::string text;
  for (const auto name : required(layout)) text += (text.empty() ? "" : ",") + std::string(name);
  return text;
}

/// The first layout, of `format` if that is given, that the header fits.
Result<RequestLayout> layout_of(const CsvReader& csv, std::optional<RequestFormat> format) {
  std::string known;
  for (const auto& layout : request_layouts()) {
    if (format && *format != layout.format) continue;
    if (std::ranges::all_of(required(layout), [&](auto name) { return has(csv, name); }))
      return layout;
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", name_of(layout.format),
                         columns_of(layout));
  }
  return csv.error(fmt::format("the columns are those of no request format, expected {}", known));
}

std::size_t position(const CsvReader& csv, std::string_view column) {
  return column.empty() ? csv.columns().size() : csv.find(column);
}

/// Where the columns of a layout stand in this file; columns().size() where it has none.
struct Positions {
  Positions(const CsvReader& csv, const RequestLayout& layout)
      : arrival(position(csv, layout.arrival)),
        input(position(csv, layout.input)),
        output(position(csv, layout.output)),
        request_class(position(csv, layout.request_class)),
        priority(position(csv, layout.priority)),
        batch(position(csv, layout.batch)),
        none(csv.columns().size()) {}

  std::size_t arrival, input, output, request_class, priority, batch, none;
};

Result<std::int16_t> priority_in(const CsvReader& csv, std::size_t column) {
  const auto text = csv.field(column);
  std::int16_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size()) return value;
  return csv.error_in(column, "a whole number from -32768 to 32767");
}

Result<RequestRecord> record_of(const CsvReader& csv, const Positions& at, ArrivalUnit unit) {
  RequestRecord record;
  if (unit != ArrivalUnit::none) {
    const auto time = file_time(csv.field(at.arrival), unit);
    if (!time) return csv.error_in(at.arrival, expected_time(unit));
    record.arrival = *time;
  }
  NW_TRY(record.input_tokens, csv.whole(at.input, 1));
  NW_TRY(record.output_tokens, csv.whole(at.output, 1));
  if (at.request_class != at.none) {
    NW_TRY(record.request_class, csv.text(at.request_class));
  }
  if (at.priority != at.none) {
    NW_TRY(record.priority, priority_in(csv, at.priority));
  }
  if (at.batch != at.none && csv.field(at.batch) != "1")
    return csv.error_in(at.batch, "1: a record is one request");
  return record;
}

Result<RequestTrace> parse_request_csv(std::string_view bytes, std::string_view file,
                                       std::optional<RequestFormat> format) {
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const auto layout, layout_of(csv, format));
  const Positions at(csv, layout);
  RequestBuilder builder(layout.unit);
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) break;
    NW_TRY(const auto record, record_of(csv, at, layout.unit));
    if (const auto complaint = builder.add(record)) return csv.error(*complaint);
  }
  if (builder.empty()) return csv.error("no rows below the header");
  return std::move(builder).finish(file, bytes);
}

}  // namespace

Result<RequestTrace> parse_requests(std::string_view bytes, std::string_view file,
                                    std::optional<RequestFormat> format) {
  return looks_like_json_lines(bytes) ? parse_request_lines(bytes, file, format)
                                      : parse_request_csv(bytes, file, format);
}

}  // namespace negawatt::trace
