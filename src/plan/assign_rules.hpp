// SPDX-License-Identifier: Apache-2.0
//
// The rules that the optimum is compared with: one system for all, random, round-robin, thresholds,
// and the follow-up's model. None sends a request to a system that does not take it. None heeds
// capacities; whether it keeps them by chance is told.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/assign_costs.hpp"
#include "plan/assign_threshold.hpp"

namespace negawatt::plan {

struct AssignProblem {
  const trace::SystemTable& table;
  const Workload& workload;
  const AssignRequest& request;
  const AssignCosts& costs;
  Utility utility;
  std::vector<CostSurface> surfaces;
  std::vector<std::uint64_t> capacity;  ///< of each system, in requests
  std::optional<std::size_t> small;     ///< of the threshold that is asked for
};

/// One for each system that takes every request.
[[nodiscard]] std::vector<Assignment> assign_all(const AssignProblem& problem);

/// The same on every machine. None, of this one and the next: the order of requests is not known.
[[nodiscard]] std::optional<Assignment> assign_randomly(const AssignProblem& problem);
[[nodiscard]] std::optional<Assignment> assign_in_turn(const AssignProblem& problem);
/// What is fixed is that of the request when this rule is asked for; the baselines are the best.
/// None: no threshold leaves every request to a system that takes it.
[[nodiscard]] std::optional<Assignment> assign_by_threshold(const AssignProblem& problem,
                                                            const ThresholdSearch& search,
                                                            AssignRule rule);

/// The fits of all systems and what they say; fails where a table cannot be fitted.
[[nodiscard]] Result<FollowUp> fit_follow_up(const AssignProblem& problem);
/// Each request to the system that the fits say is cheapest.
[[nodiscard]] Assignment assign_by_fits(const AssignProblem& problem, const FollowUp& follow_up);

/// At how many of the sizes the fits name the system that is cheapest by the surfaces.
[[nodiscard]] WinnerCount count_winners(std::span<const CostSurface> surfaces,
                                        std::span<const BilinearFit> fits, Utility utility,
                                        std::span<const trace::RequestSize> sizes);

}  // namespace negawatt::plan
