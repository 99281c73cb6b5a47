// SPDX-License-Identifier: Apache-2.0
//
// negawatt compare: reports of several runs in, promised against achieved out.
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "govern/run_file.hpp"
#include "report/compare_report.hpp"

namespace negawatt::cli {
namespace {

report::ComparedRun compared(govern::RunFile run) {
  const auto& achieved = run.achieved;
  report::ComparedRun out{.governed = run.governed,
                          .note = std::move(run.note),
                          .energy_note = std::move(run.energy_note),
                          .baseline = run.baseline,
                          .baseline_clocks = run.baseline_clocks,
                          .promised = run.promised,
                          .best_static = run.best_static,
                          .bound = run.bound,
                          .achieved = {.iterations = achieved.iterations,
                                       .time = achieved.time,
                                       .time_error = achieved.time_error,
                                       .energy = achieved.energy,
                                       .energy_error = achieved.energy_error},
                          .requests = run.requests,
                          .refused = run.refused,
                          .last_refusal = std::move(run.last_refusal),
                          .changes = run.punctuality.changes,
                          .late = run.punctuality.late,
                          .most_late = run.punctuality.most_late,
                          .missed_iterations = run.punctuality.missed_iterations,
                          .was_off_plan = run.was_off_plan,
                          .ending = std::move(run.ending),
                          .gpu = std::move(run.gpu),
                          .plan_file = std::move(run.plan_file),
                          .command = std::move(run.command),
                          .evidence = run.evidence,
                          .promised_evidence = run.promised_evidence};
  out.segments.reserve(run.segments.size());
  for (const auto& segment : run.segments)
    out.segments.push_back({.first = segment.first,
                            .last = segment.last,
                            .clocks = segment.clocks,
                            .promised = segment.promised,
                            .achieved = segment.achieved});
  return out;
}

Result<std::vector<report::ComparedRun>> load_runs(const std::vector<std::string>& files) {
  const auto labels = report::run_labels(files);
  std::vector<report::ComparedRun> runs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    NW_TRY(const auto bytes, read_input(files[i]));
    NW_TRY(auto run, govern::parse_run(bytes, files[i]));
    runs.push_back(compared(std::move(run)));
    runs.back().label = labels[i];
    runs.back().file = files[i];
  }
  return runs;
}

Rendering rendering_of(const report::CompareReport& report) {
  return {.bytes = [&report](Format format) -> Result<std::string> {
            switch (format) {
              case Format::csv:
                return report::compare_csv(report);
              case Format::html:
                return report::compare_html(report);
              case Format::text:
              case Format::json:
              case Format::trace:
                break;
            }
            return report::compare_json(report);
          },
          .text = [&report](bool colour) { return report::compare_text(report, colour); }};
}

}  // namespace

Status run_compare(const CompareArguments& arguments, const std::string& command) {
  if (arguments.format == Format::trace)
    return failure(Code::invalid, "a comparison has no trace; expected text, json, csv or html");
  NW_TRY(const auto runs, load_runs(arguments.runs));
  const report::CompareReport report{.runs = runs, .command = command, .version = NEGAWATT_VERSION};
  return deliver(rendering_of(report), arguments.format, arguments.out);
}

}  // namespace negawatt::cli
