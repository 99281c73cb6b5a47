// SPDX-License-Identifier: Apache-2.0
#include "plan/assign_rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "trace/random.hpp"

namespace negawatt::plan {
namespace {

/// Adds up what `system_of(group)` says for every group at once.
template <class SystemOf>
Assignment assign_groups(const AssignProblem& problem, std::string name, SystemOf system_of) {
  Tally tally(problem.costs);
  for (std::size_t g = 0; g < problem.costs.groups(); ++g)
    tally.add(g, system_of(g), problem.costs.requests_in(g));
  return std::move(tally).finish(std::move(name), problem.capacity);
}

/// Likewise request by request, for rules that look at more than the size.
template <class NextSystem>
std::optional<Assignment> assign_requests(const AssignProblem& problem, std::string name,
                                          NextSystem next_system) {
  if (problem.workload.group_of.empty()) return std::nullopt;
  Tally tally(problem.costs);
  for (const auto group : problem.workload.group_of) tally.add(group, next_system(group), 1);
  return std::move(tally).finish(std::move(name), problem.capacity);
}

/// The system of least value among those that `is_open`; at least one is.
template <class IsOpen, class Value>
std::size_t least_of(std::size_t systems, IsOpen is_open, Value value) {
  std::size_t best = systems;
  for (std::size_t s = 0; s < systems; ++s)
    if (is_open(s) && (best == systems || value(s) < value(best))) best = s;
  return best;
}

constexpr auto kAnySystem = [](std::size_t) { return true; };

ThresholdOn threshold_of(AssignRule rule) {
  if (rule == AssignRule::input_threshold) return ThresholdOn::input;
  return rule == AssignRule::output_threshold ? ThresholdOn::output : ThresholdOn::both;
}

std::string name_of_threshold(AssignRule rule) {
  if (rule == AssignRule::input_threshold) return "input-threshold";
  return rule == AssignRule::output_threshold ? "output-threshold" : "both-thresholds";
}

/// All sizes that were measured on some system, and on the others or between their sizes.
std::vector<trace::RequestSize> measured_sizes(std::span<const CostSurface> surfaces) {
  std::vector<trace::RequestSize> sizes;
  for (const auto& surface : surfaces)
    sizes.insert(sizes.end(), surface.measured().begin(), surface.measured().end());
  std::ranges::sort(sizes);
  const auto same = std::ranges::unique(sizes);
  sizes.erase(same.begin(), same.end());
  std::erase_if(sizes, [&](auto size) {
    return std::ranges::any_of(surfaces, [&](const auto& surface) {
      return surface.at(size).reach == Reach::extrapolated;
    });
  });
  return sizes;
}

/// The system whose fit promises least among those that take the group.
std::size_t promised_best(const AssignProblem& problem, const FollowUp& follow_up,
                          std::size_t group) {
  const auto size = problem.workload.groups[group].size;
  return least_of(
      problem.costs.systems(), [&](std::size_t s) { return problem.costs.takes(group, s); },
      [&](std::size_t s) { return problem.utility.of(follow_up.fits[s].at(size)); });
}

}  // namespace

std::vector<Assignment> assign_all(const AssignProblem& problem) {
  const auto& costs = problem.costs;
  std::vector<std::size_t> systems;
  for (std::size_t s = 0; s < costs.systems(); ++s)
    if (costs.takes_all(s)) systems.push_back(s);
  // All at once: the costs of a group lie side by side.
  std::vector<Tally> tallies(systems.size(), Tally(costs));
  for (std::size_t g = 0; g < costs.groups(); ++g)
    for (std::size_t k = 0; k < systems.size(); ++k)
      tallies[k].add(g, systems[k], costs.requests_in(g));
  std::vector<Assignment> assignments;
  assignments.reserve(systems.size());
  for (std::size_t k = 0; k < systems.size(); ++k)
    assignments.push_back(
        std::move(tallies[k])
            .finish("all:" + problem.table.systems[systems[k]].name, problem.capacity));
  return assignments;
}

std::optional<Assignment> assign_randomly(const AssignProblem& problem) {
  trace::Random random(problem.request.seed);
  std::vector<std::size_t> takers;
  return assign_requests(problem, "random", [&](std::uint32_t group) {
    takers.clear();
    for (std::size_t s = 0; s < problem.costs.systems(); ++s)
      if (problem.costs.takes(group, s)) takers.push_back(s);
    return takers[random.below(takers.size())];
  });
}

std::optional<Assignment> assign_in_turn(const AssignProblem& problem) {
  const auto systems = problem.costs.systems();
  std::size_t turn = 0;
  return assign_requests(problem, "round-robin", [&](std::uint32_t group) {
    auto system = turn;
    while (!problem.costs.takes(group, system)) system = (system + 1) % systems;
    turn = (system + 1) % systems;
    return system;
  });
}

std::optional<Assignment> assign_by_threshold(const AssignProblem& problem,
                                              const ThresholdSearch& search, AssignRule rule) {
  const bool is_asked_for = rule == problem.request.rule;
  const auto threshold =
      search.best(threshold_of(rule), is_asked_for ? problem.request.threshold : FixedThreshold{},
                  is_asked_for ? problem.small : std::nullopt);
  if (!threshold) return std::nullopt;
  auto assignment = assign_groups(problem, name_of_threshold(rule), [&](std::size_t g) {
    return is_below(problem.workload.groups[g].size, *threshold) ? threshold->small
                                                                 : threshold->large;
  });
  assignment.threshold = threshold;
  return assignment;
}

WinnerCount count_winners(std::span<const CostSurface> surfaces, std::span<const BilinearFit> fits,
                          Utility utility, std::span<const trace::RequestSize> sizes) {
  WinnerCount count;
  for (const auto size : sizes) {
    const auto measured = least_of(surfaces.size(), kAnySystem, [&](std::size_t s) {
      return utility.of(surfaces[s].at(size).cost);
    });
    const auto promised = least_of(fits.size(), kAnySystem,
                                   [&](std::size_t s) { return utility.of(fits[s].at(size)); });
    ++count.sizes;
    if (measured == promised) ++count.right;
  }
  return count;
}

Result<FollowUp> fit_follow_up(const AssignProblem& problem) {
  FollowUp follow_up;
  for (const auto& system : problem.table.systems) {
    NW_TRY(const auto fit, fit_bilinear(system));
    follow_up.fits.push_back(fit);
  }
  follow_up.winners = count_winners(problem.surfaces, follow_up.fits, problem.utility,
                                    measured_sizes(problem.surfaces));
  for (std::size_t g = 0; g < problem.costs.groups(); ++g) {
    const auto best = promised_best(problem, follow_up, g);
    follow_up.promised += static_cast<double>(problem.costs.requests_in(g)) *
                          follow_up.fits[best].at(problem.workload.groups[g].size);
  }
  return follow_up;
}

Assignment assign_by_fits(const AssignProblem& problem, const FollowUp& follow_up) {
  return assign_groups(problem, "follow-up",
                       [&](std::size_t g) { return promised_best(problem, follow_up, g); });
}

}  // namespace negawatt::plan
