// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_sweep.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cli/files.hpp"
#include "cli/simulate_all.hpp"
#include "core/csv.hpp"

namespace negawatt::cli {
namespace {

/// Lines of the file, each with its end, by case.
using Lines = std::map<std::string, std::string>;

std::string key_of(const SimulateCase& one) {
  return fmt::format("{},{},{}", csv_field(one.policy), one.speed, one.seed);
}

std::string line_of(const SimulateCase& one, const sim::SimulationResult& result) {
  return key_of(one) + "," + sim::csv_values(result) + "\n";
}

/// What the file starts with: the inputs, and the columns.
std::string head_of(const SimulateInputs& inputs) {
  return fmt::format("# inputs: {:016x}\npolicy,speed,seed,{}\n", inputs.fingerprint,
                     sim::csv_columns());
}

/// Those that a sweep had written when it ended, whatever ended it: none when there is no file, and
/// not the last one when it was cut off.
Result<Lines> lines_of(const std::string& path, const SimulateInputs& inputs) {
  Lines lines;
  if (kind_of(path) == PathKind::absent) return lines;
  NW_TRY(const auto bytes, read_input(path));
  const auto head = head_of(inputs);
  if (head.starts_with(bytes)) return lines;
  if (!bytes.starts_with(head))
    return failure(Code::invalid,
                   fmt::format("{}: holds results of another cluster or other requests; give "
                               "another file, or delete it",
                               path));
  CsvReader csv(std::string_view(bytes).substr(0, bytes.rfind('\n') + 1), path);
  NW_CHECK(csv.read_header());
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) return lines;
    std::string line;
    for (std::size_t i = 0; i < csv.columns().size(); ++i)
      line += (i == 0 ? "" : ",") + csv_field(csv.field(i));
    const auto key = fmt::format("{},{},{}", csv_field(csv.field(0)), csv.field(1), csv.field(2));
    lines[key] = line + "\n";
  }
}

/// The whole file: lines of the grid in its order, then those of earlier grids.
std::string bytes_of(const SimulateInputs& inputs, const std::vector<SimulateCase>& cases,
                     Lines lines) {
  std::string text = head_of(inputs);
  for (const auto& one : cases)
    if (const auto line = lines.extract(key_of(one))) text += line.mapped();
  for (const auto& [key, line] : lines) text += line;
  return text;
}

}  // namespace

Status check_sweep_file(const std::string& path) {
  // A device may be read without end, a pipe cannot be gone on from.
  if (path == "-" || kind_of(path) == PathKind::other)
    return failure(Code::invalid,
                   fmt::format("--sweep is '{}', expected a regular file to go on from", path));
  return check_output(path);
}

Status run_simulate_sweep(const SimulateArguments& arguments, const SimulateInputs& inputs,
                          const std::vector<SimulateCase>& cases) {
  const auto& path = arguments.sweep;
  NW_TRY(auto lines, lines_of(path, inputs));
  NW_CHECK(write_output(path, bytes_of(inputs, cases, lines)));  // without a line cut off
  std::vector<SimulateCase> left;
  for (const auto& one : cases)
    if (!lines.contains(key_of(one))) left.push_back(one);
  NW_CHECK(simulate_each(inputs, left,
                         {.jobs = arguments.jobs, .done_before = cases.size() - left.size()},
                         [&](std::size_t at, const sim::SimulationResult& result) {
                           const auto& line = lines[key_of(left[at])] = line_of(left[at], result);
                           return append_output(path, line);
                         }));
  NW_CHECK(write_output(path, bytes_of(inputs, cases, std::move(lines))));
  return write_output("-", path + "\n");
}

}  // namespace negawatt::cli
