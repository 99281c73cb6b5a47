// SPDX-License-Identifier: Apache-2.0
#include "trace/switch_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/csv.hpp"
#include "core/text.hpp"

namespace negawatt::trace {
namespace {

constexpr std::array<std::string_view, 3> kRequired = {"domain", "target_mhz", "latency_s"};

std::optional<double> number_in(std::string_view text) {
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = code == std::errc{} && end == text.data() + text.size() && !text.empty();
  if (!is_number || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// What a file says about one domain so far.
struct DomainRows {
  std::string_view name;
  DomainSwitch* domain = nullptr;
  bool has_any = false;
};

Result<double> read_not_negative(const CsvReader& csv, std::size_t column) {
  NW_TRY(const double value, csv.number(column));
  if (value >= 0.0) return value;
  return csv.error(fmt::format("{} is {}, expected 0 or more", csv.columns()[column], value));
}

/// The target of a row; nothing stands for `any`.
Result<std::optional<Clock>> read_target(const CsvReader& csv, std::size_t column) {
  const auto text = csv.field(column);
  if (text == "any") return std::nullopt;
  if (text == "auto") return Clock::automatic();
  const auto mhz = csv.whole(column, 1);
  if (mhz) return Clock::locked_mhz(*mhz);
  return csv.error_in(column, "'any', 'auto' or whole MHz");
}

Status add_row(const CsvReader& csv, std::optional<Clock> target, SwitchCost cost,
               DomainRows& rows) {
  if (!target) {
    if (rows.has_any)
      return csv.error(fmt::format("domain {} has two rows for 'any', expected one", rows.name));
    rows.has_any = true;
    rows.domain->any = cost;
    return {};
  }
  auto& targets = rows.domain->targets;
  const auto at = std::ranges::lower_bound(targets, *target, {}, &DomainSwitch::Target::clock);
  if (at != targets.end() && at->clock == *target)
    return csv.error(fmt::format("domain {} has two rows for target {}, expected one", rows.name,
                                 to_string(*target)));
  targets.insert(at, {*target, cost});
  return {};
}

}  // namespace

SwitchCost DomainSwitch::to(Clock target) const {
  const auto at = std::ranges::lower_bound(targets, target, {}, &Target::clock);
  return at != targets.end() && at->clock == target ? at->cost : any;
}

SwitchCost SwitchModel::change(ClockPair from, ClockPair to) const {
  SwitchCost cost;
  if (from.core != to.core) cost = core.to(to.core);
  if (from.memory != to.memory) {
    const auto other = memory.to(to.memory);
    cost = {std::max(cost.latency, other.latency), cost.energy + other.energy};
  }
  return cost;
}

Result<SwitchModel> parse_switch_latencies(std::string_view text) {
  SwitchModel model;
  std::array<DomainRows, 2> known = {DomainRows{"core", &model.core},
                                     DomainRows{"memory", &model.memory}};
  while (true) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    const auto equals = part.find('=');
    const auto rows = std::ranges::find(known, part.substr(0, equals), &DomainRows::name);
    if (equals == std::string_view::npos || rows == known.end())
      return failure(Code::invalid,
                     fmt::format("switch latency '{}': expected core=SECONDS or memory=SECONDS",
                                 printable(part)));
    const auto seconds = number_in(part.substr(equals + 1));
    if (!seconds || *seconds < 0.0)
      return failure(Code::invalid,
                     fmt::format("switch latency '{}': expected a number of seconds, 0 or more",
                                 printable(part)));
    if (std::exchange(rows->has_any, true))
      return failure(Code::invalid, fmt::format("switch latency: {} is given twice", rows->name));
    rows->domain->any.latency = Seconds(*seconds);
    if (comma == std::string_view::npos) return model;
    text.remove_prefix(comma + 1);
  }
}

Result<SwitchModel> parse_switch_model(std::string_view bytes, std::string_view file) {
  SwitchModel model;
  std::array<DomainRows, 2> known = {DomainRows{"core", &model.core},
                                     DomainRows{"memory", &model.memory}};
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const auto column, csv.require(kRequired));
  const auto energy_column = csv.find("energy_j");
  bool is_empty = true;
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) break;
    is_empty = false;
    const auto rows = std::ranges::find(known, csv.field(column[0]), &DomainRows::name);
    if (rows == known.end()) return csv.error_in(column[0], "core or memory");
    NW_TRY(const auto target, read_target(csv, column[1]));
    NW_TRY(const double latency, read_not_negative(csv, column[2]));
    double energy = 0.0;
    if (energy_column < csv.columns().size()) {
      NW_TRY(energy, read_not_negative(csv, energy_column));
    }
    NW_CHECK(add_row(csv, target, {Seconds(latency), Joules(energy)}, *rows));
  }
  if (is_empty) return csv.error("no rows below the header");
  for (const auto& rows : known) {
    if (!rows.has_any && !rows.domain->targets.empty())
      return csv.error(
          fmt::format("domain {} has no row for 'any', expected one for the clocks "
                      "that have no row of their own",
                      rows.name));
  }
  return model;
}

}  // namespace negawatt::trace
