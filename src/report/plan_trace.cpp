// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/escape.hpp"
#include "report/iteration.hpp"
#include "report/report.hpp"
#include "report/trace_events.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

constexpr std::size_t kMostInvocations = 2'000'000;  // about 500 MB of text

constexpr int kKernelTrack = 1;
constexpr int kSegmentTrack = 2;

std::string option_args(const trace::KernelOption& option, std::uint32_t position) {
  return fmt::format(R"({{"position":{},"core":"{}","memory":"{}","energy_j":{},"watts":{:.1f}}})",
                     position, clock_name(option.clocks.core), clock_name(option.clocks.memory),
                     option.energy.in_si(), (option.energy / option.time).in_si());
}

/// Kernels on their track, and watts where they change.
void write_kernels(const ClockReport& report, TraceEvents& events) {
  std::vector<std::string> names;
  names.reserve(report.table.kernels.size());
  for (const auto& kernel : report.table.kernels) names.push_back(json_string(kernel.name));
  std::string last_watts;
  const auto end = for_each_invocation(report, [&](const Invocation& invocation) {
    const auto& option = *invocation.option;
    events.span(
        {kKernelTrack, names[invocation.kernel], invocation.start, invocation.start + option.time},
        option_args(option, invocation.position));
    auto watts = fmt::format("{:.1f}", (option.energy / option.time).in_si());
    if (watts == last_watts) return;
    events.counter("power (W)", invocation.start, watts);
    last_watts = std::move(watts);
  });
  if (!last_watts.empty()) events.counter("power (W)", end, last_watts);
}

/// Segments on their track, and both clocks where they change.
void write_segments(const ClockReport& report, TraceEvents& events) {
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
    const auto name = json_string(clocks_name(clocks));
    events.span({kSegmentTrack, name, starts[i], starts[i + 1]},
                fmt::format(R"({{"first":{},"last":{},"energy_j":{}}})", segments[i].first,
                            segments[i].last, segments[i].cost.energy.in_si()));
    if (!last || last->core != clocks.core)
      events.counter("core clock (MHz, 0 = auto)", starts[i], std::to_string(clocks.core.mhz()));
    if (!last || last->memory != clocks.memory)
      events.counter("memory clock (MHz, 0 = auto)", starts[i],
                     std::to_string(clocks.memory.mhz()));
    last = clocks;
  }
}

std::string other_data(const ClockReport& report) {
  const auto& plan = report.plan;
  return nlohmann::json({{"table", displayable(report.table.name)},
                         {"command", displayable(report.command)},
                         {"negawatt", displayable(report.version)},
                         {"evidence", name_of(report.table.evidence.kind)},
                         {"evidence_from", displayable(report.table.evidence.source)},
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
  TraceEvents events(kBytesPerInvocation * report.sequence.size(),
                     fmt::format("planned iteration of {}", report.table.name));
  events.name_track(kKernelTrack, "kernels");
  events.name_track(kSegmentTrack, "clock segments");
  write_kernels(report, events);
  write_segments(report, events);
  return std::move(events).finish(other_data(report));
}

}  // namespace negawatt::report
