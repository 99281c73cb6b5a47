// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/evidence.hpp"
#include "sim/result.hpp"
#include "sim/result_interval.hpp"

namespace negawatt::sim {
namespace {

using Json = nlohmann::ordered_json;

Json quantiles(const QuantileSketch& sketch) {
  if (sketch.count() == 0) return nullptr;
  return {{"p50", sketch.quantile(0.5)},
          {"p90", sketch.quantile(0.9)},
          {"p99", sketch.quantile(0.99)},
          {"mean", sketch.mean()},
          {"max", sketch.greatest()}};
}

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", 0.9}};
}

/// Null where nothing is divided by.
Json ratio(double of, double by) { return by > 0.0 ? Json(of / by) : Json(nullptr); }

Json activity(const EnergyMeter& energy, std::size_t instance, Activity which) {
  const auto& totals = energy.of(instance, which);
  return {{"time_s", totals.time.in_si()}, {"energy_j", totals.energy.in_si()}};
}

Json instance_json(const SimulationResult& result, std::size_t index) {
  const auto& spec = result.cluster->instances[index];
  const auto& outcome = result.outcome.instances[index];
  const double ended = result.outcome.ended.in_si();
  Json json;
  json["name"] = spec.name;
  json["device"] = spec.device;
  json["completed"] = outcome.completed;
  json["energy_j"] = result.energy.of(index).in_si();
  json["busy"] = activity(result.energy, index, Activity::busy);
  json["idle"] = activity(result.energy, index, Activity::idle);
  json["asleep"] = activity(result.energy, index, Activity::asleep);
  json["starting"] = activity(result.energy, index, Activity::starting);
  json["busy_share"] = ratio(outcome.busy.in_si(), ended);
  json["steps"] = outcome.steps;
  json["step_time_s"] = ratio(outcome.busy.in_si(), static_cast<double>(outcome.steps));
  json["step_time_s_interval"] = interval_json(step_time_interval(result, index));
  json["prompt_tokens"] = outcome.prompt_tokens;
  json["output_tokens"] = outcome.output_tokens;
  json["tokens_per_step"] =
      ratio(static_cast<double>(outcome.output_tokens), static_cast<double>(outcome.steps));
  json["preemptions"] = outcome.preemptions;
  json["starts"] = outcome.starts;
  json["peak_waiting"] = outcome.peak_waiting;
  json["peak_kv_share"] = ratio(static_cast<double>(outcome.peak_kv_blocks),
                                static_cast<double>(spec.limits.kv_blocks));
  return json;
}

Json class_json(const SimulationResult& result, std::size_t index) {
  const auto& outcome = result.outcome.classes[index];
  const auto share = [&](std::uint64_t met) {
    return outcome.has_slo ? ratio(static_cast<double>(met), static_cast<double>(outcome.requests))
                           : Json(nullptr);
  };
  Json json;
  json["name"] = index < result.classes.size() ? result.classes[index] : std::to_string(index);
  json["requests"] = outcome.requests;
  json["completed"] = outcome.completed;
  json["slo_attainment"] = share(outcome.met_all);
  json["ttft_attainment"] = share(outcome.met_ttft);
  json["tbt_attainment"] = share(outcome.met_tbt);
  json["e2e_attainment"] = share(outcome.met_e2e);
  json["ttft_s"] = quantiles(outcome.latencies.ttft);
  json["mean_tbt_s"] = quantiles(outcome.latencies.per_token);
  json["e2e_s"] = quantiles(outcome.latencies.e2e);
  return json;
}

void add_energies(const SimulationResult& result, Json& json) {
  const auto& energy = result.energy;
  const double total = energy.total().in_si();
  json["energy_j"] = total;
  json["energy_j_interval"] = interval_json(energy_interval(result));
  json["energy_j_idle"] = energy.without_work().in_si();
  json["energy_j_above_idle"] = energy.above_idle().in_si();
  json["bound"] = {{"energy_j", result.bound.in_si()}};
  json["joules_per_output_token"] = ratio(total, static_cast<double>(result.outcome.output_tokens));
}

std::uint64_t room_of(const Cluster& cluster) {
  std::uint64_t sequences = 0;
  for (const auto& spec : cluster.instances) sequences += spec.limits.most_sequences;
  return sequences;
}

}  // namespace

std::string to_json(const SimulationResult& result) {
  const auto& outcome = result.outcome;
  Json json;
  json["policy"] = result.policy;
  json["seed"] = result.seed;
  json["cluster"] = result.cluster_name;
  json["speed"] = result.speed;
  json["requests_from"] = result.requests_name;
  json["requests"] = outcome.requests;
  json["completed"] = outcome.completed;
  json["rejected"] = {{"no_instance", outcome.refused_by_policy}, {"too_large", outcome.too_large}};
  add_energies(result, json);
  json["ttft_s"] = quantiles(outcome.latencies.ttft);
  json["tbt_s"] = quantiles(outcome.between_tokens);
  json["mean_tbt_s"] = quantiles(outcome.latencies.per_token);
  json["e2e_s"] = quantiles(outcome.latencies.e2e);
  const auto attainment = outcome.slo_attainment();
  json["slo_attainment"] = attainment ? Json(*attainment) : Json(nullptr);
  json["mean_power_w"] = ratio(result.energy.total().in_si(), outcome.ended.in_si());
  json["peak_power_w"] = result.energy.peak().in_si();
  json["overloaded"] = outcome.overloaded(room_of(*result.cluster));
  json["waiting_at_last_arrival"] = outcome.waiting_at_last_arrival;
  json["last_arrival_s"] = outcome.last_arrival.in_si();
  json["preemptions"] = outcome.preemptions();
  json["transfers"] = outcome.transfers;
  json["steps"] = outcome.steps();
  json["events"] = outcome.events;
  json["simulated_s"] = outcome.ended.in_si();
  json["wall_s"] = result.wall.in_si();
  json["classes"] = Json::array();
  for (std::size_t i = 0; i < outcome.classes.size(); ++i)
    json["classes"].push_back(class_json(result, i));
  json["per_instance"] = Json::array();
  for (std::size_t i = 0; i < outcome.instances.size(); ++i)
    json["per_instance"].push_back(instance_json(result, i));
  json["evidence"] = name_of(EvidenceKind::simulated);
  json["evidence_from"] = result.sources;
  return json.dump(2) + "\n";
}

}  // namespace negawatt::sim
