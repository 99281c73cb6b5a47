// SPDX-License-Identifier: Apache-2.0
#include "plan/assign_costs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace negawatt::plan {

Utility utility_of(const trace::SystemTable& table, const AssignRequest& request) {
  Cost largest{.time = Seconds(1.0), .energy = Joules(1.0)};
  if (request.normalise) {
    largest = {};
    for (const auto& system : table.systems)
      for (const auto& run : system.runs)
        largest = {.time = std::max(largest.time, run.cost.time),
                   .energy = std::max(largest.energy, run.cost.energy)};
  }
  return {.per_joule = request.lambda / largest.energy.in_si(),
          .per_second = (1.0 - request.lambda) / largest.time.in_si()};
}

Result<AssignCosts> AssignCosts::of(std::span<const CostSurface> surfaces, const Workload& workload,
                                    const AssignRequest& request, Utility utility) {
  AssignCosts costs;
  costs.systems_ = surfaces.size();
  costs.may_extrapolate_ = request.extrapolate;
  costs.utility_ = utility;
  const auto entries = surfaces.size() * workload.groups.size();
  costs.requests_.reserve(workload.groups.size());
  costs.joules_.reserve(entries);
  costs.seconds_.reserve(entries);
  costs.reach_.reserve(entries);
  for (const auto& group : workload.groups) {
    bool is_taken = false;
    for (const auto& surface : surfaces) {
      const auto [cost, reach] = surface.at(group.size);
      costs.joules_.push_back(cost.energy.in_si());
      costs.seconds_.push_back(cost.time.in_si());
      costs.reach_.push_back(reach);
      is_taken = is_taken || request.extrapolate || reach != Reach::extrapolated;
    }
    costs.requests_.push_back(group.requests);
    if (!is_taken)
      return failure(
          Code::infeasible,
          fmt::format("no system was measured around requests of {} input and {} output "
                      "tokens, of which there are {}: without extrapolation they can go "
                      "nowhere",
                      group.size.input_tokens, group.size.output_tokens, group.requests));
  }
  return costs;
}

bool AssignCosts::takes_all(std::size_t system) const {
  if (may_extrapolate_) return true;
  for (std::size_t group = 0; group < groups(); ++group)
    if (!takes(group, system)) return false;
  return true;
}

void Tally::add(std::size_t group, std::size_t system, std::uint64_t requests) {
  const auto count = static_cast<double>(requests);
  const auto cost = costs_->cost(group, system);
  joules_.add(count * cost.energy.in_si());
  seconds_.add(count * cost.time.in_si());
  objective_.add(count * costs_->utility(group, system));
  requests_[system] += requests;
  const auto reach = costs_->reach(group, system);
  if (reach == Reach::interpolated) interpolated_ += requests;
  if (reach == Reach::extrapolated) extrapolated_ += requests;
}

Assignment Tally::finish(std::string name, std::span<const std::uint64_t> capacity) && {
  Assignment assignment{
      .name = std::move(name),
      .total = {.time = Seconds(seconds_.value()), .energy = Joules(joules_.value())},
      .objective = objective_.value(),
      .requests = std::move(requests_),
      .interpolated = interpolated_,
      .extrapolated = extrapolated_};
  for (std::size_t s = 0; s < capacity.size(); ++s)
    if (assignment.requests[s] > capacity[s]) assignment.keeps_capacities = false;
  return assignment;
}

}  // namespace negawatt::plan
