// SPDX-License-Identifier: Apache-2.0
//
// The transportation problem with few systems and many groups of equal items: every item goes to
// one system, no system gets more than its capacity, and the total cost is least. Exact: the
// solution is integral, and its cost equals that of a dual solution to the last unit of the
// integers that the costs are rounded to (2^-45 of the largest cost, or finer).
//
// The residual graph lives on the systems alone: an arc's length is the least that moving one item
// from one system to another costs. Successive shortest paths (Ahuja, Magnanti and Orlin 1993,
// section 9.7) repair the overloads that are left by prices from a sample of the groups, then of a
// larger one, up to all of them, so that few items ever move. Systems of equal costs count as one.
//
// Time about O(groups x systems) in practice; 2^31 groups, 64 systems and 2^40 items at most.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace negawatt::solve {

struct TransportProblem {
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kMostSystems = 64;

  std::size_t systems = 0;
  std::vector<std::uint64_t> items;     ///< of each group
  std::vector<double> cost;             ///< of one item, by groups; infinity: it cannot go there
  std::vector<std::uint64_t> capacity;  ///< of each system, in items
  /// What messages call the items of a group; empty: by its index.
  std::function<std::string(std::size_t)> name_of_group;

  [[nodiscard]] double cost_of(std::size_t group, std::size_t system) const {
    return cost[group * systems + system];
  }
};

/// Items of one group that go to one system.
struct Shipment {
  std::uint32_t group = 0;
  std::uint32_t system = 0;
  std::uint64_t items = 0;

  bool operator==(const Shipment&) const = default;
};

struct TransportPlan {
  std::vector<Shipment> shipments;  ///< by group, then system; none is empty
  /// Room for one more item on a system would save at most this, room for one less cost at least
  /// this; 0 where there is room.
  std::vector<double> prices;
  double cost = 0.0;
  double bound = 0.0;       ///< no solution costs less; below `cost` by the rounding alone
  std::uint64_t paths = 0;  ///< along which items were moved, in all samples together
};

/// Fails with `infeasible` when the items do not fit, with `invalid` on a cost that is no number,
/// sizes that do not match, or more items, groups or systems than above.
[[nodiscard]] Result<TransportPlan> transport(const TransportProblem& problem);

}  // namespace negawatt::solve
