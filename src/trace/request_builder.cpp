// SPDX-License-Identifier: Apache-2.0
#include "trace/request_builder.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "trace/calendar_time.hpp"

namespace negawatt::trace {
namespace {

// The class of requests whose file names none.
constexpr std::string_view kNoClass = "default";

// 31 years. A trace that claims to be longer has its times in another unit.
constexpr double kLongest = 1e9;

double units_per_second(ArrivalUnit unit) {
  switch (unit) {
    case ArrivalUnit::calendar:
    case ArrivalUnit::nanoseconds:
      return 1e9;
    case ArrivalUnit::milliseconds:
      return 1e3;
    case ArrivalUnit::seconds:
    case ArrivalUnit::none:
      break;
  }
  return 1.0;
}

std::string_view unit_name(ArrivalUnit unit) {
  switch (unit) {
    case ArrivalUnit::nanoseconds:
      return "nanoseconds";
    case ArrivalUnit::milliseconds:
      return "milliseconds";
    case ArrivalUnit::calendar:
      return "dates";
    case ArrivalUnit::seconds:
    case ArrivalUnit::none:
      break;
  }
  return "seconds";
}

template <class T>
std::optional<T> whole_text_as(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<FileTime> file_time(std::string_view text, ArrivalUnit unit) {
  if (unit == ArrivalUnit::none) return FileTime(0);
  if (unit == ArrivalUnit::calendar) {
    const auto nanoseconds = calendar_nanoseconds(text);
    return nanoseconds ? std::optional(static_cast<FileTime>(*nanoseconds)) : std::nullopt;
  }
  if (const auto whole = whole_text_as<std::uint64_t>(text)) return static_cast<FileTime>(*whole);
  const auto number = whole_text_as<double>(text);
  if (!number || !std::isfinite(*number) || *number < 0.0) return std::nullopt;
  return static_cast<FileTime>(*number);
}

std::string_view expected_time(ArrivalUnit unit) {
  return unit == ArrivalUnit::calendar ? "a time as 2023-11-16 18:17:03.97"
                                       : "a finite number of 0 or more";
}

std::optional<std::uint16_t> RequestBuilder::class_index(std::string_view name) {
  auto found = class_of_name_.find(name);
  if (found == class_of_name_.end()) {
    const auto next = trace_.classes.size();
    if (next >= std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
    trace_.classes.emplace_back(name);
    found = class_of_name_.emplace(name, static_cast<std::uint16_t>(next)).first;
  }
  return found->second;
}

std::optional<std::string> RequestBuilder::add(const RequestRecord& record) {
  if (empty()) {
    first_ = latest_ = record.arrival;
  } else if (record.arrival < latest_) {
    return "arrives before the request above it, expected requests in order of arrival";
  } else if (record.arrival == latest_ && unit_ != ArrivalUnit::none) {
    ++trace_.simultaneous;
  }
  latest_ = record.arrival;
  // Whole counts of a file's unit differ by whole counts, which a double divides correctly rounded.
  const double arrival = static_cast<double>(record.arrival - first_) / units_per_second(unit_);
  if (arrival > kLongest)
    return fmt::format("arrives {:.0f} years after the first request: are its times {}?",
                       arrival / (365.25 * 86'400.0), unit_name(unit_));
  const auto index = class_index(record.request_class.empty() ? kNoClass : record.request_class);
  if (!index) return "is of yet another class, expected at most 65535 of them";
  trace_.requests.push_back({.arrival = Seconds(arrival),
                             .input_tokens = record.input_tokens,
                             .output_tokens = record.output_tokens,
                             .request_class = *index,
                             .priority = record.priority});
  return std::nullopt;
}

RequestTrace RequestBuilder::finish(std::string_view file, std::string_view bytes) && {
  trace_.name = file;
  trace_.has_arrivals = unit_ != ArrivalUnit::none;
  trace_.last_line_open = !bytes.ends_with('\n');
  return std::move(trace_);
}

}  // namespace negawatt::trace
