// SPDX-License-Identifier: Apache-2.0
#include "govern/execution.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "govern/json_reader.hpp"

namespace negawatt::govern {
namespace {

PlannedSegment read_segment(JsonReader& reader, JsonValue object) {
  return {.first = reader.whole(object, "first"),
          .last = reader.whole(object, "last"),
          .clocks = reader.clocks(object),
          .core_lead = Seconds(reader.number(object, "core_lead_s")),
          .memory_lead = Seconds(reader.number(object, "memory_lead_s")),
          .promised = reader.cost(object)};
}

void read_iteration(JsonReader& reader, JsonValue object, Execution& execution) {
  for (const auto name : reader.list(object, "kernels"))
    execution.kernels.push_back(reader.text_of(name, "kernels"));
  for (const auto index : reader.list(object, "sequence"))
    execution.sequence.push_back(reader.whole_of(index, "sequence"));
  for (const auto time : reader.list(object, "time_s"))
    execution.expected.emplace_back(reader.number_of(time, "time_s"));
  for (const auto segment : reader.list(object, "segments"))
    execution.segments.push_back(read_segment(reader, segment));
}

/// What the numbers must be to each other.
void check_iteration(JsonReader& reader, const Execution& execution) {
  if (execution.sequence.empty()) return reader.refuse("'sequence' is empty");
  if (execution.expected.size() != execution.sequence.size())
    return reader.refuse("'time_s' and 'sequence' differ in length");
  for (const auto kernel : execution.sequence)
    if (kernel >= execution.kernels.size())
      return reader.refuse(
          fmt::format("'sequence' names kernel {} of {}", kernel, execution.kernels.size()));
  if (std::ranges::any_of(execution.expected, [](Seconds time) { return time <= Seconds(); }))
    return reader.refuse("'time_s' holds an invocation that takes no time");
  std::uint64_t next = 0;
  for (const auto& segment : execution.segments) {
    if (segment.first != next || segment.last < segment.first)
      return reader.refuse(fmt::format("a segment from {} to {} where {} was expected to start",
                                       segment.first, segment.last, next));
    next = std::uint64_t{segment.last} + 1;
  }
  if (next != execution.sequence.size())
    reader.refuse(
        fmt::format("the segments end at invocation {} of {}", next, execution.sequence.size()));
}

}  // namespace

Result<Execution> parse_execution(std::string_view bytes, std::string_view file) {
  JsonReader reader(bytes, {.file = file, .command = "negawatt plan --out"});
  const auto plan = reader.root();
  Execution execution;
  read_iteration(reader, reader.member(plan, "execution"), execution);
  execution.promised = reader.cost(reader.member(plan, "plan"));
  const auto baseline = reader.member(plan, "baseline");
  execution.baseline = reader.cost(baseline);
  execution.baseline_clocks = reader.clocks(baseline);
  if (const auto best = reader.find(plan, "best_static"))
    execution.best_static = reader.cost(*best);
  if (const auto bound = reader.find(plan, "bound"))
    execution.bound = Joules(reader.number(*bound, "energy_j"));
  execution.evidence = reader.evidence(plan, "evidence");
  if (!reader.failed()) check_iteration(reader, execution);
  if (reader.failed()) return reader.error();
  return execution;
}

}  // namespace negawatt::govern
