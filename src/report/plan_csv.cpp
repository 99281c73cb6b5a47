// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <iterator>
#include <string>

#include "core/csv.hpp"
#include "report/escape.hpp"
#include "report/report.hpp"
#include "trace/clocks.hpp"

namespace negawatt::report {
namespace {

/// The comment lines that the table's reader takes evidence from.
std::string evidence_comments(const Evidence& evidence) {
  std::string out;
  if (evidence.kind != EvidenceKind::unstated)
    out += fmt::format("# evidence: {}\n", name_of(evidence.kind));
  if (!evidence.source.empty()) out += fmt::format("# source: {}\n", displayable(evidence.source));
  return out;
}

// Numbers are written with the fewest digits that read back as the same double.
std::string choices_csv(const ClockReport& report) {
  std::string out = "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n";
  for (const auto& choice : report.plan.choices) {
    const auto& kernel = report.table.kernels[choice.kernel];
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{}\n", csv_field(kernel.name),
                   csv_field(kernel.group), kernel.calls, to_string(choice.clocks.core),
                   to_string(choice.clocks.memory), choice.per_call.time.in_si(),
                   choice.per_call.energy.in_si());
  }
  return out;
}

std::string segments_csv(const plan::ClockPlan& plan) {
  std::string out = "first,last,core_mhz,memory_mhz,time_s,energy_j\n";
  for (const auto& segment : plan.segments) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{}\n", segment.first, segment.last,
                   to_string(segment.clocks.core), to_string(segment.clocks.memory),
                   segment.cost.time.in_si(), segment.cost.energy.in_si());
  }
  return out;
}

}  // namespace

std::string plan_csv(const ClockReport& report) {
  const bool is_schedule = report.plan.request.granularity == plan::Granularity::schedule;
  return evidence_comments(report.table.evidence) +
         (is_schedule ? segments_csv(report.plan) : choices_csv(report));
}

}  // namespace negawatt::report
