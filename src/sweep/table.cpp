// SPDX-License-Identifier: Apache-2.0
#include "sweep/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/csv.hpp"
#include "sweep/statistics.hpp"

namespace negawatt::sweep {
namespace {

/// All visits of one kernel at one pair.
struct Row {
  std::vector<double> times;
  std::vector<double> energies;
  double counter_variance = 0.0;  ///< sum of the windows' own variances, J^2
  std::vector<std::uint32_t> core;
  std::vector<std::uint32_t> memory;
  Obedience worst = Obedience::as_asked;

  void add(const Visit& visit) {
    times.push_back(visit.time.in_si());
    energies.push_back(visit.energy.in_si());
    counter_variance += visit.energy_deviation.in_si() * visit.energy_deviation.in_si();
    core.push_back(visit.actual_core_mhz);
    memory.push_back(visit.actual_memory_mhz);
    worst = std::max(worst, visit.obedience);
  }

  /// Of one call's mean time; nothing when nobody knows.
  [[nodiscard]] std::optional<double> time_error(std::optional<double> relative) const {
    return error_of(summarise(times), relative);
  }

  /// At least what the counter's steps leave open, however well repeats happen to agree.
  [[nodiscard]] std::optional<double> energy_error(std::optional<double> relative) const {
    const auto scatter = error_of(summarise(energies), relative);
    if (!scatter) return std::nullopt;
    return std::max(*scatter, std::sqrt(counter_variance) / static_cast<double>(energies.size()));
  }

 private:
  static std::optional<double> error_of(const Repeats& repeats, std::optional<double> relative) {
    if (repeats.count >= 2) return repeats.standard_error;
    if (!relative) return std::nullopt;
    return *relative * repeats.mean;
  }
};

using Rows = std::map<std::pair<std::uint32_t, trace::ClockPair>, Row>;

/// What one visit scatters by, over its mean; nothing where no row has two visits.
struct Scatter {
  std::optional<double> time;
  std::optional<double> energy;
};

Scatter scatter_of(const Rows& rows) {
  PooledDeviation time;
  PooledDeviation energy;
  for (const auto& [key, row] : rows) {
    time.add(summarise(row.times));
    energy.add(summarise(row.energies));
  }
  return {time.relative(), energy.relative()};
}

std::uint32_t middle(std::vector<std::uint32_t> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

std::string mhz_or_nothing(std::uint32_t mhz) { return mhz == 0 ? "" : fmt::format("{}", mhz); }

std::string header(const Evidence& evidence, bool has_errors) {
  return fmt::format(
      "# evidence: {}\n# source: {}\nkernel,group,calls,core_mhz,memory_mhz,time_s,energy_j,{}"
      "visits,actual_core_mhz,actual_memory_mhz,clocks\n",
      name_of(evidence.kind), evidence.source, has_errors ? "time_sd_s,energy_sd_j," : "");
}

std::string line(const RunnableKernel& kernel, trace::ClockPair clocks, const Row& row,
                 const Scatter& scatter) {
  const auto time_error = row.time_error(scatter.time);
  const auto energy_error = row.energy_error(scatter.energy);
  const auto errors =
      time_error && energy_error ? fmt::format("{},{},", *time_error, *energy_error) : "";
  return fmt::format(
      "{},{},{},{},{},{},{},{}{},{},{},{}\n", csv_field(kernel.name), csv_field(kernel.group),
      kernel.calls, to_string(clocks.core), to_string(clocks.memory), summarise(row.times).mean,
      summarise(row.energies).mean, errors, row.times.size(), mhz_or_nothing(middle(row.core)),
      mhz_or_nothing(middle(row.memory)), name_of(row.worst));
}

}  // namespace

std::string kernel_table_csv(const std::vector<RunnableKernel>& kernels,
                             const std::vector<Visit>& visits, const Evidence& evidence) {
  Rows rows;
  for (const auto& visit : visits) rows[{visit.kernel, visit.clocks}].add(visit);
  const auto scatter = scatter_of(rows);
  auto text = header(evidence, scatter.time.has_value());
  for (const auto& [key, row] : rows) text += line(kernels[key.first], key.second, row, scatter);
  return text;
}

}  // namespace negawatt::sweep
