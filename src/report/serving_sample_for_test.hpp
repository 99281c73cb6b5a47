// SPDX-License-Identifier: Apache-2.0
//
// Simulated policies in round numbers: 1,000 requests and 10,000 output tokens on two instances.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/serving_report.hpp"

namespace negawatt::report {

/// Rises from 0 to `longest`, which is its p99 and beyond; its median and mean are a tenth of it.
inline ServedLatency latency_up_to(double longest) {
  ServedLatency latency{.count = 1000, .mean = Seconds(longest / 10)};
  for (std::size_t i = 0; i < kQuantileShares.size(); ++i)
    latency.quantiles[i] = Seconds(i >= kP99   ? longest
                                   : i == kP50 ? longest / 10
                                               : longest * kQuantileShares[i] / 5);
  return latency;
}

/// Three quarters of the requests run on h100, the others on l4; a fifth of the energy is idle.
inline ServedRun served_by(std::string policy, ServingPolicyKind kind, double joules,
                           double p99_s = 2, double attainment = 1) {
  ServedRun run{.policy = std::move(policy),
                .kind = kind,
                .seed = 1,
                .requests = 1000,
                .completed = 1000,
                .output_tokens = 10'000,
                .energy = Joules(joules),
                .idle = Joules(joules / 5),
                .above_idle = Joules(joules / 2),
                .bound = Joules(50),
                .attainment = attainment,
                .ttft = latency_up_to(p99_s / 2),
                .tbt = latency_up_to(p99_s / 100),
                .e2e = latency_up_to(p99_s),
                .instances = {{"h100", "h100", 750, 30'000, Joules(0.6 * joules)},
                              {"l4", "l4", 250, 10'000, Joules(0.4 * joules)}}};
  if (kind == ServingPolicyKind::one_device)
    run.device = run.policy.substr(run.policy.find('=') + 1);
  return run;
}

inline ServedRun by_work(double joules, double p99_s = 2, double attainment = 1) {
  return served_by("negawatt", ServingPolicyKind::work, joules, p99_s, attainment);
}
inline ServedRun by_load(double joules, double p99_s = 2, double attainment = 1) {
  return served_by("round-robin", ServingPolicyKind::load, joules, p99_s, attainment);
}
inline ServedRun by_one_device(double joules, double p99_s = 2, double attainment = 1) {
  return served_by("all-on-one:device=h100", ServingPolicyKind::one_device, joules, p99_s,
                   attainment);
}
inline ServedRun by_clairvoyant(double joules, double p99_s = 2, double attainment = 1) {
  return served_by("clairvoyant", ServingPolicyKind::clairvoyant, joules, p99_s, attainment);
}

inline const std::vector<ServingCluster> kTwoClusters = {{"mixed", "1 h100, 1 l4", "H100: checked"},
                                                         {"small", "2 l4", "L4: checked"}};

inline ServingReport report_on(const std::vector<ServedRun>& runs) {
  return {.runs = runs,
          .clusters = kTwoClusters,
          .requests_name = "requests.csv",
          .command = "negawatt simulate",
          .version = "0.1.0"};
}

}  // namespace negawatt::report
