// SPDX-License-Identifier: Apache-2.0
#include "solve/equal_systems.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace negawatt::solve {

EqualSystems::EqualSystems(const TransportProblem& problem) : problem_(&problem) {
  for (std::uint32_t s = 0; s < problem.systems; ++s) {
    const auto kind = std::ranges::find_if(
        kinds_, [&](const auto& members) { return are_equal(members.front(), s); });
    if (kind == kinds_.end())
      kinds_.push_back({s});
    else
      kind->push_back(s);
  }
}

bool EqualSystems::are_equal(std::size_t a, std::size_t b) const {
  for (std::size_t g = 0; g < problem_->items.size(); ++g)
    if (problem_->cost_of(g, a) != problem_->cost_of(g, b)) return false;
  return true;
}

TransportProblem EqualSystems::merged() const {
  const auto& items = problem_->items;
  const auto all = std::accumulate(items.begin(), items.end(), std::uint64_t{0});
  TransportProblem merged{
      .systems = kinds_.size(), .items = items, .name_of_group = problem_->name_of_group};
  merged.cost.reserve(items.size() * kinds_.size());
  for (std::size_t g = 0; g < items.size(); ++g)
    for (const auto& members : kinds_) merged.cost.push_back(problem_->cost_of(g, members.front()));
  for (const auto& members : kinds_) {
    std::uint64_t capacity = 0;
    // More than all items is never used, so that the sum fits.
    for (const auto system : members) capacity += std::min(problem_->capacity[system], all);
    merged.capacity.push_back(capacity);
  }
  return merged;
}

void EqualSystems::split(TransportPlan& plan) const {
  auto room = problem_->capacity;
  std::vector<std::size_t> filling(kinds_.size(), 0);  // which member of a kind takes the next
  std::vector<Shipment> shipments;
  shipments.reserve(plan.shipments.size() + problem_->systems);
  for (const auto& [group, kind, all] : plan.shipments) {
    for (auto left = all; left > 0;) {
      const auto system = kinds_[kind][filling[kind]];
      const auto items = std::min(left, room[system]);
      if (items > 0) shipments.push_back({group, system, items});
      left -= items;
      room[system] -= items;
      if (left > 0) ++filling[kind];
    }
  }
  std::ranges::sort(shipments, {}, [](const Shipment& shipment) {
    return std::pair(shipment.group, shipment.system);
  });
  plan.shipments = std::move(shipments);
  std::vector<double> prices(problem_->systems);
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
    for (const auto system : kinds_[kind]) prices[system] = plan.prices[kind];
  plan.prices = std::move(prices);
}

}  // namespace negawatt::solve
