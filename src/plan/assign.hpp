// SPDX-License-Identifier: Apache-2.0
//
// Which system runs which request of a whole workload, each request by itself, as in the
// hybrid-cluster papers (Wilkins, Keshav, Mortier 2024, arXiv 2407.00010 and 2407.04014): least
//   U = lambda E + (1 - lambda) R
// summed over a partition of the requests, E in joules, R in seconds. Beside the exact optimum,
// with capacities if there are any, stand the rules of the papers and single systems.
//
// What this cost leaves out, and a serving system has: batches, queues, idle power. Costs come from
// a table of measured sizes (cost_surface.hpp); how many requests were outside of it is counted.
// Fails when a request fits on no system, the capacities are too small, or names are unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cost.hpp"
#include "core/evidence.hpp"
#include "core/result.hpp"
#include "plan/bilinear_fit.hpp"
#include "plan/workload.hpp"
#include "trace/system_table.hpp"

namespace negawatt::plan {

enum class AssignRule : std::uint8_t {
  optimal,
  input_threshold,
  output_threshold,
  both_thresholds,
  all,  ///< on one system
  random,
  round_robin,
  follow_up,  ///< the cheaper one by the follow-up's bilinear model
};

/// At most this many of the requests may go to a system. A share is rounded down to whole requests;
/// only where all systems have shares that add up to 1, some are rounded up so that all fit.
struct SystemCapacity {
  std::string system;
  double amount = 0.0;
  bool is_share = false;
};

struct FixedThreshold {
  std::optional<std::uint32_t> input_tokens;
  std::optional<std::uint32_t> output_tokens;
  std::string small;  ///< the system for requests up to them; empty: any
};

struct AssignRequest {
  double lambda = 1.0;     ///< from 0 (time alone) to 1 (energy alone)
  bool normalise = false;  ///< E and R as shares of the largest in the table
  AssignRule rule = AssignRule::optimal;
  std::string system;  ///< for AssignRule::all
  std::vector<SystemCapacity> capacities;
  FixedThreshold threshold;  ///< of a threshold rule; the best is found for what it leaves open
  bool extrapolate = true;   ///< false: a system takes no request that is outside of its table
  std::uint64_t seed = 1;    ///< of AssignRule::random
};

/// Requests up to the thresholds go to the small system, the others to the large one.
struct Threshold {
  std::optional<std::uint32_t> input_tokens;   ///< 0: none is so small
  std::optional<std::uint32_t> output_tokens;  ///< likewise
  std::size_t small = 0;
  std::size_t large = 0;
};

struct Assignment {
  std::string name;  ///< of its rule, "all:NAME" for a single system
  Cost total;        ///< of all requests, one after the other
  double objective = 0.0;
  std::vector<std::uint64_t> requests;  ///< of each system
  std::uint64_t interpolated = 0;       ///< requests whose cost is between measured sizes
  std::uint64_t extrapolated = 0;       ///< requests whose cost is beyond them
  std::optional<Threshold> threshold;
  bool keeps_capacities = true;
};

/// How often a model names the right one of the systems, over sizes that all of them have measured
/// or between measured ones.
struct WinnerCount {
  std::uint64_t sizes = 0;
  std::uint64_t right = 0;
};

struct FollowUp {
  std::vector<BilinearFit> fits;  ///< of each system
  WinnerCount winners;
  Cost promised;  ///< what the fits say that their own assignment costs
};

struct AssignPlan {
  AssignRequest request;
  std::vector<std::string> systems;  ///< names
  Assignment chosen;
  std::vector<Assignment> baselines;  ///< all other rules that can serve every request
  double bound = 0.0;                 ///< no assignment within the capacities has a lower objective
  std::vector<double> prices;         ///< of room on each system: TransportPlan::prices
  std::optional<FollowUp> follow_up;  ///< where the table can be fitted
  std::uint64_t sizes = 0;            ///< groups of equal requests
  Evidence evidence;

  /// The single system with the lowest objective; none, if none can serve all within capacity.
  [[nodiscard]] const Assignment* best_single() const;
};

/// The table has one model only (systems_with_model).
[[nodiscard]] Result<AssignPlan> plan_assignment(const trace::SystemTable& table,
                                                 const Workload& workload,
                                                 const AssignRequest& request);

}  // namespace negawatt::plan
