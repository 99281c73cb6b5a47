// SPDX-License-Identifier: Apache-2.0
#include "plan/assign_rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <utility>

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
  for (const auto group : problem.workload.group_of) {
    const std::size_t system = next_system();
    if (!problem.costs.takes(group, system)) return std::nullopt;
    tally.add(group, system, 1);
  }
  return std::move(tally).finish(std::move(name), problem.capacity);
}

template <class Value>
std::size_t least_of(std::size_t systems, Value value) {
  std::size_t best = 0;
  for (std::size_t s = 1; s < systems; ++s)
    if (value(s) < value(best)) best = s;
  return best;
}

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

/// The system whose fit promises least among those that take the group; none: there is none.
std::optional<std::size_t> promised_best(const AssignProblem& problem, const FollowUp& follow_up,
                                         std::size_t group) {
  const auto size = problem.workload.groups[group].size;
  const auto best = least_of(problem.costs.systems(), [&](std::size_t s) {
    return problem.utility.of(follow_up.fits[s].at(size));
  });
  if (!problem.costs.takes(group, best)) return std::nullopt;
  return best;
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
  std::mt19937_64 engine(problem.request.seed);
  // 32 random bits times the number of systems; std::uniform_int_distribution differs by library.
  return assign_requests(problem, "random", [&] {
    return static_cast<std::size_t>(((engine() >> 32) * problem.costs.systems()) >> 32);
  });
}

std::optional<Assignment> assign_in_turn(const AssignProblem& problem) {
  std::size_t turn = 0;
  return assign_requests(problem, "round-robin", [&] {
    const auto system = turn;
    turn = (turn + 1) % problem.costs.systems();
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
    const auto measured = least_of(
        surfaces.size(), [&](std::size_t s) { return utility.of(surfaces[s].at(size).cost); });
    const auto promised =
        least_of(fits.size(), [&](std::size_t s) { return utility.of(fits[s].at(size)); });
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
    if (!best) continue;
    follow_up.promised += static_cast<double>(problem.costs.requests_in(g)) *
                          follow_up.fits[*best].at(problem.workload.groups[g].size);
  }
  return follow_up;
}

std::optional<Assignment> assign_by_fits(const AssignProblem& problem, const FollowUp& follow_up) {
  Tally tally(problem.costs);
  for (std::size_t g = 0; g < problem.costs.groups(); ++g) {
    const auto system = promised_best(problem, follow_up, g);
    if (!system) return std::nullopt;
    tally.add(g, *system, problem.costs.requests_in(g));
  }
  return std::move(tally).finish("follow-up", problem.capacity);
}

}  // namespace negawatt::plan
