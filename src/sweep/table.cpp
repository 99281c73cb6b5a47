// SPDX-License-Identifier: Apache-2.0
#include "sweep/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

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

  /// At least what the counter's steps leave open, however well repeats happen to agree.
  [[nodiscard]] double energy_error() const {
    const auto count = static_cast<double>(energies.size());
    return std::max(summarise(energies).standard_error, std::sqrt(counter_variance) / count);
  }
};

std::uint32_t middle(std::vector<std::uint32_t> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

std::string mhz_or_nothing(std::uint32_t mhz) { return mhz == 0 ? "" : fmt::format("{}", mhz); }

}  // namespace

std::string kernel_table_csv(const std::vector<RunnableKernel>& kernels,
                             const std::vector<Visit>& visits, const Evidence& evidence) {
  std::map<std::pair<std::uint32_t, trace::ClockPair>, Row> rows;
  for (const auto& visit : visits) rows[{visit.kernel, visit.clocks}].add(visit);
  std::string text =
      fmt::format("# evidence: {}\n# source: {}\n", name_of(evidence.kind), evidence.source);
  text +=
      "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j,time_sd_s,energy_sd_j,visits,"
      "actual_core_mhz,actual_memory_mhz,clocks\n";
  for (const auto& [key, row] : rows) {
    const auto& kernel = kernels[key.first];
    const auto time = summarise(row.times);
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(kernel.name), csv_field(kernel.group),
        kernel.calls, to_string(key.second.core), to_string(key.second.memory), time.mean,
        summarise(row.energies).mean, time.standard_error, row.energy_error(), row.times.size(),
        mhz_or_nothing(middle(row.core)), mhz_or_nothing(middle(row.memory)), name_of(row.worst));
  }
  return text;
}

}  // namespace negawatt::sweep
