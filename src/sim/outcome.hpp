// SPDX-License-Identifier: Apache-2.0
//
// What came of a simulation, apart from its energy (energy_meter.hpp): who was served when. All
// times are simulated. Memory does not grow with the number of requests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.hpp"
#include "sim/quantiles.hpp"

namespace negawatt::sim {

/// Latencies in seconds.
struct Latencies {
  QuantileSketch ttft;       ///< from arrival to the first token, of each request
  QuantileSketch e2e;        ///< from arrival to the last token, of each request
  QuantileSketch per_token;  ///< mean time between tokens, of each request with at least two
};

struct ClassOutcome {
  std::uint64_t requests = 0;  ///< that arrived
  std::uint64_t completed = 0;
  std::uint64_t met_ttft = 0;  ///< completed in time; each counts where nothing is asked
  std::uint64_t met_tbt = 0;
  std::uint64_t met_e2e = 0;
  std::uint64_t met_all = 0;
  bool has_slo = false;
  Latencies latencies;
};

struct InstanceOutcome {
  std::uint64_t completed = 0;      ///< whose last token was produced here
  std::uint64_t prompt_tokens = 0;  ///< computed, those computed again included
  std::uint64_t output_tokens = 0;
  std::uint64_t steps = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t starts = 0;
  std::uint64_t peak_waiting = 0;
  std::uint64_t peak_kv_blocks = 0;
  Seconds busy;
};

struct Outcome {
  std::uint64_t requests = 0;
  std::uint64_t completed = 0;
  std::uint64_t refused_by_policy = 0;  ///< no instance can serve it
  std::uint64_t too_large = 0;          ///< for the KV memory of the instance it was sent to
  std::uint64_t input_tokens = 0;       ///< of completed requests
  std::uint64_t output_tokens = 0;      ///< of completed requests
  std::uint64_t transfers = 0;
  std::uint64_t events = 0;
  Latencies latencies;
  QuantileSketch between_tokens;  ///< every gap between two tokens of a request, in seconds
  Seconds ended;                  ///< the last completion, or the last arrival
  Seconds last_arrival;
  std::uint64_t waiting_at_last_arrival = 0;
  std::vector<ClassOutcome> classes;
  std::vector<InstanceOutcome> instances;

  [[nodiscard]] std::uint64_t steps() const;
  [[nodiscard]] std::uint64_t preemptions() const;
  /// The share of all requests with an SLO that met all of it; none: no class has one.
  [[nodiscard]] std::optional<double> slo_attainment() const;
  /// More requests wait when the last one arrives than the cluster has room for at a time.
  [[nodiscard]] bool overloaded(std::uint64_t sequences_of_cluster) const {
    return waiting_at_last_arrival > sequences_of_cluster;
  }
};

}  // namespace negawatt::sim
