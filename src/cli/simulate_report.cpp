// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "report/compare_report.hpp"
#include "report/serving_report.hpp"
#include "route/make_policy.hpp"

namespace negawatt::cli {
namespace {

report::ServedLatency latency_of(const sim::QuantileSketch& sketch) {
  report::ServedLatency latency{.count = sketch.count(), .mean = Seconds(sketch.mean())};
  for (std::size_t i = 0; i < latency.quantiles.size(); ++i)
    latency.quantiles[i] = Seconds(sketch.quantile(report::kQuantileShares[i]));
  return latency;
}

report::ServingPolicyKind kind_of(const std::string& policy) {
  switch (route::policy_kind(policy)) {
    case route::PolicyKind::load:
      return report::ServingPolicyKind::load;
    case route::PolicyKind::one_device:
      return report::ServingPolicyKind::one_device;
    case route::PolicyKind::work:
      return report::ServingPolicyKind::work;
    case route::PolicyKind::clairvoyant:
      return report::ServingPolicyKind::clairvoyant;
  }
  return report::ServingPolicyKind::work;
}

/// "h100" of "all-on-one:device=h100", of which it is the only parameter.
std::string device_of(const std::string& policy) { return policy.substr(policy.find('=') + 1); }

std::vector<report::ServedInstance> instances_of(const ClusterInputs& cluster,
                                                 const sim::SimulationResult& result) {
  std::vector<report::ServedInstance> instances;
  const auto& specs = cluster.description.cluster.instances;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto& outcome = result.outcome.instances[i];
    instances.push_back({.name = specs[i].name,
                         .device_type = cluster.description.device_types[specs[i].device_type].name,
                         .requests = outcome.completed,
                         .tokens = outcome.prompt_tokens + outcome.output_tokens,
                         .energy = result.energy.of(i)});
  }
  return instances;
}

std::vector<report::ServedClass> classes_of(const sim::SimulationResult& result) {
  std::vector<report::ServedClass> classes;
  for (std::size_t i = 0; i < result.classes.size(); ++i) {
    report::ServedClass one{.name = result.classes[i]};
    if (i < result.outcome.classes.size()) {
      const auto& outcome = result.outcome.classes[i];
      one.requests = outcome.requests;
      if (outcome.has_slo && outcome.requests > 0)
        one.attainment =
            static_cast<double>(outcome.met_all) / static_cast<double>(outcome.requests);
      if (outcome.completed > 0) one.p99 = Seconds(outcome.latencies.e2e.quantile(0.99));
    }
    classes.push_back(std::move(one));
  }
  return classes;
}

bool is_overloaded(const ClusterInputs& cluster, const sim::Outcome& outcome) {
  std::uint64_t room = 0;
  for (const auto& spec : cluster.description.cluster.instances) room += spec.limits.most_sequences;
  return outcome.overloaded(room);
}

report::ServedRun run_of(const ClusterInputs& cluster, const SimulateCase& one,
                         const sim::SimulationResult& result) {
  const auto& outcome = result.outcome;
  report::ServedRun run{.cluster = one.cluster,
                        .policy = one.policy,
                        .family = one.family,
                        .lambda = one.lambda,
                        .kind = kind_of(one.policy),
                        .speed = one.speed,
                        .seed = one.seed,
                        .requests = outcome.requests,
                        .completed = outcome.completed,
                        .output_tokens = outcome.output_tokens,
                        .energy = result.energy.total(),
                        .idle = result.energy.without_work(),
                        .above_idle = result.energy.above_idle(),
                        .bound = result.bound,
                        .attainment = outcome.slo_attainment(),
                        .ttft = latency_of(outcome.latencies.ttft),
                        .tbt = latency_of(outcome.between_tokens),
                        .e2e = latency_of(outcome.latencies.e2e),
                        .is_overloaded = is_overloaded(cluster, outcome),
                        .instances = instances_of(cluster, result),
                        .classes = classes_of(result)};
  if (run.kind == report::ServingPolicyKind::one_device) run.device = device_of(one.policy);
  return run;
}

/// "1 h100, 4 l4"
std::string composition(const sim::ClusterDescription& description) {
  std::string text;
  for (std::uint32_t type = 0; type < description.device_types.size(); ++type)
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ",
        std::ranges::count(description.cluster.instances, type, &sim::InstanceSpec::device_type),
        description.device_types[type].name);
  return text;
}

std::vector<report::ServingCluster> clusters_of(const SimulateInputs& inputs) {
  std::vector<std::string> files;
  files.reserve(inputs.clusters.size());
  for (const auto& cluster : inputs.clusters) files.push_back(cluster.file);
  const auto names = report::run_labels(files);
  std::vector<report::ServingCluster> clusters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& description = inputs.clusters[i].description;
    clusters.push_back({names[i], composition(description), description.sources});
  }
  return clusters;
}

}  // namespace

std::string simulate_page(const SimulateArguments& arguments, const SimulateInputs& inputs,
                          const std::vector<SimulateCase>& cases,
                          const std::vector<sim::SimulationResult>& results,
                          const std::string& command) {
  std::vector<report::ServedRun> runs;
  runs.reserve(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i)
    runs.push_back(run_of(inputs.clusters[cases[i].cluster], cases[i], results[i]));
  const auto clusters = clusters_of(inputs);
  return report::serving_html(
      {.runs = runs,
       .clusters = clusters,
       .requests_name = inputs.requests_name,
       .are_requests_made_up = std::holds_alternative<trace::Workload>(inputs.requests),
       .demanded = arguments.attainment_pct / 100.0,
       .command = command,
       .version = NEGAWATT_VERSION});
}

}  // namespace negawatt::cli
