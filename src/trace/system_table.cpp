// SPDX-License-Identifier: Apache-2.0
#include "trace/system_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/csv.hpp"
#include "core/text.hpp"

namespace negawatt::trace {
namespace {

enum Column : unsigned char { kSystem, kModel, kInput, kOutput, kEnergy, kTime };
constexpr std::array<std::string_view, 6> kColumns = {"system",        "model",    "input_tokens",
                                                      "output_tokens", "energy_j", "runtime_s"};

Result<std::string_view> read_name(const CsvReader& csv, std::size_t column) {
  NW_TRY(const auto name, csv.text(column));
  if (!name.empty()) return name;
  return csv.error_in(column, "a name");
}

Result<SystemRun> read_run(const CsvReader& csv, const std::vector<std::size_t>& column) {
  SystemRun run;
  NW_TRY(run.size.input_tokens, csv.whole(column[kInput], 1));
  NW_TRY(run.size.output_tokens, csv.whole(column[kOutput], 1));
  NW_TRY(const double energy, csv.positive(column[kEnergy]));
  NW_TRY(const double time, csv.positive(column[kTime]));
  run.cost = {.time = Seconds(time), .energy = Joules(energy)};
  return run;
}

MeasuredSystem& system_named(SystemTable& table, std::string_view name, std::string_view model) {
  const auto found = std::ranges::find_if(table.systems, [&](const auto& system) {
    return system.name == name && system.model == model;
  });
  if (found != table.systems.end()) return *found;
  return table.systems.emplace_back(std::string(name), std::string(model));
}

std::string models_of(const SystemTable& table) {
  std::set<std::string> models;
  for (const auto& system : table.systems) models.insert(system.model);
  std::string text;
  for (const auto& model : models)
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", printable(model));
  return text;
}

}  // namespace

Result<SystemTable> parse_system_table(std::string_view bytes, std::string_view file) {
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const auto column, csv.require(kColumns));
  NW_TRY(auto evidence, evidence_in(csv));
  SystemTable table{.evidence = std::move(evidence), .name = std::string(file)};
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) break;
    NW_TRY(const auto name, read_name(csv, column[kSystem]));
    NW_TRY(const auto model, read_name(csv, column[kModel]));
    NW_TRY(const auto run, read_run(csv, column));
    system_named(table, name, model).runs.push_back(run);
  }
  if (table.systems.empty()) return csv.error("no rows below the header");
  table.last_line_open = !csv.ended_with_newline();
  return table;
}

Result<SystemTable> systems_with_model(SystemTable table, std::string_view model) {
  const auto models = models_of(table);
  if (!model.empty())
    std::erase_if(table.systems, [&](const auto& system) { return system.model != model; });
  if (table.systems.empty())
    return failure(Code::invalid, fmt::format("{}: no system has the model '{}', expected {}",
                                              table.name, printable(model), models));
  std::set<std::string_view> names;
  for (const auto& system : table.systems)
    if (!names.insert(system.name).second)
      return failure(Code::invalid,
                     fmt::format("{}: system '{}' has several models, choose one with --model: {}",
                                 table.name, printable(system.name), models));
  return table;
}

}  // namespace negawatt::trace
