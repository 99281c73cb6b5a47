// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "report/assign_report.hpp"

namespace negawatt::report {
namespace {

// Keys keep the order they are written in: the file is read by people too.
using Json = nlohmann::ordered_json;

Json cost_json(const Cost& cost) {
  return {{"energy_j", cost.energy.in_si()}, {"runtime_s", cost.time.in_si()}};
}

Json share_json(const plan::AssignPlan& plan, const plan::Assignment& assignment) {
  double all = 0.0;
  for (const auto requests : assignment.requests) all += static_cast<double>(requests);
  auto object = Json::object();
  for (std::size_t s = 0; s < plan.systems.size(); ++s)
    object[plan.systems[s]] = static_cast<double>(assignment.requests[s]) / all;
  return object;
}

Json threshold_json(const plan::AssignPlan& plan, const plan::Threshold& threshold) {
  Json object;
  if (threshold.input_tokens) object["input_tokens"] = *threshold.input_tokens;
  if (threshold.output_tokens) object["output_tokens"] = *threshold.output_tokens;
  object["small"] = plan.systems[threshold.small];
  object["large"] = plan.systems[threshold.large];
  return object;
}

Json baseline_json(const plan::AssignPlan& plan, const plan::Assignment& assignment) {
  auto object = cost_json(assignment.total);
  object["objective"] = assignment.objective;
  object["share"] = share_json(plan, assignment);
  if (assignment.threshold) object["threshold"] = threshold_json(plan, *assignment.threshold);
  object["keeps_capacities"] = assignment.keeps_capacities;
  object["extrapolated_requests"] = assignment.extrapolated;
  return object;
}

Json errors_json(const plan::BilinearCoefficients& coefficients, const plan::FitErrors& errors) {
  return {{"coefficients", coefficients},          {"r2_uncentred", errors.r2_uncentred},
          {"r2_centred", errors.r2_centred},       {"mean_error_pct", errors.mean_pct},
          {"median_error_pct", errors.median_pct}, {"negative_predictions", errors.negative}};
}

Json follow_up_json(const plan::AssignPlan& plan) {
  const auto& follow_up = *plan.follow_up;
  auto fits = Json::object();
  for (std::size_t s = 0; s < plan.systems.size(); ++s)
    fits[plan.systems[s]] = {
        {"energy_j", errors_json(follow_up.fits[s].joules, follow_up.fits[s].energy)},
        {"runtime_s", errors_json(follow_up.fits[s].seconds, follow_up.fits[s].time)}};
  return {{"fits", std::move(fits)},
          {"sizes_compared", follow_up.winners.sizes},
          {"winners_right", follow_up.winners.right},
          {"promised", cost_json(follow_up.promised)}};
}

Json prices_json(const plan::AssignPlan& plan) {
  auto object = Json::object();
  for (std::size_t s = 0; s < plan.systems.size(); ++s) object[plan.systems[s]] = plan.prices[s];
  return object;
}

}  // namespace

std::string assign_json(const AssignReport& report) {
  const auto& plan = report.plan;
  auto object = cost_json(plan.chosen.total);
  object["objective"] = plan.chosen.objective;
  object["policy"] = plan.chosen.name;
  object["share"] = share_json(plan, plan.chosen);
  object["threshold"] =
      plan.chosen.threshold ? threshold_json(plan, *plan.chosen.threshold) : Json::object();
  auto& baselines = object["baselines"] = Json::object();
  for (const auto& assignment : plan.baselines)
    baselines[assignment.name] = baseline_json(plan, assignment);
  object["bound"] = {{"objective", plan.bound}};
  object["prices"] = prices_json(plan);
  object["keeps_capacities"] = plan.chosen.keeps_capacities;
  std::uint64_t requests = 0;
  for (const auto count : plan.chosen.requests) requests += count;
  object["requests"] = requests;
  object["sizes"] = plan.sizes;
  object["interpolated_requests"] = plan.chosen.interpolated;
  object["extrapolated_requests"] = plan.chosen.extrapolated;
  if (plan.follow_up) object["follow_up"] = follow_up_json(plan);
  object["lambda"] = plan.request.lambda;
  object["normalised"] = plan.request.normalise;
  if (plan.chosen.name == "random") object["seed"] = plan.request.seed;
  object["solve_s"] = report.solve_time.in_si();
  object["evidence"] = name_of(plan.evidence.kind);
  if (!plan.evidence.source.empty()) object["evidence_from"] = plan.evidence.source;
  object["requests_file"] = report.requests_file;
  object["systems_file"] = report.systems_file;
  object["command"] = report.command;
  object["version"] = report.version;
  // A command line may be no UTF-8; JSON has to be.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace negawatt::report
