// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "sim/result.hpp"

namespace negawatt::sim {

std::string_view csv_columns() {
  return "requests,completed,energy_j,energy_j_idle,bound_j,joules_per_output_token,ttft_p50_s,"
         "ttft_p99_s,tbt_p99_s,e2e_p50_s,e2e_p99_s,slo_attainment,mean_power_w,peak_power_w,"
         "waiting_at_last_arrival,simulated_s";
}

std::string csv_values(const SimulationResult& result) {
  const auto& outcome = result.outcome;
  const auto& latencies = outcome.latencies;
  const double total = result.energy.total().in_si();
  const double ended = outcome.ended.in_si();
  const auto attainment = outcome.slo_attainment();
  std::string values = fmt::format("{},{},{},{},{}", outcome.requests, outcome.completed, total,
                                   result.energy.without_work().in_si(), result.bound.in_si());
  values += outcome.output_tokens > 0
                ? fmt::format(",{}", total / static_cast<double>(outcome.output_tokens))
                : std::string(",");
  values += fmt::format(",{},{},{},{},{}", latencies.ttft.quantile(0.5),
                        latencies.ttft.quantile(0.99), outcome.between_tokens.quantile(0.99),
                        latencies.e2e.quantile(0.5), latencies.e2e.quantile(0.99));
  values += attainment ? fmt::format(",{}", *attainment) : std::string(",");
  return values + fmt::format(",{},{},{},{}", ended > 0.0 ? total / ended : 0.0,
                              result.energy.peak().in_si(), outcome.waiting_at_last_arrival, ended);
}

}  // namespace negawatt::sim
