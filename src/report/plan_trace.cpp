// SPDX-License-Identifier: Apache-2.0
//
// The Trace Event Format that chrome://tracing and Perfetto read: complete events ("X") on named
// tracks and counter samples ("C"), times in microseconds. Every boundary is rounded to a
// nanosecond once, and a duration is the difference of two boundaries, so that kernels lie inside
// their segments and add up exactly.
#include <fmt/core.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/escape.hpp"
#include "report/iteration.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

constexpr std::size_t kMostInvocations = 2'000'000;  // about 500 MB of text

std::string json_string(std::string_view text) {
  return nlohmann::json(printable(text)).dump(-1, ' ', true);
}

std::int64_t nanoseconds(Seconds time) {
  return static_cast<std::int64_t>(std::llround(time.in_si() * 1e9));
}

/// Microseconds with the nanoseconds behind the point.
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// Collects the events of one process.
class EventWriter {
 public:
  EventWriter(std::size_t bytes, std::string_view process) {
    out_.reserve(bytes);
    out_ = "{\"traceEvents\":[\n";
    fmt::format_to(std::back_inserter(out_),
                   R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})",
                   json_string(process));
  }

  void name_track(int track, std::string_view name) {
    append(R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_name","args":{{"name":{1}}}}})", track,
           json_string(name));
    append(
        R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}}}})",
        track);
  }

  /// `name` and `args` are JSON.
  void span(int track, std::string_view name, std::int64_t start, std::int64_t end,
            std::string_view args) {
    append(R"({{"ph":"X","pid":1,"tid":{},"name":{},"ts":{},"dur":{},"args":{}}})", track, name,
           microseconds(start), microseconds(end - start), args);
  }

  void counter(std::string_view name, std::int64_t at, std::string_view value) {
    append(R"({{"ph":"C","pid":1,"name":"{}","ts":{},"args":{{"value":{}}}}})", name,
           microseconds(at), value);
  }

  std::string finish(std::string_view other_data) && {
    out_ += "\n],\"displayTimeUnit\":\"ms\",\"otherData\":";
    out_ += other_data;
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    out_ += ",\n";
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string out_;
};

constexpr int kKernelTrack = 1;
constexpr int kSegmentTrack = 2;

std::string option_args(const trace::KernelOption& option, std::uint32_t position) {
  return fmt::format(R"({{"position":{},"core":"{}","memory":"{}","energy_j":{},"watts":{:.1f}}})",
                     position, clock_name(option.clocks.core), clock_name(option.clocks.memory),
                     option.energy.in_si(), (option.energy / option.time).in_si());
}

/// Kernels on their track, and watts where they change.
void write_kernels(const ClockReport& report, EventWriter& events) {
  std::vector<std::string> names;
  for (const auto& kernel : report.table.kernels) names.push_back(json_string(kernel.name));
  std::string last_watts;
  const auto end = for_each_invocation(report, [&](const Invocation& invocation) {
    const auto& option = *invocation.option;
    const auto start_ns = nanoseconds(invocation.start);
    events.span(kKernelTrack, names[invocation.kernel], start_ns,
                nanoseconds(invocation.start + option.time),
                option_args(option, invocation.position));
    auto watts = fmt::format("{:.1f}", (option.energy / option.time).in_si());
    if (watts == last_watts) return;
    events.counter("power (W)", start_ns, watts);
    last_watts = std::move(watts);
  });
  if (!last_watts.empty()) events.counter("power (W)", nanoseconds(end), last_watts);
}

/// Segments on their track, and both clocks where they change.
void write_segments(const ClockReport& report, EventWriter& events) {
  const auto& segments = report.plan.segments;
  std::vector<Seconds> starts;
  std::size_t next = 0;
  const auto end = for_each_invocation(report, [&](const Invocation& invocation) {
    if (next < segments.size() && invocation.position == segments[next].first) {
      starts.push_back(invocation.start);
      ++next;
    }
  });
  starts.push_back(end);
  std::optional<trace::ClockPair> last;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& clocks = segments[i].clocks;
    const auto start_ns = nanoseconds(starts[i]);
    events.span(kSegmentTrack, json_string(clocks_name(clocks)), start_ns,
                nanoseconds(starts[i + 1]),
                fmt::format(R"({{"first":{},"last":{},"energy_j":{}}})", segments[i].first,
                            segments[i].last, segments[i].cost.energy.in_si()));
    if (!last || last->core != clocks.core)
      events.counter("core clock (MHz, 0 = auto)", start_ns, std::to_string(clocks.core.mhz()));
    if (!last || last->memory != clocks.memory)
      events.counter("memory clock (MHz, 0 = auto)", start_ns, std::to_string(clocks.memory.mhz()));
    last = clocks;
  }
}

std::string other_data(const ClockReport& report) {
  const auto& plan = report.plan;
  return nlohmann::json({{"table", printable(report.table.name)},
                         {"command", printable(report.command)},
                         {"negawatt", report.version},
                         {"evidence", name_of(report.table.evidence.kind)},
                         {"evidence_from", printable(report.table.evidence.source)},
                         {"time_s", plan.total.time.in_si()},
                         {"energy_j", plan.total.energy.in_si()}})
      .dump(-1, ' ', true);
}

}  // namespace

Result<std::string> plan_trace(const ClockReport& report) {
  if (report.sequence.size() > kMostInvocations)
    return failure(Code::invalid,
                   fmt::format("trace of {}: one iteration has {} invocations, a trace holds at "
                               "most {}",
                               report.table.name, report.sequence.size(), kMostInvocations));
  constexpr std::size_t kBytesPerInvocation = 250;
  EventWriter events(kBytesPerInvocation * report.sequence.size(),
                     fmt::format("planned iteration of {}", report.table.name));
  events.name_track(kKernelTrack, "kernels");
  events.name_track(kSegmentTrack, "clock segments");
  write_kernels(report, events);
  write_segments(report, events);
  return std::move(events).finish(other_data(report));
}

}  // namespace negawatt::report
