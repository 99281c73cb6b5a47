// SPDX-License-Identifier: Apache-2.0
#include "trace/kernel_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

#include "core/csv.hpp"

namespace negawatt::trace {
namespace {

enum Column : unsigned char { kKernel, kGroup, kCalls, kCore, kMemory, kTime, kEnergy };
constexpr std::array<std::string_view, 7> kRequired = {
    "kernel", "group", "calls", "core_mhz", "memory_mhz", "time_s", "energy_j"};

// A sequence of this length takes 400 MB; an LLM iteration has thousands of calls.
constexpr std::uint64_t kMostInvocations = 100'000'000;

struct StringHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using KernelIndex = std::unordered_map<std::string, std::uint32_t, StringHash, std::equal_to<>>;

struct Deviations {
  std::size_t time = 0;
  std::size_t energy = 0;
};

Result<Clock> read_clock(const CsvReader& csv, std::size_t column) {
  const auto text = csv.field(column);
  if (text == "auto") return Clock::automatic();
  const auto mhz = csv.whole(column, 1);
  if (mhz) return Clock::locked_mhz(*mhz);
  return csv.error_in(column, "'auto' or whole MHz");
}

Result<double> read_deviation(const CsvReader& csv, std::size_t column) {
  NW_TRY(const double value, csv.number(column));
  if (value >= 0.0) return value;
  return csv.error_in(column, "0 or more");
}

Result<KernelOption> read_option(const CsvReader& csv, const std::vector<std::size_t>& column,
                                 const std::optional<Deviations>& deviations) {
  NW_TRY(const Clock core, read_clock(csv, column[kCore]));
  NW_TRY(const Clock memory, read_clock(csv, column[kMemory]));
  NW_TRY(const double time, csv.positive(column[kTime]));
  NW_TRY(const double energy, csv.positive(column[kEnergy]));
  KernelOption option{.clocks = {core, memory}, .time = Seconds(time), .energy = Joules(energy)};
  if (deviations) {
    NW_TRY(const double time_sd, read_deviation(csv, deviations->time));
    NW_TRY(const double energy_sd, read_deviation(csv, deviations->energy));
    option.time_sd = Seconds(time_sd);
    option.energy_sd = Joules(energy_sd);
  }
  return option;
}

Result<std::optional<Deviations>> find_deviations(const CsvReader& csv) {
  const Deviations found{csv.find("time_sd_s"), csv.find("energy_sd_j")};
  const auto none = csv.columns().size();
  if (found.time == none && found.energy == none) return std::nullopt;
  if (found.time != none && found.energy != none) return found;
  return csv.error("time_sd_s and energy_sd_j come together: one of them is missing");
}

/// Finds or adds the kernel of the current record and checks that its group and calls agree.
Result<Kernel*> kernel_of_record(const CsvReader& csv, const std::vector<std::size_t>& column,
                                 KernelTable& table, KernelIndex& index) {
  NW_TRY(const auto name, csv.text(column[kKernel]));
  NW_TRY(const auto group, csv.text(column[kGroup]));
  if (name.empty()) return csv.error("kernel is empty, expected a name");
  NW_TRY(const auto calls, csv.whole(column[kCalls], 1));
  auto found = index.find(name);
  if (found == index.end()) {
    found = index.emplace(name, static_cast<std::uint32_t>(table.kernels.size())).first;
    table.kernels.push_back({std::string(name), std::string(group), calls, {}});
  }
  auto& kernel = table.kernels[found->second];
  if (kernel.calls != calls)
    return csv.error(
        fmt::format("kernel '{}' has {} calls here and {} above", name, calls, kernel.calls));
  if (kernel.group != group)
    return csv.error(fmt::format("kernel '{}' is in group '{}' here and in '{}' above", name, group,
                                 kernel.group));
  return &kernel;
}

/// Sorts every kernel's options by clock pair and refuses a pair that is there twice.
Status sort_options(KernelTable& table) {
  for (auto& kernel : table.kernels) {
    auto& options = kernel.options;
    std::ranges::sort(options, {}, &KernelOption::clocks);
    const auto twice = std::ranges::adjacent_find(options, {}, &KernelOption::clocks);
    if (twice != options.end())
      return failure(Code::invalid,
                     fmt::format("{}: kernel '{}' has the pair {} twice, expected one row a pair",
                                 table.name, kernel.name, to_string(twice->clocks)));
  }
  return {};
}

}  // namespace

const KernelOption* Kernel::at(ClockPair clocks) const {
  const auto found = std::ranges::lower_bound(options, clocks, {}, &KernelOption::clocks);
  return found != options.end() && found->clocks == clocks ? &*found : nullptr;
}

Result<KernelTable> parse_kernel_table(std::string_view bytes, std::string_view file) {
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const auto column, csv.require(kRequired));
  NW_TRY(const auto deviations, find_deviations(csv));
  NW_TRY(auto evidence, evidence_in(csv));

  KernelTable table{.has_deviations = deviations.has_value(),
                    .evidence = std::move(evidence),
                    .name = std::string(file)};
  KernelIndex index;
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) break;
    NW_TRY(Kernel * kernel, kernel_of_record(csv, column, table, index));
    NW_TRY(const auto option, read_option(csv, column, deviations));
    kernel->options.push_back(option);
  }
  if (table.kernels.empty()) return csv.error("no rows below the header");
  NW_CHECK(sort_options(table));
  table.last_line_open = !csv.ended_with_newline();
  return table;
}

Result<Sequence> parse_sequence(std::string_view bytes, std::string_view file,
                                const KernelTable& table) {
  constexpr std::array<std::string_view, 2> kColumns = {"position", "kernel"};
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const auto column, csv.require(kColumns));

  KernelIndex index;
  for (std::uint32_t k = 0; k < table.kernels.size(); ++k) index.emplace(table.kernels[k].name, k);
  Sequence sequence;
  std::vector<std::uint32_t> appearances(table.kernels.size(), 0);
  std::uint32_t expected = 0;
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) break;
    NW_TRY(const auto position, csv.whole(column[0], 0));
    if (sequence.empty() && position <= 1) expected = position;
    if (position != expected)
      return csv.error(fmt::format("position is {}, expected {}", position, expected));
    ++expected;
    NW_TRY(const auto name, csv.text(column[1]));
    const auto kernel = index.find(name);
    if (kernel == index.end())
      return csv.error(fmt::format("kernel '{}' is not in {}", name, table.name));
    sequence.push_back(kernel->second);
    ++appearances[kernel->second];
  }
  if (sequence.empty()) return csv.error("no rows below the header");
  for (std::size_t k = 0; k < table.kernels.size(); ++k) {
    const auto& kernel = table.kernels[k];
    if (appearances[k] != kernel.calls)
      return failure(Code::invalid,
                     fmt::format("{}: kernel '{}' appears {} times, but {} says {} calls", file,
                                 kernel.name, appearances[k], table.name, kernel.calls));
  }
  return sequence;
}

Result<Sequence> sequence_in_table_order(const KernelTable& table) {
  std::uint64_t invocations = 0;
  for (const auto& kernel : table.kernels) invocations += kernel.calls;
  if (invocations > kMostInvocations)
    return failure(Code::invalid,
                   fmt::format("{}: one iteration has {} kernel calls, expected at most {}",
                               table.name, invocations, kMostInvocations));
  Sequence sequence;
  sequence.reserve(invocations);
  for (std::uint32_t k = 0; k < table.kernels.size(); ++k)
    sequence.insert(sequence.end(), table.kernels[k].calls, k);
  return sequence;
}

}  // namespace negawatt::trace
