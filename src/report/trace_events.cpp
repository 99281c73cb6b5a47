// SPDX-License-Identifier: Apache-2.0
#include "report/trace_events.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/escape.hpp"

namespace negawatt::report {
namespace {

std::int64_t nanoseconds(Seconds time) {
  return static_cast<std::int64_t>(std::llround(time.in_si() * 1e9));
}

/// Microseconds with the nanoseconds behind the point.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

template <class... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  out += ",\n";
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace

std::string json_string(std::string_view foreign) {
  return nlohmann::json(displayable(foreign)).dump(-1, ' ', true);
}

TraceEvents::TraceEvents(std::size_t bytes, std::string_view process) {
  out_.reserve(bytes);
  out_ = "{\"traceEvents\":[\n";
  fmt::format_to(std::back_inserter(out_),
                 R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})",
                 json_string(process));
}

void TraceEvents::name_track(int track, std::string_view name) {
  append(out_, R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}})", track,
         json_string(name));
  append(out_,
         R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}}}})",
         track);
}

void TraceEvents::span(const Span& span, std::string_view args) {
  const auto start = nanoseconds(span.start);
  append(out_, R"({{"ph":"X","pid":1,"tid":{},"name":{},"ts":{},"dur":{},"args":{}}})", span.track,
         span.name, microseconds(start), microseconds(nanoseconds(span.end) - start), args);
}

void TraceEvents::counter(std::string_view name, Seconds at, std::string_view value) {
  append(out_, R"({{"ph":"C","pid":1,"name":"{}","ts":{},"args":{{"value":{}}}}})", name,
         microseconds(nanoseconds(at)), value);
}

std::string TraceEvents::finish(std::string_view other_data) && {
  out_ += "\n],\"displayTimeUnit\":\"ms\",\"otherData\":";
  out_ += other_data;
  out_ += "}\n";
  return std::move(out_);
}

}  // namespace negawatt::report
