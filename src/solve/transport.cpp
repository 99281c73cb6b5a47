// SPDX-License-Identifier: Apache-2.0
#include "solve/transport.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "solve/compensated_sum.hpp"
#include "solve/equal_systems.hpp"
#include "solve/transport_flow.hpp"

namespace negawatt::solve {
namespace {

__extension__ using Wide = __int128;

constexpr auto kMostSystems = TransportProblem::kMostSystems;
constexpr std::uint64_t kMostItems = std::uint64_t{1} << 40;
// The first sample has about as many groups; each next one is larger by this factor.
constexpr std::size_t kFirstSample = 2048;
constexpr std::size_t kGrowth = 8;

std::string name_of(const TransportProblem& problem, std::size_t group) {
  return problem.name_of_group ? problem.name_of_group(group) : fmt::format("group {}", group);
}

Status check(const TransportProblem& problem) {
  const auto groups = problem.items.size();
  if (problem.systems == 0 || problem.systems > kMostSystems ||
      problem.capacity.size() != problem.systems ||
      problem.cost.size() != groups * problem.systems ||
      groups >= std::numeric_limits<std::uint32_t>::max() / 2)
    return failure(Code::invalid,
                   fmt::format("{} groups and {} systems with {} costs, expected a "
                               "cost for each and at most {} systems",
                               groups, problem.systems, problem.cost.size(), kMostSystems));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < problem.cost.size(); ++i)
    if (const double cost = problem.cost[i]; !std::isfinite(cost) && cost != kInfinity)
      return failure(Code::invalid, fmt::format("a cost of {} is {}, expected a number",
                                                name_of(problem, i / problem.systems), cost));
  std::uint64_t items = 0;
  for (const auto count : problem.items) {
    items += std::min(count, kMostItems);
    if (items >= kMostItems)
      return failure(Code::invalid, fmt::format("there are more than {} items", kMostItems));
  }
  return {};
}

std::uint64_t sum(const std::vector<std::uint64_t>& terms) {
  return std::accumulate(terms.begin(), terms.end(), std::uint64_t{0});
}

/// Capacities without what can never be used, so that their sum fits.
Result<std::vector<std::uint64_t>> usable_room(const TransportProblem& problem,
                                               std::uint64_t items) {
  auto room = problem.capacity;
  for (auto& capacity : room) capacity = std::min(capacity, items);
  if (sum(room) >= items) return room;
  return failure(Code::infeasible,
                 fmt::format("the systems have room for {} of {}", sum(room), items));
}

/// The share of the room that a sample with `sampled` of the `items` gets, rounded up.
std::vector<std::uint64_t> scaled_room(std::vector<std::uint64_t> room, std::uint64_t sampled,
                                       std::uint64_t items) {
  for (auto& capacity : room)
    capacity = static_cast<std::uint64_t>((Wide{capacity} * sampled + items - 1) / items);
  return room;
}

/// Costs in integers of a solution, and of the dual solution that the prices are.
struct Proof {
  Wide primal = 0;
  Wide dual = 0;
};

Proof proof_of(const IntegerCosts& costs, const std::vector<Shipment>& shipments,
               const std::vector<std::int64_t>& prices, const std::vector<std::uint64_t>& room) {
  Proof proof;
  for (const auto& shipment : shipments)
    proof.primal += Wide{costs.at(shipment.group, shipment.system)} * shipment.items;
  const auto& problem = costs.problem();
  for (std::size_t g = 0; g < problem.items.size(); ++g) {
    auto least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t s = 0; s < problem.systems; ++s)
      least = std::min(least, costs.at(g, s) + prices[s]);
    proof.dual += Wide{least} * problem.items[g];
  }
  for (std::size_t s = 0; s < problem.systems; ++s) proof.dual -= Wide{prices[s]} * room[s];
  return proof;
}

Status check_allowed(const TransportProblem& problem, const std::vector<Shipment>& shipments) {
  for (const auto& shipment : shipments)
    if (!std::isfinite(problem.cost_of(shipment.group, shipment.system)))
      return failure(Code::infeasible,
                     fmt::format("{} of {} find no room on a system that can take them",
                                 shipment.items, name_of(problem, shipment.group)));
  return {};
}

/// transport() of a problem that has passed the checks.
Result<TransportPlan> solve_flow(const TransportProblem& problem) {
  const auto items = sum(problem.items);
  NW_TRY(const auto room, usable_room(problem, items));
  const IntegerCosts costs(problem);

  TransportPlan plan;
  std::vector<std::int64_t> prices(problem.systems, 0);
  std::size_t stride = 1;
  while (problem.items.size() / stride > kFirstSample) stride *= kGrowth;
  for (; stride > 1; stride /= kGrowth) {
    std::uint64_t sampled = 0;
    for (std::size_t g = 0; g < problem.items.size(); g += stride) sampled += problem.items[g];
    TransportFlow sample(costs, stride, scaled_room(room, sampled, items), prices);
    sample.balance();
    prices = sample.prices();
    plan.paths += sample.paths();
  }
  TransportFlow flow(costs, 1, room, prices);
  flow.balance();
  plan.paths += flow.paths();
  for (std::uint32_t g = 0; g < problem.items.size(); ++g) flow.append_shipments(g, plan.shipments);
  NW_CHECK(check_allowed(problem, plan.shipments));

  // Free room goes where it is dearest to give up nothing: its price is 0.
  prices = flow.prices();
  const auto least = *std::ranges::min_element(prices);
  for (auto& price : prices) price -= least;
  const auto proof = proof_of(costs, plan.shipments, prices, room);
  NW_ASSERT(proof.primal == proof.dual);

  CompensatedSum cost;
  for (const auto& shipment : plan.shipments)
    cost.add(problem.cost_of(shipment.group, shipment.system) *
             static_cast<double>(shipment.items));
  plan.cost = cost.value();
  // A cost is at most one unit above its integer, or below it.
  const auto bound = static_cast<long double>(proof.dual - Wide{items}) / costs.scale();
  plan.bound = std::min(static_cast<double>(bound), plan.cost);
  for (const auto price : prices) plan.prices.push_back(static_cast<double>(price) / costs.scale());
  return plan;
}

}  // namespace

Result<TransportPlan> transport(const TransportProblem& problem) {
  NW_CHECK(check(problem));
  const EqualSystems equal(problem);
  if (!equal.are_there()) return solve_flow(problem);
  NW_TRY(auto plan, solve_flow(equal.merged()));
  equal.split(plan);
  return plan;
}

}  // namespace negawatt::solve
