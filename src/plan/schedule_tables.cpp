// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "solve/compensated_sum.hpp"

namespace negawatt::plan {
namespace {

constexpr double kTicksPerSecond = 1e12;
// Keeps every sum of dwell times far from the end of 64 bits; an iteration is seconds.
constexpr double kLongestIteration = 1e6;

std::int64_t ticks_of(Seconds time) {
  return std::llround(std::min(time.in_si(), 2.0 * kLongestIteration) * kTicksPerSecond);
}

tl::unexpected<Error> refused(std::string what) { return failure(Code::invalid, std::move(what)); }

Status check_shape(const ScheduleProblem& problem) {
  const auto pairs = problem.pairs.size();
  if (pairs == 0) return refused("schedule: there is no clock pair to choose from");
  if (pairs > std::numeric_limits<std::uint16_t>::max())
    return refused(fmt::format("schedule: {} clock pairs, expected at most {}", pairs,
                               std::numeric_limits<std::uint16_t>::max()));
  if (problem.sequence.empty()) return refused("schedule: the sequence has no invocation");
  if (problem.sequence.size() > std::numeric_limits<std::uint32_t>::max() / 2)
    return refused("schedule: the sequence is too long");
  if (problem.costs.size() % pairs != 0)
    return refused(fmt::format("schedule: {} costs are no whole rows of {} clock pairs",
                               problem.costs.size(), pairs));
  auto sorted = problem.pairs;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end())
    return refused(fmt::format("schedule: the pair {} is there twice", to_string(*twice)));
  return {};
}

Status check_switching(const trace::SwitchModel& switching) {
  const auto is_cost = [](const trace::SwitchCost& cost) {
    return cost.latency.is_finite() && cost.energy.is_finite() && cost.latency >= Seconds(0) &&
           cost.energy >= Joules(0);
  };
  for (const auto* domain : {&switching.core, &switching.memory}) {
    const bool targets_are =
        std::ranges::all_of(domain->targets, is_cost, &trace::DomainSwitch::Target::cost);
    if (!is_cost(domain->any) || !targets_are)
      return refused(
          "schedule: a clock change has a latency or energy that is negative or not "
          "finite");
  }
  return {};
}

bool is_usable(const Cost& cost) {
  return cost.time.is_finite() && cost.energy.is_finite() && cost.time >= Seconds(0) &&
         cost.energy >= Joules(0);
}

}  // namespace

Result<ScheduleTables> ScheduleTables::build(const ScheduleProblem& problem) {
  NW_CHECK(check_shape(problem));
  NW_CHECK(check_switching(problem.switching));
  ScheduleTables tables;
  tables.sequence_ = problem.sequence;
  tables.invocations_ = static_cast<std::uint32_t>(problem.sequence.size());
  tables.pairs_ = static_cast<std::uint32_t>(problem.pairs.size());
  tables.kernels_ = static_cast<std::uint32_t>(problem.costs.size() / problem.pairs.size());
  tables.take_pairs(problem);
  NW_CHECK(tables.take_costs(problem));
  tables.take_switching(problem);
  return tables;
}

void ScheduleTables::take_pairs(const ScheduleProblem& problem) {
  original_.resize(pairs_);
  std::iota(original_.begin(), original_.end(), 0U);
  std::ranges::sort(original_, {}, [&](std::uint32_t pair) {
    return std::pair(problem.pairs[pair].memory, problem.pairs[pair].core);
  });
  sorted_.resize(pairs_);
  std::vector<trace::Clock> cores;
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    sorted_[original_[pair]] = pair;
    clocks_.push_back(problem.pairs[original_[pair]]);
    cores.push_back(clocks_.back().core);
  }
  std::ranges::sort(cores);
  cores.erase(std::ranges::unique(cores).begin(), cores.end());
  cores_ = static_cast<std::uint32_t>(cores.size());
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    core_of_.push_back(static_cast<std::uint32_t>(
        std::ranges::lower_bound(cores, clocks_[pair].core) - cores.begin()));
    if (pair == 0 || clocks_[pair].memory != clocks_[pair - 1].memory) groups_.push_back(pair);
    memory_of_.push_back(static_cast<std::uint32_t>(groups_.size() - 1));
  }
  groups_.push_back(pairs_);
}

Status ScheduleTables::take_costs(const ScheduleProblem& problem) {
  const std::size_t cells = problem.costs.size();
  times_.assign(cells, 0.0);
  energies_.assign(cells, 0.0);
  ticks_.assign(cells, 0);
  measured_.assign(cells, 0);
  missing_.resize(kernels_);
  std::vector<Seconds> slowest(kernels_);
  for (std::size_t at = 0; at < cells; ++at) {
    const auto kernel = at / pairs_;
    const auto pair = static_cast<std::uint32_t>(at % pairs_);
    const auto& cost = problem.costs[kernel * pairs_ + original_[pair]];
    if (!cost) {
      missing_[kernel].push_back(static_cast<std::uint16_t>(pair));
      continue;
    }
    if (!is_usable(*cost))
      return refused(
          fmt::format("schedule: kernel {} takes {} s and {} J at {}, expected finite "
                      "numbers that are not negative",
                      kernel, cost->time.in_si(), cost->energy.in_si(), to_string(clocks_[pair])));
    times_[at] = cost->time.in_si();
    energies_[at] = cost->energy.in_si();
    ticks_[at] = ticks_of(cost->time);
    measured_[at] = 1;
    slowest[kernel] = std::max(slowest[kernel], cost->time);
  }
  Seconds longest;
  for (const auto kernel : sequence_) {
    if (kernel >= kernels_)
      return refused(fmt::format("schedule: the sequence names kernel {} of {}", kernel, kernels_));
    if (missing_[kernel].size() == pairs_)
      return refused(fmt::format("schedule: kernel {} was measured at no clock pair", kernel));
    longest += slowest[kernel];
  }
  if (longest > Seconds(kLongestIteration))
    return refused(fmt::format("schedule: an iteration may take {:.3g} s, expected at most {:.3g}",
                               longest.in_si(), kLongestIteration));
  return {};
}

void ScheduleTables::take_switching(const ScheduleProblem& problem) {
  const auto target_costs = [&](std::uint32_t pair) {
    const auto core = problem.switching.core.to(clocks_[pair].core);
    const auto memory = problem.switching.memory.to(clocks_[pair].memory);
    return std::pair(core, memory);
  };
  const bool changes_core = cores_ > 1;
  const bool changes_memory = groups_.size() > 2;
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    const auto [core, memory] = target_costs(pair);
    if (changes_core) latencies_.push_back(ticks_of(core.latency));
    if (changes_memory) latencies_.push_back(ticks_of(memory.latency));
  }
  if (latencies_.empty()) latencies_.push_back(0);
  std::ranges::sort(latencies_);
  latencies_.erase(std::ranges::unique(latencies_).begin(), latencies_.end());
  const auto class_of = [&](bool possible, Seconds latency) {
    if (!possible) return 0U;
    return static_cast<std::uint32_t>(std::ranges::lower_bound(latencies_, ticks_of(latency)) -
                                      latencies_.begin());
  };
  for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
    const auto [core, memory] = target_costs(pair);
    Target target;
    target.core = {class_of(changes_core, core.latency), core.energy.in_si()};
    target.memory = {class_of(changes_memory, memory.latency), memory.energy.in_si()};
    target.both = {std::max(target.core.latency_class, target.memory.latency_class),
                   target.core.energy + target.memory.energy};
    targets_.push_back(target);
  }
}

PairChange ScheduleTables::change(std::uint32_t from, std::uint32_t to) const {
  if (memory_of_[from] == memory_of_[to]) return targets_[to].core;
  return core_of_[from] == core_of_[to] ? targets_[to].memory : targets_[to].both;
}

ScheduleTables ScheduleTables::first(std::uint32_t invocations) const {
  auto sample = *this;
  sample.sequence_.resize(invocations);
  sample.invocations_ = invocations;
  return sample;
}

ScheduleTables ScheduleTables::starting_at(std::uint32_t invocation) const {
  auto rotated = *this;
  std::ranges::rotate(rotated.sequence_, rotated.sequence_.begin() + invocation);
  return rotated;
}

Assessment ScheduleTables::assess(std::span<const std::uint16_t> assignment) const {
  NW_ASSERT(assignment.size() == invocations_);
  Assessment result;
  solve::CompensatedSum time, energy;
  std::uint32_t before = assignment.back();
  for (std::uint32_t i = 0; i < invocations_; ++i) {
    const std::uint32_t pair = assignment[i];
    if (!is_measured(i, pair)) {
      result.broken = fmt::format("invocation {} runs kernel {} at {}, where it was not measured",
                                  i, sequence_[i], to_string(clocks_[pair]));
      return result;
    }
    time.add(times_[cell(i, pair)]);
    energy.add(energies_[cell(i, pair)]);
    if (pair != before) {
      energy.add(change(before, pair).energy);
      ++result.switches;
    }
    before = pair;
  }
  result.time = time.value();
  result.energy = energy.value();
  if (result.switches > 0) result.broken = first_short_dwell(assignment);
  return result;
}

std::string ScheduleTables::first_short_dwell(std::span<const std::uint16_t> assignment) const {
  // Starts behind a change, so that every stretch is met whole.
  std::uint32_t start = 0;
  const auto before = [&](std::uint32_t i) { return i == 0 ? invocations_ - 1 : i - 1; };
  while (assignment[start] == assignment[before(start)]) ++start;
  std::int64_t dwell = 0;
  for (std::uint32_t step = 0; step < invocations_; ++step) {
    const auto i = (start + step) % invocations_;
    const auto next = (i + 1) % invocations_;
    dwell += ticks_[cell(i, assignment[i])];
    if (assignment[next] == assignment[i]) continue;
    const auto needed = latency(assignment[i], assignment[next]);
    if (dwell < needed)
      return fmt::format(
          "the clocks {} hold for {:.9g} s before invocation {}, but the change to {} takes {:.9g} "
          "s to take effect",
          to_string(clocks_[assignment[i]]), static_cast<double>(dwell) / kTicksPerSecond, next,
          to_string(clocks_[assignment[next]]), static_cast<double>(needed) / kTicksPerSecond);
    dwell = 0;
  }
  return {};
}

}  // namespace negawatt::plan
