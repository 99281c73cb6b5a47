// SPDX-License-Identifier: Apache-2.0
#include "sim/result_interval.hpp"

namespace negawatt::sim {
namespace {

/// A device that was never checked has no median.
bool is_known(const model::ErrorBand& band) { return band.median_pct > 0.0; }

}  // namespace

std::optional<Interval> energy_interval(const SimulationResult& result) {
  const double total = result.energy.total().in_si();
  Interval interval{total, total};
  for (std::size_t i = 0; i < result.cluster->instances.size(); ++i) {
    const double busy = result.energy.of(i, Activity::busy).energy.in_si();
    const auto& band = result.cluster->instances[i].energy_error;
    if (busy <= 0.0) continue;
    if (!is_known(band)) return std::nullopt;
    interval.low += busy * (band.low - 1.0);
    interval.high += busy * (band.high - 1.0);
  }
  return interval;
}

std::optional<Interval> step_time_interval(const SimulationResult& result, std::size_t instance) {
  const auto& outcome = result.outcome.instances[instance];
  const auto& band = result.cluster->instances[instance].time_error;
  if (outcome.steps == 0 || !is_known(band)) return std::nullopt;
  const double mean = outcome.busy.in_si() / static_cast<double>(outcome.steps);
  return Interval{mean * band.low, mean * band.high};
}

}  // namespace negawatt::sim
