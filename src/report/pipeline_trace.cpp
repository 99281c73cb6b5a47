// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/escape.hpp"
#include "report/pipeline_report.hpp"
#include "report/pipeline_view.hpp"
#include "report/trace_events.hpp"

namespace negawatt::report {
namespace {

int track_of(std::uint32_t stage) { return static_cast<int>(stage) + 1; }

/// The power of all stages changes by `rise` at `at`.
struct PowerStep {
  Seconds at;
  Watts rise;
};

void write_instructions(const PipelineReport& report, TraceEvents& events) {
  for (const auto& instruction : report.plan.instructions) {
    const auto cost = cost_of(report.problem, instruction);
    const auto name =
        fmt::format("\"{} {}\"", trace::name_of(instruction.pass), instruction.microbatch);
    events.span({track_of(instruction.stage), name, instruction.start, instruction.end},
                fmt::format(R"({{"mhz":{},"energy_j":{},"watts":{:.1f}}})", instruction.mhz,
                            cost.energy.in_si(), (cost.energy / cost.time).in_si()));
    events.counter(fmt::format("stage {} clock (MHz)", instruction.stage), instruction.start,
                   std::to_string(instruction.mhz));
  }
}

/// A stage draws what its instruction draws, or the blocking power while it waits.
void write_power(const PipelineReport& report, TraceEvents& events) {
  const auto blocking = report.problem.blocking;
  std::vector<PowerStep> steps;
  for (const auto& instruction : report.plan.instructions) {
    const auto cost = cost_of(report.problem, instruction);
    const auto rise = cost.energy / cost.time - blocking;
    steps.push_back({instruction.start, rise});
    steps.push_back({instruction.end, -rise});
  }
  std::ranges::stable_sort(steps, {}, &PowerStep::at);
  auto watts = static_cast<double>(report.problem.profile.stages.size()) * blocking;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    watts += steps[i].rise;
    if (i + 1 < steps.size() && steps[i + 1].at == steps[i].at) continue;
    events.counter("power of all stages (W)", steps[i].at, fmt::format("{:.1f}", watts.in_si()));
  }
}

std::string other_data(const PipelineReport& report) {
  const auto& evidence = report.problem.profile.evidence;
  return nlohmann::json({{"profile", displayable(report.problem.profile.name)},
                         {"command", displayable(report.command)},
                         {"negawatt", displayable(report.version)},
                         {"evidence", name_of(evidence.kind)},
                         {"evidence_from", displayable(evidence.source)},
                         {"time_s", report.plan.total.time.in_si()},
                         {"energy_j", report.plan.total.energy.in_si()}})
      .dump(-1, ' ', true);
}

}  // namespace

std::string pipeline_trace(const PipelineReport& report) {
  constexpr std::size_t kBytesPerInstruction = 400;
  TraceEvents events(kBytesPerInstruction * report.plan.instructions.size(),
                     fmt::format("planned iteration of {}", report.problem.profile.name));
  const auto stages = static_cast<std::uint32_t>(report.problem.profile.stages.size());
  for (std::uint32_t stage = 0; stage < stages; ++stage)
    events.name_track(track_of(stage), fmt::format("stage {}", stage));
  write_instructions(report, events);
  write_power(report, events);
  return std::move(events).finish(other_data(report));
}

}  // namespace negawatt::report
