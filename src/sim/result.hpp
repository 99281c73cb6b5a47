// SPDX-License-Identifier: Apache-2.0
//
// One simulation as a program reads it and as a person does. Every number in it is simulated from
// modelled devices; `sources` says how well those were checked. What the caller alone knows (names,
// seed, wall time) is handed in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "sim/cluster.hpp"
#include "sim/energy_meter.hpp"
#include "sim/outcome.hpp"

namespace negawatt::sim {

struct SimulationResult {
  const Cluster* cluster = nullptr;
  std::string cluster_name;
  Outcome outcome;
  EnergyMeter energy;
  Joules bound;  ///< EnergyBound::joules()
  std::string policy;
  std::uint64_t seed = 0;
  double speed = 1.0;                ///< requests arrived so many times as fast
  std::vector<std::string> classes;  ///< names
  std::string requests_name;
  std::string sources;
  Seconds wall;
};

/// JSON with the keys of docs/formats.md. The same run gives the same bytes but for `wall_s`.
[[nodiscard]] std::string to_json(const SimulationResult& result);

/// The same in one line for a table of many, without a line end; empty fields are unknown.
[[nodiscard]] std::string_view csv_columns();
[[nodiscard]] std::string csv_values(const SimulationResult& result);

/// At most 80 columns wide.
[[nodiscard]] std::string to_text(const SimulationResult& result);

/// Several policies on the same cluster and requests, side by side; at most 80 columns wide.
[[nodiscard]] std::string comparison_text(std::span<const SimulationResult> results);

}  // namespace negawatt::sim
