// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "sim/result.hpp"

namespace negawatt::sim {
namespace {

/// Each with the comma before it; empty where there is nothing to tell.
std::string ratio_field(double of, double by) {
  return by > 0.0 ? fmt::format(",{}", of / by) : ",";
}
std::string quantile_field(const QuantileSketch& sketch, double q) {
  return sketch.count() > 0 ? fmt::format(",{}", sketch.quantile(q)) : ",";
}

}  // namespace

std::string_view csv_columns() {
  return "requests,completed,energy_j,energy_j_idle,bound_j,joules_per_output_token,ttft_p50_s,"
         "ttft_p99_s,tbt_p99_s,e2e_p50_s,e2e_p99_s,slo_attainment,mean_power_w,peak_power_w,"
         "waiting_at_last_arrival,simulated_s";
}

std::string csv_values(const SimulationResult& result) {
  const auto& outcome = result.outcome;
  const auto& latencies = outcome.latencies;
  const double total = result.energy.total().in_si();
  const double ended = result.outcome.ended.in_si();
  const auto attainment = outcome.slo_attainment();
  std::string values = fmt::format("{},{},{},{},{}", outcome.requests, outcome.completed, total,
                                   result.energy.without_work().in_si(), result.bound.in_si());
  values += ratio_field(total, static_cast<double>(outcome.output_tokens));
  values += quantile_field(latencies.ttft, 0.5) + quantile_field(latencies.ttft, 0.99) +
            quantile_field(outcome.between_tokens, 0.99) + quantile_field(latencies.e2e, 0.5) +
            quantile_field(latencies.e2e, 0.99);
  values += attainment ? fmt::format(",{}", *attainment) : std::string(",");
  return values + ratio_field(total, ended) +
         fmt::format(",{},{},{}", result.energy.peak().in_si(), outcome.waiting_at_last_arrival,
                     ended);
}

}  // namespace negawatt::sim
