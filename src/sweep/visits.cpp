// SPDX-License-Identifier: Apache-2.0
#include "sweep/visits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/csv.hpp"
#include "core/text.hpp"

namespace negawatt::sweep {
namespace {

enum Column : unsigned char {
  kKernel,
  kCore,
  kMemory,
  kTime,
  kEnergy,
  kDeviation,
  kCalls,
  kActualCore,
  kActualMemory,
  kClocks,
  kTemperature
};
constexpr std::array<std::string_view, 11> kColumns = {
    "kernel", "core_mhz",        "memory_mhz",        "time_s", "energy_j",     "energy_sd_j",
    "calls",  "actual_core_mhz", "actual_memory_mhz", "clocks", "temperature_c"};
constexpr std::array<std::string_view, 4> kObediences = {"as asked", "capped", "ignored",
                                                         "unknown"};

Result<trace::Clock> read_clock(const CsvReader& csv, std::size_t column) {
  if (csv.field(column) == "auto") return trace::Clock::automatic();
  NW_TRY(const auto mhz, csv.whole(column, 1));
  return trace::Clock::locked_mhz(mhz);
}

Result<Obedience> read_obedience(const CsvReader& csv, std::size_t column) {
  const auto found = std::ranges::find(kObediences, csv.field(column));
  if (found == kObediences.end()) return csv.error_in(column, "as asked, capped, ignored, unknown");
  return static_cast<Obedience>(found - kObediences.begin());
}

Result<Visit> read_visit(const CsvReader& csv, const std::vector<std::size_t>& column,
                         const std::vector<std::string>& kernels) {
  Visit visit;
  const auto kernel = std::ranges::find(kernels, csv.field(column[kKernel]));
  if (kernel == kernels.end())
    return csv.error_in(column[kKernel], "a kernel that this program runs");
  visit.kernel = static_cast<std::uint32_t>(kernel - kernels.begin());
  NW_TRY(visit.clocks.core, read_clock(csv, column[kCore]));
  NW_TRY(visit.clocks.memory, read_clock(csv, column[kMemory]));
  NW_TRY(const double time, csv.positive(column[kTime]));
  NW_TRY(const double energy, csv.positive(column[kEnergy]));
  NW_TRY(const double deviation, csv.number(column[kDeviation]));
  NW_TRY(visit.calls, csv.whole(column[kCalls], 1));
  NW_TRY(visit.actual_core_mhz, csv.whole(column[kActualCore], 0));
  NW_TRY(visit.actual_memory_mhz, csv.whole(column[kActualMemory], 0));
  NW_TRY(visit.obedience, read_obedience(csv, column[kClocks]));
  if (!csv.field(column[kTemperature]).empty()) {
    NW_TRY(const double temperature, csv.number(column[kTemperature]));
    visit.temperature_c = static_cast<std::int32_t>(std::clamp(temperature, -300.0, 1000.0));
  }
  visit.time = Seconds(time);
  visit.energy = Joules(energy);
  visit.energy_deviation = Joules(std::max(0.0, deviation));
  return visit;
}

}  // namespace

std::string_view name_of(Obedience obedience) {
  return kObediences.at(static_cast<std::size_t>(obedience));
}

std::string setup_text(std::string_view how, const std::vector<std::string>& command) {
  std::string text(how);
  text += ':';
  for (const auto& word : command) text += ' ' + in_quotes(word);
  return text;
}

std::string log_header(const std::string& setup) {
  return fmt::format("# setup: {}\n{}\n", setup, fmt::join(kColumns, ","));
}

std::string log_line(const Visit& visit, const std::vector<std::string>& kernels) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(kernels[visit.kernel]),
                     to_string(visit.clocks.core), to_string(visit.clocks.memory),
                     visit.time.in_si(), visit.energy.in_si(), visit.energy_deviation.in_si(),
                     visit.calls, visit.actual_core_mhz, visit.actual_memory_mhz,
                     name_of(visit.obedience),
                     visit.temperature_c ? fmt::format("{}", *visit.temperature_c) : "");
}

Result<VisitLog> parse_log(std::string_view bytes, std::string_view file,
                           const std::vector<std::string>& kernels) {
  // A kill leaves at most the last line torn.
  const auto whole = bytes.rfind('\n');
  bytes = bytes.substr(0, whole == std::string_view::npos ? 0 : whole + 1);
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const auto column, csv.require(kColumns));
  VisitLog log{.setup = std::string(csv.comment("setup")), .whole_bytes = bytes.size()};
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) return log;
    NW_TRY(auto visit, read_visit(csv, column, kernels));
    log.visits.push_back(visit);
  }
}

}  // namespace negawatt::sweep
