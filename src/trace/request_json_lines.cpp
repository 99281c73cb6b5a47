// SPDX-License-Identifier: Apache-2.0
#include "trace/request_json_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "trace/request_builder.hpp"

namespace negawatt::trace {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The keys of one line that a layout may ask for; 0 is the arrival, then input and output.
constexpr std::size_t kKeys = 3;
using Keys = std::array<std::string_view, kKeys>;

Keys keys_of(const RequestLayout& layout) { return {layout.arrival, layout.input, layout.output}; }

/// Times and tokens come as whole numbers or not; anything else has no value.
struct Value {
  bool present = false;
  bool is_whole = false;
  std::uint64_t whole = 0;
  double number = std::numeric_limits<double>::quiet_NaN();
};

/// Listens to the parser and keeps the numbers of the wanted keys of the outermost object.
class Listener : public nlohmann::json_sax<Json> {
 public:
  explicit Listener(Keys keys) : keys_(keys) {}

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    const auto* found = std::ranges::find(keys_, name);
    wanted_ =
        found == keys_.end() ? nullptr : &values[static_cast<std::size_t>(found - keys_.begin())];
    if (wanted_ == nullptr) return true;
    if (wanted_->present) twice = name;
    wanted_->present = true;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ == 1 && wanted_ != nullptr)
      *wanted_ = {true, true, value, static_cast<double>(value)};
    return in_object();
  }
  bool number_integer(number_integer_t value) override { return keep(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return keep(value); }
  bool start_object(std::size_t /*size*/) override { return ++depth_, true; }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t /*size*/) override { return ++depth_ > 1; }
  bool end_array() override { return --depth_, true; }
  bool null() override { return in_object(); }
  bool boolean(bool /*value*/) override { return in_object(); }
  bool string(string_t& /*value*/) override { return in_object(); }
  bool binary(binary_t& /*value*/) override { return in_object(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  std::array<Value, kKeys> values;
  std::string twice;  ///< a wanted key that is there twice

 private:
  [[nodiscard]] bool in_object() const { return depth_ > 0; }
  bool keep(double value) {
    if (depth_ == 1 && wanted_ != nullptr) *wanted_ = {true, false, 0, value};
    return in_object();
  }

  Keys keys_;
  Value* wanted_ = nullptr;
  int depth_ = 0;
};

class LineReader {
 public:
  LineReader(std::string_view bytes, std::string_view file) : rest_(bytes), file_(file) {
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  /// Moves to the next line that is not blank; false at the end.
  bool next() {
    while (!rest_.empty()) {
      const auto end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (line_.find_first_not_of(" \t\r") != std::string_view::npos) return true;
    }
    return false;
  }

  [[nodiscard]] Result<Listener> read(Keys keys) const {
    Listener listener(keys);
    if (!Json::sax_parse(line_.begin(), line_.end(), &listener))
      return error(fmt::format("'{}' is no JSON object", printable(line_)));
    if (!listener.twice.empty())
      return error(fmt::format("key '{}' is there twice", listener.twice));
    return listener;
  }
  [[nodiscard]] tl::unexpected<Error> error(std::string_view what) const {
    return failure(Code::invalid, fmt::format("{}:{}: {}", file_, number_, what));
  }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::string file_;
  std::uint64_t number_ = 0;
};

/// The layouts that are published as JSON lines.
bool may_be_lines(const RequestLayout& layout) {
  return layout.format == RequestFormat::mooncake || layout.format == RequestFormat::lmsys;
}

bool has_all(const Listener& listener) {
  return std::ranges::all_of(listener.values, &Value::present);
}

/// The layout whose keys the first line has.
Result<RequestLayout> layout_of(const LineReader& lines, std::optional<RequestFormat> format) {
  for (const auto& layout : request_layouts()) {
    if (!may_be_lines(layout) || (format && *format != layout.format)) continue;
    NW_TRY(const auto listener, lines.read(keys_of(layout)));
    if (format || has_all(listener)) return layout;
  }
  if (format) {
    return lines.error(fmt::format("JSON lines, but format {} is CSV, expected mooncake or lmsys",
                                   name_of(*format)));
  }
  return lines.error(
      "no format has these keys, expected timestamp, input_length, output_length (mooncake) or "
      "StartTimeOffset, ContextTokens, GeneratedTokens (lmsys)");
}

Result<std::uint32_t> tokens(const LineReader& lines, std::string_view key, const Value& value) {
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  if (value.is_whole && value.whole >= 1 && value.whole <= kMost)
    return static_cast<std::uint32_t>(value.whole);
  return lines.error(
      fmt::format("{} is {}, expected a whole number from 1 to {}", key,
                  std::isnan(value.number) ? "no number" : fmt::format("{}", value.number), kMost));
}

Result<RequestRecord> record_of(const LineReader& lines, const RequestLayout& layout) {
  const auto keys = keys_of(layout);
  NW_TRY(const auto listener, lines.read(keys));
  for (std::size_t k = 0; k < kKeys; ++k)
    if (!listener.values[k].present)
      return lines.error(fmt::format("key '{}' is missing", keys[k]));
  const auto& time = listener.values[0];
  if (!(std::isfinite(time.number) && time.number >= 0.0))
    return lines.error(fmt::format("{} is not {}", layout.arrival, expected_time(layout.unit)));
  RequestRecord record{.arrival = time.is_whole ? static_cast<FileTime>(time.whole)
                                                : static_cast<FileTime>(time.number)};
  NW_TRY(record.input_tokens, tokens(lines, layout.input, listener.values[1]));
  NW_TRY(record.output_tokens, tokens(lines, layout.output, listener.values[2]));
  return record;
}

}  // namespace

bool looks_like_json_lines(std::string_view bytes) {
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const auto first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

Result<RequestTrace> parse_request_lines(std::string_view bytes, std::string_view file,
                                         std::optional<RequestFormat> format) {
  LineReader lines(bytes, file);
  bool more = lines.next();
  NW_ASSERT(more);  // it looks like JSON
  NW_TRY(const auto layout, layout_of(lines, format));
  RequestBuilder builder(layout.unit);
  for (; more; more = lines.next()) {
    NW_TRY(const auto record, record_of(lines, layout));
    if (const auto complaint = builder.add(record)) return lines.error(*complaint);
  }
  return std::move(builder).finish(file, bytes);
}

}  // namespace negawatt::trace
