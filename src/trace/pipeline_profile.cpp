// SPDX-License-Identifier: Apache-2.0
#include "trace/pipeline_profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/csv.hpp"

namespace negawatt::trace {
namespace {

enum Column : unsigned char { kStage, kInstruction, kFrequency, kTime, kEnergy };
constexpr std::array<std::string_view, 5> kRequired = {"stage", "instruction", "frequency", "time",
                                                       "energy"};

// Far above any pipeline that exists; keeps a mistyped stage number from allocating gigabytes.
constexpr std::uint32_t kMostStages = 65'536;

/// A row, with its line for the messages that need the whole file.
struct Row {
  std::uint32_t stage = 0;
  Pass pass = Pass::forward;
  PassOption option;
  std::uint64_t line = 0;

  [[nodiscard]] auto key() const { return std::tuple(stage, pass, option.mhz, line); }
  [[nodiscard]] bool same_measurement(const Row& other) const {
    return stage == other.stage && pass == other.pass && option.mhz == other.option.mhz;
  }
};

Result<Pass> read_pass(const CsvReader& csv, std::size_t column) {
  const auto text = csv.field(column);
  for (const Pass pass : kPasses)
    if (text == name_of(pass)) return pass;
  return csv.error_in(column, "forward or backward");
}

Result<Row> read_row(const CsvReader& csv, const std::vector<std::size_t>& column) {
  NW_TRY(const auto stage, csv.whole(column[kStage], 0));
  if (stage >= kMostStages)
    return csv.error(fmt::format("stage is {}, expected less than {}", stage, kMostStages));
  NW_TRY(const Pass pass, read_pass(csv, column[kInstruction]));
  NW_TRY(const auto mhz, csv.whole(column[kFrequency], 1));
  NW_TRY(const double time, csv.positive(column[kTime]));
  NW_TRY(const double energy, csv.positive(column[kEnergy]));
  return Row{stage, pass, {mhz, Seconds(time), Joules(energy)}, csv.line()};
}

/// Refuses a clock that is there twice. Rows are sorted by key.
Status refuse_repeated(const std::vector<Row>& rows, std::string_view file) {
  const auto twice = std::ranges::adjacent_find(rows, &Row::same_measurement);
  if (twice == rows.end()) return {};
  return failure(Code::invalid,
                 fmt::format("{}:{}: stage {} {} at {} MHz is there twice, first in line {}", file,
                             std::next(twice)->line, twice->stage, name_of(twice->pass),
                             twice->option.mhz, twice->line));
}

Status refuse_missing(const PipelineProfile& profile) {
  for (std::size_t stage = 0; stage < profile.stages.size(); ++stage) {
    for (const Pass pass : kPasses) {
      if (profile.stages[stage].of(pass).empty())
        return failure(Code::invalid,
                       fmt::format("{}: stage {} has no {} row, expected both passes for every "
                                   "stage from 0 to {}",
                                   profile.name, stage, name_of(pass), profile.stages.size() - 1));
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(Pass pass) { return pass == Pass::forward ? "forward" : "backward"; }

Result<PipelineProfile> parse_pipeline_profile(std::string_view bytes, std::string_view file) {
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const auto column, csv.require(kRequired));
  NW_TRY(auto evidence, evidence_in(csv));

  std::vector<Row> rows;
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) break;
    NW_TRY(const auto row, read_row(csv, column));
    rows.push_back(row);
  }
  if (rows.empty()) return csv.error("no rows below the header");
  std::ranges::sort(rows, {}, &Row::key);
  NW_CHECK(refuse_repeated(rows, file));

  PipelineProfile profile{.last_line_open = !csv.ended_with_newline(),
                          .evidence = std::move(evidence),
                          .name = std::string(file)};
  profile.stages.resize(std::size_t{rows.back().stage} + 1);
  for (const auto& row : rows)
    profile.stages[row.stage].options[static_cast<std::size_t>(row.pass)].push_back(row.option);
  NW_CHECK(refuse_missing(profile));
  return profile;
}

}  // namespace negawatt::trace
