// SPDX-License-Identifier: Apache-2.0
#include "plan/assign.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/text.hpp"
#include "plan/assign_costs.hpp"
#include "plan/assign_rules.hpp"
#include "solve/transport.hpp"

namespace negawatt::plan {
namespace {

// Both thresholds at once are a baseline up to so many groups and pairs of systems (about two
// seconds); beyond, they are searched for only when they are asked for.
constexpr std::uint64_t kMostWork = 20'000'000;
constexpr auto kUnlimited = solve::TransportProblem::kUnlimited;

std::string names_of(const trace::SystemTable& table) {
  std::string text;
  for (const auto& system : table.systems)
    text += (text.empty() ? "'" : ", '") + printable(system.name) + "'";
  return text;
}

Result<std::size_t> system_named(const trace::SystemTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.systems, name, &trace::MeasuredSystem::name);
  if (found != table.systems.end()) return static_cast<std::size_t>(found - table.systems.begin());
  return failure(Code::invalid, fmt::format("{} has no system '{}', expected {}", table.name,
                                            printable(name), names_of(table)));
}

Status check_capacity(const SystemCapacity& limit) {
  constexpr double kMostRequests = 1e15;
  const double most = limit.is_share ? 1.0 : kMostRequests;
  if (limit.amount >= 0.0 && limit.amount <= most) return {};
  return failure(
      Code::invalid,
      fmt::format("capacity of '{}' is {}, expected {}", printable(limit.system), limit.amount,
                  limit.is_share ? "a share from 0 to 1" : "0 to 1e15 requests"));
}

/// Shares that add up to all requests have room for them: what rounding down took away is given
/// back, the largest remainder first, as seats in a parliament are (Hamilton's method).
void give_back_rest(const AssignRequest& request, const trace::SystemTable& table,
                    std::uint64_t requests, std::vector<std::uint64_t>& capacity) {
  struct Rest {
    double part;
    std::size_t system;
  };
  std::vector<Rest> rests;
  double shares = 0.0;
  std::uint64_t room = 0;
  for (const auto& limit : request.capacities) {
    const auto system = system_named(table, limit.system).value();
    const double exact = limit.amount * static_cast<double>(requests);
    if (!limit.is_share) return;
    shares += limit.amount;
    room += capacity[system];
    rests.push_back({exact - static_cast<double>(capacity[system]), system});
  }
  if (rests.size() < table.systems.size() || shares < 1.0 - 1e-9) return;
  std::ranges::stable_sort(rests, std::greater<>{}, &Rest::part);
  for (auto rest = rests.begin(); room < requests && rest != rests.end(); ++rest, ++room)
    ++capacity[rest->system];
}

Result<std::vector<std::uint64_t>> capacities_of(const trace::SystemTable& table,
                                                 const AssignRequest& request,
                                                 std::uint64_t requests) {
  std::vector<std::uint64_t> capacity(table.systems.size(), kUnlimited);
  for (const auto& limit : request.capacities) {
    NW_TRY(const auto system, system_named(table, limit.system));
    if (capacity[system] != kUnlimited)
      return failure(Code::invalid,
                     fmt::format("capacity of '{}' is there twice", printable(limit.system)));
    NW_CHECK(check_capacity(limit));
    const double exact = limit.amount * (limit.is_share ? static_cast<double>(requests) : 1.0);
    // A share such as 0.29 of 100 is 29 requests, whatever its rounding in binary.
    constexpr double kRounding = 2 * std::numeric_limits<double>::epsilon();
    capacity[system] = static_cast<std::uint64_t>(std::floor(exact + exact * kRounding));
  }
  give_back_rest(request, table, requests, capacity);
  return capacity;
}

std::uint64_t requests_of(const Workload& workload) {
  std::uint64_t requests = 0;
  for (const auto& group : workload.groups) requests += group.requests;
  return requests;
}

/// Says in the user's terms why the items of transport() do not fit.
Error no_room(const AssignProblem& problem, const Error& error) {
  std::string limits;
  for (std::size_t s = 0; s < problem.capacity.size(); ++s)
    if (problem.capacity[s] != kUnlimited)
      limits += fmt::format("{}{} {}", limits.empty() ? "" : ", ",
                            printable(problem.table.systems[s].name), problem.capacity[s]);
  return {error.code, fmt::format("the capacities ({}) are too small for {} requests: {}", limits,
                                  requests_of(problem.workload), error.message)};
}

Result<solve::TransportPlan> solve_exactly(const AssignProblem& problem) {
  const auto& costs = problem.costs;
  solve::TransportProblem transport{.systems = costs.systems(), .capacity = problem.capacity};
  transport.cost.reserve(costs.groups() * costs.systems());
  for (std::size_t g = 0; g < costs.groups(); ++g) {
    transport.items.push_back(costs.requests_in(g));
    for (std::size_t s = 0; s < costs.systems(); ++s) transport.cost.push_back(costs.utility(g, s));
  }
  transport.name_of_group = [&groups = problem.workload.groups](std::size_t group) {
    const auto& [input, output] = groups[group].size;
    return fmt::format("the requests of {} input and {} output tokens", input, output);
  };
  auto solution = solve::transport(transport);
  if (!solution && solution.error().code == Code::infeasible)
    return tl::unexpected(no_room(problem, solution.error()));
  return solution;
}

Assignment optimum(const AssignProblem& problem, const solve::TransportPlan& solution) {
  Tally tally(problem.costs);
  for (const auto& shipment : solution.shipments)
    tally.add(shipment.group, shipment.system, shipment.items);
  return std::move(tally).finish("optimal", problem.capacity);
}

/// All assignments that serve every request, the optimum first.
std::vector<Assignment> all_assignments(const AssignProblem& problem,
                                        const solve::TransportPlan& solution,
                                        const std::optional<FollowUp>& follow_up) {
  std::vector<Assignment> found = {optimum(problem, solution)};
  const auto keep = [&](std::optional<Assignment> assignment) {
    if (assignment) found.push_back(*std::move(assignment));
  };
  for (auto& single : assign_all(problem)) keep(std::move(single));
  const ThresholdSearch search(problem.costs, problem.workload);
  for (const auto rule :
       {AssignRule::input_threshold, AssignRule::output_threshold, AssignRule::both_thresholds})
    if (rule != AssignRule::both_thresholds || rule == problem.request.rule ||
        search.work() <= kMostWork)
      keep(assign_by_threshold(problem, search, rule));
  if (follow_up) keep(assign_by_fits(problem, *follow_up));
  keep(assign_in_turn(problem));
  keep(assign_randomly(problem));
  return found;
}

std::string name_of(const AssignRequest& request) {
  switch (request.rule) {
    case AssignRule::optimal:
      return "optimal";
    case AssignRule::input_threshold:
      return "input-threshold";
    case AssignRule::output_threshold:
      return "output-threshold";
    case AssignRule::both_thresholds:
      return "both-thresholds";
    case AssignRule::all:
      return "all:" + request.system;
    case AssignRule::random:
      return "random";
    case AssignRule::round_robin:
      return "round-robin";
    case AssignRule::follow_up:
      return "follow-up";
  }
  return {};
}

Evidence evidence_of(const trace::SystemTable& table, const Assignment& chosen) {
  auto evidence = table.evidence;
  if (chosen.interpolated + chosen.extrapolated == 0) return evidence;
  if (evidence.kind == EvidenceKind::measured) evidence.kind = EvidenceKind::modelled;
  evidence.source =
      fmt::format("{} between {} sizes of {}{}{}",
                  chosen.extrapolated == 0 ? "interpolated" : "inter- and extrapolated",
                  name_of(table.evidence.kind), table.name,
                  table.evidence.source.empty() ? "" : ": ", table.evidence.source);
  return evidence;
}

Status check(const trace::SystemTable& table, const Workload& workload,
             const AssignRequest& request) {
  if (workload.groups.empty()) return failure(Code::invalid, "there are no requests to assign");
  if (!(request.lambda >= 0.0 && request.lambda <= 1.0))
    return failure(Code::invalid,
                   fmt::format("lambda is {}, expected 0 (time) to 1 (energy)", request.lambda));
  constexpr auto kMostSystems = solve::TransportProblem::kMostSystems;
  if (table.systems.size() > kMostSystems)
    return failure(Code::invalid, fmt::format("{} has {} systems, expected at most {}", table.name,
                                              table.systems.size(), kMostSystems));
  if (request.rule == AssignRule::all) {
    NW_CHECK(system_named(table, request.system).map([](std::size_t) {}));
  }
  return {};
}

Result<std::vector<CostSurface>> surfaces_of(const trace::SystemTable& table) {
  std::vector<CostSurface> surfaces;
  for (const auto& system : table.systems) {
    NW_TRY(auto surface, CostSurface::of(system));
    surfaces.push_back(std::move(surface));
  }
  return surfaces;
}

tl::unexpected<Error> cannot_serve(const AssignPlan& plan, std::string_view name) {
  const bool is_threshold = name.ends_with("-threshold") || name.ends_with("-thresholds");
  std::string_view needs = "a system that takes them all";
  if (is_threshold)
    needs = plan.systems.size() == 1 ? "two systems" : "two systems that take them between them";
  return failure(Code::infeasible,
                 fmt::format("policy {} cannot serve every request: it needs {}", name, needs));
}

/// Takes what was asked for out of the baselines.
Status choose(AssignPlan& plan) {
  const auto name = name_of(plan.request);
  const auto chosen = std::ranges::find(plan.baselines, name, &Assignment::name);
  if (chosen == plan.baselines.end()) return cannot_serve(plan, name);
  plan.chosen = std::move(*chosen);
  plan.baselines.erase(chosen);
  return {};
}

}  // namespace

const Assignment* AssignPlan::best_single() const {
  const Assignment* best = nullptr;
  const auto consider = [&](const Assignment& assignment) {
    if (assignment.name.starts_with("all:") && assignment.keeps_capacities &&
        (best == nullptr || assignment.objective < best->objective))
      best = &assignment;
  };
  consider(chosen);
  for (const auto& assignment : baselines) consider(assignment);
  return best;
}

Result<AssignPlan> plan_assignment(const trace::SystemTable& table, const Workload& workload,
                                   const AssignRequest& request) {
  NW_CHECK(check(table, workload, request));
  NW_TRY(auto capacity, capacities_of(table, request, requests_of(workload)));
  NW_TRY(auto surfaces, surfaces_of(table));
  const auto utility = utility_of(table, request);
  NW_TRY(const auto costs, AssignCosts::of(table, surfaces, workload, request, utility));
  AssignProblem problem{.table = table,
                        .workload = workload,
                        .request = request,
                        .costs = costs,
                        .utility = utility,
                        .surfaces = std::move(surfaces),
                        .capacity = std::move(capacity)};
  if (!request.threshold.small.empty()) {
    NW_TRY(problem.small, system_named(table, request.threshold.small));
  }
  NW_TRY(const auto solution, solve_exactly(problem));

  AssignPlan plan{.request = request,
                  .bound = solution.bound,
                  .prices = solution.prices,
                  .sizes = workload.groups.size()};
  for (const auto& system : table.systems) plan.systems.push_back(system.name);
  if (auto follow_up = fit_follow_up(problem))
    plan.follow_up = *std::move(follow_up);
  else if (request.rule == AssignRule::follow_up)
    return tl::unexpected(std::move(follow_up).error());
  plan.baselines = all_assignments(problem, solution, plan.follow_up);
  NW_CHECK(choose(plan));
  plan.evidence = evidence_of(table, plan.chosen);
  return plan;
}

}  // namespace negawatt::plan
