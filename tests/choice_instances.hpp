// SPDX-License-Identifier: Apache-2.0
//
// Choice problems for tests and benchmarks, made from a seed: kernels as a GPU behaves, and the
// classes that the knapsack literature uses to make solvers suffer (Pisinger 1995). The same
// seed gives the same problem on every machine. Seconds and joules.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "solve/choice.hpp"

namespace negawatt::testing {

enum class InstanceKind : unsigned char {
  gpu,                  ///< time and power against two clocks, 0.5 % measurement noise
  random,               ///< time and energy independent
  weakly_correlated,    ///< energy falls with time by one rate for all, plus noise
  strongly_correlated,  ///< the same without noise: a subset sum
  integral,             ///< small whole numbers with many ties
};

[[nodiscard]] inline std::string_view name_of(InstanceKind kind) {
  constexpr std::string_view kNames[] = {"gpu", "random", "weakly_correlated",
                                         "strongly_correlated", "integral"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Even spread over [0, 1); unlike the standard's distributions, the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed) {}
  double roll() { return static_cast<double>(rng_() >> 11U) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * roll(); }
  std::uint32_t below(std::uint32_t end) {
    return static_cast<std::uint32_t>(static_cast<double>(end) * roll());
  }

 private:
  std::mt19937_64 rng_;
};

/// One kernel at a grid of core and memory clocks. Time grows as a clock falls, with an exponent
/// per kernel and domain; power is a floor plus V^2 f with voltage linear in the core clock.
inline std::vector<Cost> gpu_options(Dice& dice, std::uint32_t count) {
  const std::uint32_t memory_clocks = count >= 40 ? 4 : 1;
  const std::uint32_t core_clocks = (count + memory_clocks - 1) / memory_clocks;
  const double base_time = std::exp(dice.between(-9.0, -4.0));
  const double core_bound = dice.roll();
  const double memory_bound = (1.0 - core_bound) * dice.roll();
  const double activity = dice.between(0.4, 1.0);
  std::vector<Cost> options;
  for (std::uint32_t j = 0; j < count; ++j) {
    const std::uint32_t core_step = j / memory_clocks;
    const double core = 1.0 - 0.7 * core_step / core_clocks;
    const double memory = 1.0 - 0.5 * (j % memory_clocks) / memory_clocks;
    const double volts = 0.65 + 0.35 * core;
    const double watts = 60 + 60 * memory + 230 * activity * volts * volts * core;
    const double seconds = base_time * std::pow(core, -core_bound) *
                           std::pow(memory, -memory_bound) * dice.between(0.995, 1.005);
    options.push_back({Seconds(seconds), Joules(seconds * watts * dice.between(0.995, 1.005))});
  }
  return options;
}

inline Cost plain_option(Dice& dice, InstanceKind kind) {
  switch (kind) {
    case InstanceKind::random:
      return {Seconds(dice.between(0.01, 1.0)), Joules(dice.between(1.0, 100.0))};
    case InstanceKind::weakly_correlated: {
      const double seconds = dice.between(0.01, 1.0);
      return {Seconds(seconds), Joules(200.0 - 100.0 * seconds + dice.between(-10.0, 10.0))};
    }
    case InstanceKind::strongly_correlated: {
      const double seconds = dice.between(0.01, 1.0);
      return {Seconds(seconds), Joules(200.0 - 100.0 * seconds)};
    }
    default:
      return {Seconds(dice.below(8)), Joules(dice.below(8))};
  }
}

inline std::vector<Cost> item_options(Dice& dice, InstanceKind kind, std::uint32_t count) {
  if (kind == InstanceKind::gpu) return gpu_options(dice, count);
  std::vector<Cost> options;
  for (std::uint32_t j = 0; j < count; ++j) options.push_back(plain_option(dice, kind));
  return options;
}

struct InstanceShape {
  InstanceKind kind;
  std::uint32_t items;
  std::uint32_t options;
};

inline solve::ChoiceProblem make_instance(InstanceShape shape, std::uint64_t seed) {
  Dice dice(seed);
  solve::ChoiceProblem problem;
  for (std::uint32_t i = 0; i < shape.items; ++i) {
    problem.add_item(item_options(dice, shape.kind, shape.options));
  }
  return problem;
}

/// The budget that lies `part` of the way from the fastest choice to the one of least energy.
inline Seconds budget_between(const solve::ChoiceProblem& problem, double part) {
  const auto frontier = solve::convex_frontier(problem);
  return frontier.front().time + part * (frontier.back().time - frontier.front().time);
}

}  // namespace negawatt::testing
