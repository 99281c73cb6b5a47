// SPDX-License-Identifier: Apache-2.0
#include "core/csv.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "core/text.hpp"

namespace negawatt {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// A message names so many columns of a foreign file.
constexpr std::size_t kMostNamed = 12;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kMostNamed) return text + fmt::format(",... ({} columns)", names.size());
    text += i == 0 ? "" : ",";
    text += printable(names[i]);
  }
  return text;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

CsvReader::CsvReader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {
  if (bytes_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

tl::unexpected<Error> CsvReader::error(std::string what) const {
  return failure(Code::invalid, fmt::format("{}:{}: {}", file_, record_line_, what));
}

void CsvReader::skip_line_end() {
  if (at_ < bytes_.size() && bytes_[at_] == '\r') ++at_;
  if (at_ < bytes_.size() && bytes_[at_] == '\n') ++at_;
  ++line_;
}

void CsvReader::skip_blank_lines() {
  while (at_ < bytes_.size() && (bytes_[at_] == '\n' || bytes_[at_] == '\r')) skip_line_end();
}

Status CsvReader::read_header() {
  skip_blank_lines();
  while (at_ < bytes_.size() && bytes_[at_] == '#') {
    const auto end = std::min(bytes_.find('\n', at_), bytes_.size());
    auto text = bytes_.substr(at_ + 1, end - at_ - 1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    comments_.emplace_back(trimmed(text));
    at_ = end;
    skip_line_end();
    skip_blank_lines();
  }
  record_line_ = line_;
  if (at_ >= bytes_.size()) return error("the file is empty: expected a header line");
  NW_CHECK(split_record());
  columns_.clear();
  for (const auto field : fields_) columns_.emplace_back(trimmed(field));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (find(columns_[i]) != i)
      return error(fmt::format("column '{}' is there twice", printable(columns_[i])));
  }
  return {};
}

Result<bool> CsvReader::next() {
  skip_blank_lines();
  if (at_ >= bytes_.size()) return false;
  record_line_ = line_;
  NW_CHECK(split_record());
  if (fields_.size() == columns_.size()) return true;
  const bool is_last = at_ >= bytes_.size() && !ended_with_newline();
  return error(fmt::format("{}{} field{}, expected {} ({})",
                           is_last ? "the last line is cut off: " : "", fields_.size(),
                           fields_.size() == 1 ? "" : "s", columns_.size(), joined(columns_)));
}

Status CsvReader::split_record() {
  fields_.clear();
  unquoted_.clear();
  while (true) {
    if (at_ < bytes_.size() && bytes_[at_] == '"') {
      NW_TRY(const auto field, quoted_field());
      fields_.push_back(field);
    } else {
      auto end = at_;
      while (end < bytes_.size() && bytes_[end] != ',' && bytes_[end] != '\n') ++end;
      auto field = bytes_.substr(at_, end - at_);
      at_ = end;
      const bool at_line_end = end >= bytes_.size() || bytes_[end] == '\n';
      if (at_line_end && field.ends_with('\r')) field.remove_suffix(1);
      fields_.push_back(field);
    }
    if (at_ >= bytes_.size()) return {};
    if (bytes_[at_] != ',') break;
    ++at_;
  }
  skip_line_end();
  return {};
}

Result<std::string_view> CsvReader::quoted_field() {
  const auto start = ++at_;
  bool has_doubled_quote = false;
  while (true) {
    const auto quote = bytes_.find('"', at_);
    if (quote == std::string_view::npos) return error("a quoted field is never closed");
    line_ += static_cast<std::uint64_t>(
        std::count(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                   bytes_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
    at_ = quote + 1;
    if (at_ >= bytes_.size() || bytes_[at_] != '"') break;
    has_doubled_quote = true;
    ++at_;
  }
  const bool closes_field = at_ >= bytes_.size() || bytes_[at_] == ',' || bytes_[at_] == '\n' ||
                            bytes_.substr(at_).starts_with("\r\n");
  if (!closes_field) return error("text after the closing quote of a field");
  if (at_ < bytes_.size() && bytes_[at_] == '\r') ++at_;
  const auto raw = bytes_.substr(start, bytes_.rfind('"', at_ - 1) - start);
  if (!has_doubled_quote) return raw;
  auto& text = unquoted_.emplace_back();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    text += raw[i];
    if (raw[i] == '"') ++i;
  }
  return std::string_view(text);
}

std::string_view CsvReader::comment(std::string_view key) const {
  for (const std::string_view text : comments_) {
    if (text.starts_with(key) && text.substr(key.size()).starts_with(':'))
      return trimmed(text.substr(key.size() + 1));
  }
  return {};
}

bool CsvReader::ended_with_newline() const { return bytes_.ends_with('\n'); }

std::size_t CsvReader::find(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin());
}

Result<std::vector<std::size_t>> CsvReader::require(std::span<const std::string_view> names) const {
  std::vector<std::size_t> positions;
  std::string missing;
  for (const auto name : names) {
    positions.push_back(find(name));
    if (positions.back() == columns_.size())
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", name);
  }
  if (missing.empty()) return positions;
  return error(fmt::format("missing column {}; found {}", missing, joined(columns_)));
}

tl::unexpected<Error> CsvReader::error_in(std::size_t column, std::string_view expected) const {
  return error(fmt::format("{} is '{}', expected {}", printable(columns_[column]),
                           printable(fields_[column]), expected));
}

Result<std::string_view> CsvReader::text(std::size_t column) const {
  if (is_printable(fields_[column])) return fields_[column];
  return error_in(column, "UTF-8 text without control characters");
}

Result<double> CsvReader::number(std::size_t column) const {
  auto text = trimmed(fields_[column]);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = code == std::errc{} && end == text.data() + text.size() && !text.empty();
  if (is_number && std::isfinite(value)) return value;
  return error_in(column, "a finite number");
}

Result<double> CsvReader::positive(std::size_t column) const {
  NW_TRY(const double value, number(column));
  if (value > 0.0) return value;
  return error(fmt::format("{} is {}, expected more than 0 (leave out what was not measured)",
                           printable(columns_[column]), value));
}

Result<std::uint32_t> CsvReader::whole(std::size_t column, std::uint32_t least) const {
  const auto text = trimmed(fields_[column]);
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = code == std::errc{} && end == text.data() + text.size() && !text.empty();
  if (is_whole && value >= least) return value;
  return error_in(column, fmt::format("a whole number from {} to {}", least,
                                      std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace negawatt
