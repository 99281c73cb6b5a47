// SPDX-License-Identifier: Apache-2.0
//
// negawatt assign: requests and measured systems in, who runs what out.
#include <fmt/core.h>

#include <chrono>
#include <string>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/assign_options.hpp"
#include "cli/files.hpp"
#include "cli/output.hpp"
#include "cli/request_file.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "plan/assign.hpp"
#include "plan/workload.hpp"
#include "report/assign_report.hpp"
#include "trace/system_table.hpp"

namespace negawatt::cli {
namespace {

Result<trace::SystemTable> load_systems(const AssignArguments& arguments) {
  NW_TRY(const auto bytes, read_input(arguments.systems));
  NW_TRY(auto table, trace::parse_system_table(bytes, arguments.systems));
  if (table.last_line_open) note_open_last_line(arguments.systems);
  return trace::systems_with_model(std::move(table), arguments.model);
}

Rendering rendering_of(const report::AssignReport& report) {
  return {.bytes = [&report](Format) -> Result<std::string> { return report::assign_json(report); },
          .text = [&report](bool colour) { return report::assign_text(report, colour); }};
}

}  // namespace

Status run_assign(const AssignArguments& arguments, const std::string& command) {
  NW_TRY(const auto request, assign_request_of(arguments));
  NW_TRY(const auto table, load_systems(arguments));
  NW_TRY(const auto trace, load_requests(arguments.requests, arguments.request_format));

  const auto start = std::chrono::steady_clock::now();
  NW_TRY(const auto plan, [&] {
    const Progress progress(fmt::format("assigning {} requests", trace.requests.size()));
    return plan::plan_assignment(table, plan::workload_of(trace.requests), request);
  }());
  const std::chrono::duration<double> solve = std::chrono::steady_clock::now() - start;
  const report::AssignReport report{.plan = plan,
                                    .requests_file = arguments.requests,
                                    .systems_file = arguments.systems,
                                    .command = command,
                                    .solve_time = Seconds(solve.count()),
                                    .version = NEGAWATT_VERSION};
  return deliver(rendering_of(report), arguments.json ? Format::json : Format::text, arguments.out);
}

}  // namespace negawatt::cli
