// SPDX-License-Identifier: Apache-2.0
//
// negawatt simulate: a cluster and requests in, energy and latencies of each policy out,
// as text, JSON or a page.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/output.hpp"
#include "cli/simulate_all.hpp"
#include "cli/simulate_inputs.hpp"
#include "cli/simulate_report.hpp"
#include "cli/simulate_sweep.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "sim/result.hpp"

namespace negawatt::cli {
namespace {

/// One policy is an object, several are a list.
std::string json_of(const std::vector<sim::SimulationResult>& results) {
  if (results.size() == 1) return sim::to_json(results.front());
  std::string list = "[\n";
  for (const auto& result : results) {
    if (&result != &results.front()) list += ",\n";
    list += sim::to_json(result);
  }
  return list + "]\n";
}

std::string text_of(const std::vector<sim::SimulationResult>& results) {
  return results.size() == 1 ? sim::to_text(results.front()) : sim::comparison_text(results);
}

Status print(const SimulateArguments& arguments,
             const std::vector<sim::SimulationResult>& results) {
  const Rendering rendering{
      .bytes = [&](Format /*format*/) -> Result<std::string> { return json_of(results); },
      .text = [&](bool /*colour*/) { return text_of(results); }};
  return deliver(rendering, arguments.json ? Format::json : Format::text, arguments.out);
}

/// The page, and the results as well where they are asked for; else the page's name is printed.
Status run_report(const SimulateArguments& arguments, const SimulateInputs& inputs,
                  const std::vector<SimulateCase>& cases, const std::string& command) {
  NW_TRY(const auto results, simulate_all(inputs, cases, arguments.jobs));
  NW_CHECK(
      write_output(arguments.report, simulate_page(arguments, inputs, cases, results, command)));
  if (arguments.json || !arguments.out.empty()) return print(arguments, results);
  return arguments.report == "-" ? Status() : write_output("-", arguments.report + "\n");
}

/// Before any work: where results go, and that they can.
Status check_outputs(const SimulateArguments& arguments) {
  const bool prints = arguments.json || !arguments.out.empty();
  if (!arguments.sweep.empty() && prints)
    return failure(Code::invalid, "--sweep writes its own file: leave out --json and --out");
  if (arguments.report == "-" && prints)
    return failure(Code::invalid,
                   "--report is '-': standard output is the page, so --json and --out need it in "
                   "a file");
  if (!arguments.out.empty() && arguments.out != "-" && arguments.out == arguments.report)
    return failure(Code::invalid, fmt::format("--report and --out both name '{}'", arguments.out));
  if (!arguments.sweep.empty()) return check_sweep_file(arguments.sweep);
  for (const auto* file : {&arguments.report, &arguments.out})
    if (!file->empty()) NW_CHECK(check_output(*file));
  return {};
}

Status check(const SimulateArguments& arguments) {
  if (!arguments.report.empty() && !arguments.sweep.empty())
    return failure(Code::invalid,
                   "--sweep keeps too little of a simulation for a page: give either --sweep or "
                   "--report");
  if (arguments.report.empty() && arguments.clusters.size() > 1)
    return failure(Code::invalid,
                   "several clusters are compared in a page only: add --report FILE");
  if (std::ranges::count(arguments.clusters, "-") + (arguments.requests == "-" ? 1 : 0) > 1)
    return failure(Code::invalid,
                   "standard input can be read once: only one of --cluster and --requests may be "
                   "'-'");
  return check_outputs(arguments);
}

}  // namespace

Status run_simulate(const SimulateArguments& arguments, const std::string& command) {
  NW_CHECK(check(arguments));
  NW_TRY(const auto inputs, read_simulate_inputs(arguments));
  NW_TRY(const auto cases, simulate_cases(arguments, inputs));
  if (!arguments.report.empty()) return run_report(arguments, inputs, cases, command);
  if (!arguments.sweep.empty()) return run_simulate_sweep(arguments, inputs, cases);
  std::vector<sim::SimulationResult> results;
  for (const auto& one : cases) {
    const Progress progress("simulating " + one.policy);
    NW_TRY(auto result, simulate_case(inputs, one));
    results.push_back(std::move(result));
  }
  return print(arguments, results);
}

}  // namespace negawatt::cli
