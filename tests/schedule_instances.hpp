// SPDX-License-Identifier: Apache-2.0
//
// For tests and benchmarks: schedule problems. Small random ones with round numbers, with an
// evaluation and a complete enumeration that share no code with the solvers; and iterations of a
// layered model on a GPU whose time and power follow the clocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "plan/schedule.hpp"

namespace negawatt::testing {

using plan::ScheduleProblem;

struct InstanceShape {
  std::uint32_t most_invocations = 6;
  std::uint32_t cores = 2;
  std::uint32_t memories = 2;
  int longest_latency = 8;   ///< seconds; kernels take 1 to 9
  bool per_target = true;    ///< single target clocks have latencies of their own
  bool energies = true;      ///< changes cost energy
  int missing_percent = 10;  ///< of all kernel and pair combinations
};

class Instances {
 public:
  explicit Instances(std::uint64_t seed) : engine_(seed) {}

  int uniform(int least, int most) {
    // Not std::uniform_int_distribution: its numbers differ between standard libraries.
    return least + static_cast<int>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }

  ScheduleProblem next(const InstanceShape& shape) {
    ScheduleProblem problem;
    for (std::uint32_t memory = 0; memory < shape.memories; ++memory)
      for (std::uint32_t core = 0; core < shape.cores; ++core)
        problem.pairs.push_back({clock(core), clock(memory)});
    const auto pairs = static_cast<int>(problem.pairs.size());
    const int kernels = uniform(1, 4);
    for (int kernel = 0; kernel < kernels; ++kernel) {
      const int always = uniform(0, pairs - 1);
      for (int pair = 0; pair < pairs; ++pair) {
        if (pair != always && uniform(1, 100) <= shape.missing_percent)
          problem.costs.emplace_back();
        else
          problem.costs.push_back(Cost{Seconds(uniform(1, 9)), Joules(uniform(1, 40))});
      }
    }
    const int invocations = uniform(1, static_cast<int>(shape.most_invocations));
    for (int i = 0; i < invocations; ++i)
      problem.sequence.push_back(static_cast<std::uint32_t>(uniform(0, kernels - 1)));
    fill(problem.switching.core, shape, shape.cores);
    fill(problem.switching.memory, shape, shape.memories);
    return problem;
  }

 private:
  static trace::Clock clock(std::uint32_t index) {
    return index == 0 ? trace::Clock::automatic() : trace::Clock::locked_mhz(100 * index);
  }
  trace::SwitchCost change(const InstanceShape& shape) {
    return {Seconds(uniform(0, shape.longest_latency)), Joules(shape.energies ? uniform(0, 3) : 0)};
  }
  void fill(trace::DomainSwitch& domain, const InstanceShape& shape, std::uint32_t clocks) {
    domain.any = change(shape);
    for (std::uint32_t index = 0; shape.per_target && index < clocks; ++index)
      if (uniform(0, 1) == 1) domain.targets.push_back({clock(index), change(shape)});
  }

  std::mt19937_64 engine_;
};

/// Cost around the cycle, or nothing when a rule is broken.
inline std::optional<Cost> cost_of(const ScheduleProblem& problem,
                                   const std::vector<std::uint32_t>& pair_of) {
  const auto n = pair_of.size();
  const auto pairs = problem.pairs.size();
  Cost total;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& cost = problem.costs[problem.sequence[i] * pairs + pair_of[i]];
    if (!cost) return std::nullopt;
    total += *cost;
    const auto next = pair_of[(i + 1) % n];
    if (next == pair_of[i]) continue;
    const auto change = problem.switching.change(problem.pairs[pair_of[i]], problem.pairs[next]);
    total.energy += change.energy;
    Seconds held;
    for (std::size_t back = 0; back < n && pair_of[(i + n - back) % n] == pair_of[i]; ++back)
      held += problem.costs[problem.sequence[(i + n - back) % n] * pairs + pair_of[i]]->time;
    if (held < change.latency) return std::nullopt;
  }
  return total;
}

/// Every valid schedule's cost.
inline void for_each_schedule(const ScheduleProblem& problem,
                              const std::function<void(Cost)>& visit) {
  std::vector<std::uint32_t> pair_of(problem.sequence.size(), 0);
  while (true) {
    if (const auto cost = cost_of(problem, pair_of)) visit(*cost);
    std::size_t at = 0;
    while (at < pair_of.size() && ++pair_of[at] == problem.pairs.size()) pair_of[at++] = 0;
    if (at == pair_of.size()) return;
  }
}

/// Least value of a function of the cost over all valid schedules; infinite where none is.
inline double brute_force(const ScheduleProblem& problem,
                          const std::function<double(Cost)>& objective) {
  double least = std::numeric_limits<double>::infinity();
  for_each_schedule(problem, [&](Cost cost) { least = std::min(least, objective(cost)); });
  return least;
}

/// A type of its own, because it stands beside counts.
struct Seed {
  std::uint64_t value = 0;
};

/// A GPU with 15 core and 4 memory clocks running `kernels` different kernels of 0.1 to 30 ms.
/// Time: work in either domain shrinks as its clock rises; power: idle, plus core ~ f V(f)^2.
inline ScheduleProblem modelled_kernels(std::uint32_t kernels, Seed seed) {
  Instances random(seed.value);
  ScheduleProblem problem;
  for (std::uint32_t memory : {5001U, 7001U, 9251U, 9501U})
    for (std::uint32_t core = 700; core <= 2100; core += 100)
      problem.pairs.push_back({trace::Clock::locked_mhz(core), trace::Clock::locked_mhz(memory)});
  for (std::uint32_t kernel = 0; kernel < kernels; ++kernel) {
    const double base = 1e-4 * std::pow(300.0, random.uniform(0, 1000) / 1000.0);
    const double core_bound = random.uniform(50, 1000) / 1000.0;
    for (const auto& pair : problem.pairs) {
      const double core = pair.core.mhz() / 2100.0;
      const double memory = pair.memory.mhz() / 9501.0;
      const double noise = 1.0 + random.uniform(-50, 50) / 10000.0;
      const double busy_core = core_bound / core;
      const double busy_memory = (1.0 - core_bound) / memory;
      const double time =
          base * noise *
          (std::max(busy_core, busy_memory) + 0.3 * std::min(busy_core, busy_memory));
      const double volt = 0.7 + 0.4 * core * core;
      const double power = 60.0 + 40.0 * memory +
                           200.0 * core * volt * volt * busy_core / (busy_core + 0.5 * busy_memory);
      problem.costs.push_back(Cost{Seconds(time), Joules(power * time)});
    }
  }
  return problem;
}

/// An iteration of 24 equal layers forward and backward over 46 kernels, repeated (micro-batches)
/// until it has `invocations`.
inline ScheduleProblem layered_iteration(std::uint32_t invocations, Seed seed) {
  auto problem = modelled_kernels(46, seed);
  const auto add = [&](std::uint32_t first, std::uint32_t last) {
    for (auto kernel = first; kernel <= last && problem.sequence.size() < invocations; ++kernel)
      problem.sequence.push_back(kernel);
  };
  while (problem.sequence.size() < invocations) {
    add(0, 1);
    for (int layer = 0; layer < 24; ++layer) add(2, 15);
    add(16, 19);
    for (int layer = 0; layer < 24; ++layer) add(20, 43);
    add(44, 45);
  }
  return problem;
}

/// Invocations drawn at random from 500 kernels: no pattern to exploit.
inline ScheduleProblem random_iteration(std::uint32_t invocations, Seed seed) {
  auto problem = modelled_kernels(500, seed);
  Instances random(seed.value + 1);
  for (std::uint32_t i = 0; i < invocations; ++i)
    problem.sequence.push_back(static_cast<std::uint32_t>(random.uniform(0, 499)));
  return problem;
}

/// Time of one iteration at the highest clocks, the last pair of modelled_kernels().
inline Seconds time_at_highest_clocks(const ScheduleProblem& problem) {
  Seconds total;
  for (const auto kernel : problem.sequence)
    total += problem.costs[(std::size_t{kernel} + 1) * problem.pairs.size() - 1]->time;
  return total;
}

}  // namespace negawatt::testing
