// SPDX-License-Identifier: Apache-2.0
#include "plan/assign_costs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/text.hpp"

namespace negawatt::plan {
namespace {

/// Where every different input and output of a workload lies on a surface.
struct Positions {
  Positions(const CostSurface& surface, const TokenCounts& inputs, const TokenCounts& outputs) {
    for (const auto tokens : inputs.tokens) in.push_back(surface.input_at(tokens));
    for (const auto tokens : outputs.tokens) out.push_back(surface.output_at(tokens));
  }
  std::vector<CostSurface::Position> in;
  std::vector<CostSurface::Position> out;
};

/// Sums of as many requests as there can be must stay numbers.
Status check_finite(const Cost& cost, const trace::SystemTable& table, std::size_t system,
                    trace::RequestSize size) {
  constexpr double kMost = 1e200;
  if (cost.energy.in_si() < kMost && cost.time.in_si() < kMost) return {};
  return failure(Code::invalid,
                 fmt::format("{}: a request of {} input and {} output tokens would cost {:.3g} J "
                             "and {:.3g} s on '{}', expected below {:.0e}",
                             table.name, size.input_tokens, size.output_tokens, cost.energy.in_si(),
                             cost.time.in_si(), printable(table.systems[system].name), kMost));
}

}  // namespace

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

Result<AssignCosts> AssignCosts::of(const trace::SystemTable& table,
                                    std::span<const CostSurface> surfaces, const Workload& workload,
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
  const TokenCounts inputs(&trace::RequestSize::input_tokens, workload);
  const TokenCounts outputs(&trace::RequestSize::output_tokens, workload);
  std::vector<Positions> positions;
  for (const auto& surface : surfaces) positions.emplace_back(surface, inputs, outputs);
  for (std::size_t g = 0; g < workload.groups.size(); ++g) {
    costs.requests_.push_back(workload.groups[g].requests);
    for (std::size_t s = 0; s < surfaces.size(); ++s) {
      const auto [cost, reach] =
          surfaces[s].at(positions[s].in[inputs.rank[g]], positions[s].out[outputs.rank[g]]);
      NW_CHECK(check_finite(cost, table, s, workload.groups[g].size));
      costs.joules_.push_back(cost.energy.in_si());
      costs.seconds_.push_back(cost.time.in_si());
      costs.reach_.push_back(reach);
    }
  }
  NW_CHECK(costs.check_taken(workload));
  return costs;
}

Status AssignCosts::check_taken(const Workload& workload) const {
  for (std::size_t g = 0; g < groups(); ++g) {
    bool is_taken = false;
    for (std::size_t s = 0; s < systems_; ++s) is_taken = is_taken || takes(g, s);
    const auto& [size, requests] = workload.groups[g];
    if (!is_taken)
      return failure(Code::infeasible,
                     fmt::format("no system was measured around requests of {} input and {} output "
                                 "tokens, of which there are {}: without extrapolation they can go "
                                 "nowhere",
                                 size.input_tokens, size.output_tokens, requests));
  }
  return {};
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
