// SPDX-License-Identifier: Apache-2.0
//
// negawatt plan and negawatt report: kernel table in, clock plan out.
#include <fmt/core.h>

#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "plan/plan_clocks.hpp"
#include "report/report.hpp"
#include "trace/kernel_table.hpp"
#include "trace/switch_model.hpp"

namespace negawatt::cli {
namespace {

using plan::Granularity;
using plan::Objective;

const std::map<std::string, Objective> kObjectives = {{"waste", Objective::waste},
                                                      {"edp", Objective::edp},
                                                      {"ed2p", Objective::ed2p},
                                                      {"energy", Objective::energy},
                                                      {"weighted", Objective::weighted}};
const std::map<std::string, Granularity> kGranularities = {{"static", Granularity::one_pair},
                                                           {"group", Granularity::group},
                                                           {"kernel", Granularity::kernel},
                                                           {"schedule", Granularity::schedule}};

std::optional<trace::Clock> clock_named(std::string_view text) {
  if (text == "auto") return trace::Clock::automatic();
  std::uint32_t mhz = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), mhz);
  if (code != std::errc{} || end != text.data() + text.size() || mhz == 0) return std::nullopt;
  return trace::Clock::locked_mhz(mhz);
}

/// "auto" or "CORE,MEMORY", each a number of MHz or "auto".
Result<trace::ClockPair> parse_baseline(std::string_view text) {
  const auto comma = text.find(',');
  const auto core = clock_named(text.substr(0, comma));
  const auto memory = comma == std::string_view::npos ? core : clock_named(text.substr(comma + 1));
  const bool is_one_frequency = comma == std::string_view::npos && core && !core->is_automatic();
  if (core && memory && !is_one_frequency) return trace::ClockPair{*core, *memory};
  return failure(Code::invalid,
                 fmt::format("--baseline is '{}', expected auto or CORE,MEMORY in MHz", text));
}

Result<trace::SwitchModel> load_switch_model(const std::string& text) {
  if (text.find('=') != std::string::npos) return trace::parse_switch_latencies(text);
  NW_TRY(const auto bytes, read_input(text));
  return trace::parse_switch_model(bytes, text);
}

Result<plan::PlanRequest> request_of(const PlanArguments& a) {
  plan::PlanRequest request{.objective = kObjectives.at(a.objective),
                            .slowdown = a.slowdown_pct / 100.0,
                            .granularity = kGranularities.at(a.granularity),
                            .scope = a.scope == "local" ? plan::Scope::local : plan::Scope::global,
                            .confidence = a.confidence,
                            .frontier = a.frontier};
  if (a.lambda && request.objective != Objective::weighted)
    return failure(Code::invalid, "--lambda goes with --objective weighted");
  request.lambda = a.lambda.value_or(request.lambda);
  if (!a.baseline.empty()) {
    NW_TRY(request.baseline, parse_baseline(a.baseline));
  }
  if (!a.switch_latency.empty()) {
    if (request.granularity != Granularity::schedule)
      return failure(Code::invalid, "--switch-latency goes with --granularity schedule");
    NW_TRY(request.switching, load_switch_model(a.switch_latency));
  }
  return request;
}

Result<trace::KernelTable> load_table(const std::string& path) {
  NW_TRY(const auto bytes, read_input(path));
  NW_TRY(auto table, trace::parse_kernel_table(bytes, path));
  if (table.last_line_open) note_open_last_line(path);
  return table;
}

Result<trace::Sequence> load_sequence(const std::string& path, const trace::KernelTable& table) {
  if (path.empty()) return trace::sequence_in_table_order(table);
  NW_TRY(const auto bytes, read_input(path));
  return trace::parse_sequence(bytes, path, table);
}

Rendering rendering_of(const report::ClockReport& report) {
  return {.bytes = [&report](Format format) -> Result<std::string> {
            switch (format) {
              case Format::csv:
                return report::plan_csv(report);
              case Format::trace:
                return report::plan_trace(report);
              case Format::html:
                return report::plan_html(report);
              case Format::text:
              case Format::json:
                break;
            }
            return report::plan_json(report);
          },
          .text = [&report](bool colour) { return report::plan_text(report, colour); }};
}

}  // namespace

Status run_plan(const PlanArguments& arguments, const std::string& command) {
  NW_TRY(const auto request, request_of(arguments));
  NW_TRY(const auto table, load_table(arguments.table));
  NW_TRY(const auto sequence, load_sequence(arguments.sequence, table));

  const auto start = std::chrono::steady_clock::now();
  NW_TRY(const auto plan, [&] {
    const Progress progress(fmt::format("planning {} kernels", table.kernels.size()));
    return plan::plan_clocks(table, sequence, request);
  }());
  const std::chrono::duration<double> solve = std::chrono::steady_clock::now() - start;
  const report::ClockReport report{.plan = plan,
                                   .table = table,
                                   .sequence = sequence,
                                   .command = command,
                                   .solve_time = Seconds(solve.count()),
                                   .version = NEGAWATT_VERSION};
  return deliver(rendering_of(report), arguments.format, arguments.out);
}

}  // namespace negawatt::cli
