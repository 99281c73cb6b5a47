// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "report/iteration.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

// Keys keep the order they are written in: the file is read by people too.
using Json = nlohmann::ordered_json;

// A longer iteration is not followed invocation by invocation; its plan would fill the disk.
constexpr std::size_t kMostExecuted = 2'000'000;

Json clock_json(trace::Clock clock) {
  return clock.is_automatic() ? Json("auto") : Json(clock.mhz());
}

Json cost_json(const Cost& cost) {
  return {{"time_s", cost.time.in_si()}, {"energy_j", cost.energy.in_si()}};
}

void add_clocks(Json& object, trace::ClockPair clocks) {
  object["core_mhz"] = clock_json(clocks.core);
  object["memory_mhz"] = clock_json(clocks.memory);
}

void add_changes(Json& object, const plan::ClockPlan& plan, const Cost& cost) {
  object["time_change_pct"] = change_pct(plan.baseline.time, cost.time);
  object["energy_change_pct"] = change_pct(plan.baseline.energy, cost.energy);
}

Json rated_json(const plan::ClockPlan& plan, const Cost& cost) {
  auto object = cost_json(cost);
  add_changes(object, plan, cost);
  return object;
}

Json request_json(const plan::PlanRequest& request) {
  Json object = {{"objective", word(request.objective)},
                 {"granularity", request.granularity == plan::Granularity::one_pair ? "static"
                                 : request.granularity == plan::Granularity::group  ? "group"
                                 : request.granularity == plan::Granularity::kernel ? "kernel"
                                                                                    : "schedule"},
                 {"scope", word(request.scope)}};
  if (request.objective == plan::Objective::waste)
    object["slowdown_pct"] = 100.0 * request.slowdown;
  if (request.objective == plan::Objective::weighted) object["lambda"] = request.lambda;
  if (request.confidence) object["confidence"] = *request.confidence;
  return object;
}

Json baseline_json(const plan::ClockPlan& plan) {
  Json object;
  add_clocks(object, plan.baseline_clocks);
  object.update(cost_json(plan.baseline));
  return object;
}

Json static_json(const plan::ClockPlan& plan, const plan::StaticPair& pair) {
  Json object;
  add_clocks(object, pair.clocks);
  object.update(rated_json(plan, pair.total));
  return object;
}

Json choices_json(const ClockReport& report) {
  auto list = Json::array();
  for (const auto& choice : report.plan.choices) {
    const auto& kernel = report.table.kernels[choice.kernel];
    Json object = {{"kernel", kernel.name}, {"group", kernel.group}, {"calls", kernel.calls}};
    add_clocks(object, choice.clocks);
    object.update(cost_json(choice.per_call));
    object["reason"] = word(choice.reason);
    object["dominated"] = choice.dominated;
    object["pairs"] = choice.pairs;
    list.push_back(std::move(object));
  }
  return list;
}

Json segments_json(const plan::ClockPlan& plan) {
  auto list = Json::array();
  for (const auto& segment : plan.segments) {
    Json object = {{"first", segment.first}, {"last", segment.last}};
    add_clocks(object, segment.clocks);
    object.update(cost_json(segment.cost));
    list.push_back(std::move(object));
  }
  return list;
}

/// How long before a segment starts its clocks must be asked for; 0 for a clock that stays.
Seconds lead(trace::Clock from, trace::Clock to, const trace::DomainSwitch& domain) {
  return from == to ? Seconds() : domain.to(to).latency;
}

/// What `negawatt run` needs to carry the plan out: when to ask for which clocks, and how long
/// every invocation is expected to take until then.
Json execution_json(const ClockReport& report) {
  const auto& plan = report.plan;
  auto kernels = Json::array();
  for (const auto& kernel : report.table.kernels) kernels.push_back(kernel.name);
  auto segments = Json::array();
  auto times = Json::array();
  const auto* previous = &plan.segments.back();  // iterations follow each other
  for (const auto& segment : plan.segments) {
    Json object = {{"first", segment.first}, {"last", segment.last}};
    add_clocks(object, segment.clocks);
    const auto& switching = plan.request.switching;
    object["core_lead_s"] =
        lead(previous->clocks.core, segment.clocks.core, switching.core).in_si();
    object["memory_lead_s"] =
        lead(previous->clocks.memory, segment.clocks.memory, switching.memory).in_si();
    object.update(cost_json(segment.cost));
    segments.push_back(std::move(object));
    for (auto position = segment.first; position <= segment.last; ++position) {
      const auto* option = report.table.kernels[report.sequence[position]].at(segment.clocks);
      times.push_back(option->time.in_si());
    }
    previous = &segment;
  }
  return {{"kernels", std::move(kernels)},
          {"sequence", report.sequence},
          {"time_s", std::move(times)},
          {"segments", std::move(segments)}};
}

Json plan_object(const ClockReport& report) {
  const auto& plan = report.plan;
  auto object = rated_json(plan, plan.total);
  object["switches"] = plan.switches;
  if (plan.request.granularity == plan::Granularity::schedule)
    object["segments"] = segments_json(plan);
  else
    object["choices"] = choices_json(report);
  return object;
}

Json promise_json(const plan::ClockPlan& plan, const solve::Promise& promise) {
  return {{"confidence", promise.confidence},
          {"time_at_confidence_s", promise.time_at_confidence.in_si()},
          {"expected", rated_json(plan, promise.expected)},
          {"expected_sd", cost_json(promise.expected_sd)},
          {"searched", rated_json(plan, promise.searched)}};
}

}  // namespace

std::string plan_json(const ClockReport& report) {
  const auto& plan = report.plan;
  Json object;
  object["baseline"] = baseline_json(plan);
  if (plan.best_static) object["best_static"] = static_json(plan, *plan.best_static);
  for (const auto& row : yardsticks(plan)) {
    if ((row.key == "local" || row.key == "global") && row.time)
      object[row.key] = rated_json(plan, {*row.time, row.energy});
  }
  object["plan"] = plan_object(report);
  object["bound"] = {{"energy_j", plan.bound.in_si()}};
  object["gap_pct"] = gap_pct(plan.total.energy, plan.bound);
  if (plan.budget) {
    object["budget_s"] = plan.budget->in_si();
    object["price_w"] = plan.price.in_si();
  }
  if (plan.promise) object["promise"] = promise_json(plan, *plan.promise);
  if (!plan.frontier.empty()) {
    auto& frontier = object["frontier"] = Json::array();
    for (const auto& point : plan.frontier) frontier.push_back(cost_json(point));
  }
  object["solve_s"] = report.solve_time.in_si();
  object["evidence"] = name_of(report.table.evidence.kind);
  if (!report.table.evidence.source.empty()) object["evidence_from"] = report.table.evidence.source;
  object["request"] = request_json(plan.request);
  object["table"] = report.table.name;
  object["command"] = report.command;
  object["version"] = report.version;
  if (report.sequence.size() <= kMostExecuted) object["execution"] = execution_json(report);
  // A kernel's name may be no UTF-8; JSON has to be.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace negawatt::report
