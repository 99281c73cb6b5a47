// SPDX-License-Identifier: Apache-2.0
//
// What every group of equal requests costs on every system, and totals of it. Inside, energies are
// joules and times seconds.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "plan/assign.hpp"
#include "plan/cost_surface.hpp"
#include "solve/compensated_sum.hpp"

namespace negawatt::plan {

/// U of a cost.
struct Utility {
  double per_joule = 1.0;
  double per_second = 0.0;

  [[nodiscard]] double of(const Cost& cost) const {
    return per_joule * cost.energy.in_si() + per_second * cost.time.in_si();
  }
};

[[nodiscard]] Utility utility_of(const trace::SystemTable& table, const AssignRequest& request);

class AssignCosts {
 public:
  /// `surfaces` has one for each system of the table. Fails when a group can be served nowhere, or
  /// costs what is no number any more.
  [[nodiscard]] static Result<AssignCosts> of(const trace::SystemTable& table,
                                              std::span<const CostSurface> surfaces,
                                              const Workload& workload,
                                              const AssignRequest& request, Utility utility);

  [[nodiscard]] std::size_t systems() const { return systems_; }
  [[nodiscard]] std::size_t groups() const { return reach_.size() / systems_; }
  [[nodiscard]] std::uint64_t requests_in(std::size_t group) const { return requests_[group]; }
  [[nodiscard]] Cost cost(std::size_t group, std::size_t system) const {
    const auto at = group * systems_ + system;
    return {.time = Seconds(seconds_[at]), .energy = Joules(joules_[at])};
  }
  /// Infinite where the system does not take the group.
  [[nodiscard]] double utility(std::size_t group, std::size_t system) const {
    if (!takes(group, system)) return std::numeric_limits<double>::infinity();
    return utility_.of(cost(group, system));
  }
  [[nodiscard]] bool takes(std::size_t group, std::size_t system) const {
    return may_extrapolate_ || reach(group, system) != Reach::extrapolated;
  }
  [[nodiscard]] bool takes_all(std::size_t system) const;
  [[nodiscard]] Reach reach(std::size_t group, std::size_t system) const {
    return reach_[group * systems_ + system];
  }

 private:
  AssignCosts() = default;
  [[nodiscard]] Status check_taken(const Workload& workload) const;

  std::size_t systems_ = 0;
  bool may_extrapolate_ = true;
  Utility utility_;
  std::vector<std::uint64_t> requests_;
  std::vector<double> joules_;
  std::vector<double> seconds_;
  std::vector<Reach> reach_;
};

/// Adds up an assignment.
class Tally {
 public:
  explicit Tally(const AssignCosts& costs) : costs_(&costs), requests_(costs.systems(), 0) {}
  void add(std::size_t group, std::size_t system, std::uint64_t requests);
  [[nodiscard]] Assignment finish(std::string name, std::span<const std::uint64_t> capacity) &&;

 private:
  const AssignCosts* costs_;
  solve::CompensatedSum joules_;
  solve::CompensatedSum seconds_;
  solve::CompensatedSum objective_;
  std::vector<std::uint64_t> requests_;
  std::uint64_t interpolated_ = 0;
  std::uint64_t extrapolated_ = 0;
};

}  // namespace negawatt::plan
