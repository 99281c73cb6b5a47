// SPDX-License-Identifier: Apache-2.0
#include "tests/robust_simulation.hpp"

#include <algorithm>
#include <cmath>

#include "core/result.hpp"
#include "solve/gaussian.hpp"

namespace negawatt::solve::simulation {
namespace {

class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : stream_(seed, stream) {}
  double normal() { return stream_.at(next_++); }
  double uniform() { return 0.5 * std::erfc(-normal() / std::sqrt(2.0)); }

 private:
  GaussianStream stream_;
  std::uint64_t next_ = 0;
};

class Mean {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  [[nodiscard]] double mean() const { return sum_ / count_; }
  [[nodiscard]] double rms() const { return std::sqrt(squares_ / count_); }
  [[nodiscard]] Estimate estimate() const {
    const double variance = squares_ / count_ - mean() * mean();
    return {mean(), std::sqrt(std::max(0.0, variance) / count_)};
  }

 private:
  double count_ = 0.0;
  double sum_ = 0.0;
  double squares_ = 0.0;
};

void add_kernel(World& world, std::span<const Cost> options, Noise noise, double share) {
  world.truth.add_item(options);
  world.baseline.push_back(0);
  const double relative = noise.least * std::pow(noise.most / noise.least, share);
  for (const Cost& cost : options)
    world.deviations.push_back({relative * cost.time, relative * cost.energy, noise.correlation});
}

/// A kernel at relative clocks: how its time splits, and what draws power.
struct Kernel {
  double seconds, compute, memory, core_watts, memory_watts;

  [[nodiscard]] Cost at(double core, double clock_of_memory) const {
    constexpr double kIdleWatts = 60.0;
    constexpr double kSharpness = 8.0;
    const auto both = [&](double a, double b) {
      return std::pow(std::pow(a, kSharpness) + std::pow(b, kSharpness), 1.0 / kSharpness);
    };
    const double time =
        seconds * both(compute / core, memory / clock_of_memory) / both(compute, memory);
    const double volts = 0.6 + 0.4 * core;
    const double watts =
        kIdleWatts + core_watts * core * volts * volts + memory_watts * clock_of_memory;
    return {Seconds(time), Joules(time * watts)};
  }
};

Kernel draw_kernel(Draws& draws) {
  const double seconds = 0.1 * std::exp(0.8 * draws.normal());
  const double compute = draws.uniform();
  const double memory = draws.uniform();
  const double most = std::max(compute, memory);
  return {seconds, compute / most, memory / most, (60.0 + 150.0 * draws.uniform()) * compute / most,
          20.0 + 60.0 * memory / most};
}

/// The table of one measurement.
ChoiceProblem measure(const World& world, std::uint64_t seed) {
  Draws draws(seed, 2);
  ChoiceProblem table;
  std::vector<Cost> costs;
  std::size_t flat = 0;
  for (std::size_t item = 0; item < world.truth.items(); ++item) {
    costs.clear();
    for (const Cost& cost : world.truth.options(item)) {
      const Deviation& sd = world.deviations[flat++];
      const double time = draws.normal();
      const double own = std::sqrt(1.0 - sd.correlation * sd.correlation) * draws.normal();
      const Cost error{time * sd.time, (sd.correlation * time + own) * sd.energy};
      costs.push_back(cost + error);
    }
    table.add_item(costs);
  }
  return table;
}

Choice solve(const ChoiceProblem& problem, Seconds budget) {
  Result<Choice> choice = least_energy_within(problem, budget);
  NW_ASSERT(choice.has_value());
  return *std::move(choice);
}

struct Tally {
  Mean violations, naive_violations, above_bound, saving, naive_saving, best_saving;
  Mean time_bias, energy_bias, naive_time_bias, naive_energy_bias, time_spread, energy_spread;
};

/// Scores plans for one world and setting.
class Scorer {
 public:
  Scorer(const World& world, const Setting& setting, Tally& tally)
      : world_(world),
        setting_(setting),
        tally_(tally),
        baseline_(total_of(world.truth, world.baseline)),
        budget_((1.0 + setting.slowdown) * baseline_.time),
        best_saving_(saving(solve(world.truth, budget_).option)) {}

  void run(std::uint64_t seed) {
    RobustProblem problem;
    problem.options = measure(world_, seed);
    problem.deviations = world_.deviations;
    for (Deviation& deviation : problem.deviations)
      deviation.correlation += setting_.correlation_error;
    problem.baseline = world_.baseline;
    problem.slowdown = setting_.slowdown;
    problem.confidence = setting_.confidence;
    problem.seed = seed;
    const Result<RobustChoice> robust = least_energy_with_confidence(problem);
    NW_ASSERT(robust.has_value());
    score(problem, *robust);
    score_naive(problem);
    tally_.best_saving.add(best_saving_);
  }

 private:
  [[nodiscard]] double saving(const std::vector<std::uint32_t>& plan) const {
    return 100.0 * ((baseline_.energy - total_of(world_.truth, plan).energy) / baseline_.energy);
  }
  /// 1 when the true time is above the limit by more than the rounding of its sum.
  [[nodiscard]] static double exceeds(Seconds time, Seconds limit) {
    constexpr double kRounding = 1e-12;
    return time > (1.0 + kRounding) * limit ? 1.0 : 0.0;
  }

  void score(const RobustProblem& problem, const RobustChoice& robust) {
    const Cost measured = total_of(problem.options, problem.baseline);
    const Cost truth = total_of(world_.truth, robust.choice.option);
    const Cost off = robust.promise.expected - measured - (truth - baseline_);
    const double bound = robust.promise.time_at_confidence / measured.time;
    tally_.violations.add(exceeds(truth.time, budget_));
    tally_.above_bound.add(exceeds(truth.time, bound * baseline_.time));
    tally_.saving.add(saving(robust.choice.option));
    tally_.time_bias.add(100.0 * (off.time / baseline_.time));
    tally_.energy_bias.add(100.0 * (off.energy / baseline_.energy));
    if (robust.choice.option == world_.baseline) return;
    tally_.time_spread.add(off.time / robust.promise.expected_sd.time);
    tally_.energy_spread.add(off.energy / robust.promise.expected_sd.energy);
  }

  void score_naive(const RobustProblem& problem) {
    const Cost measured = total_of(problem.options, problem.baseline);
    const Choice naive = solve(problem.options, (1.0 + setting_.slowdown) * measured.time);
    const Cost truth = total_of(world_.truth, naive.option);
    const Cost off = naive.total - measured - (truth - baseline_);
    tally_.naive_violations.add(exceeds(truth.time, budget_));
    tally_.naive_saving.add(saving(naive.option));
    tally_.naive_time_bias.add(100.0 * (off.time / baseline_.time));
    tally_.naive_energy_bias.add(100.0 * (off.energy / baseline_.energy));
  }

  const World& world_;
  const Setting& setting_;
  Tally& tally_;
  Cost baseline_;
  Seconds budget_;
  double best_saving_;
};

Score summary(const Tally& tally) {
  Score score;
  score.violations = tally.violations.mean();
  score.naive_violations = tally.naive_violations.mean();
  score.above_bound = tally.above_bound.mean();
  score.saving = tally.saving.estimate();
  score.naive_saving = tally.naive_saving.estimate();
  score.best_saving = tally.best_saving.estimate();
  score.time_bias = tally.time_bias.estimate();
  score.energy_bias = tally.energy_bias.estimate();
  score.naive_time_bias = tally.naive_time_bias.estimate();
  score.naive_energy_bias = tally.naive_energy_bias.estimate();
  score.time_spread = tally.time_spread.rms();
  score.energy_spread = tally.energy_spread.rms();
  return score;
}

}  // namespace

World realistic(Size size, Noise noise, std::uint64_t seed) {
  constexpr double kRipple = 0.002;
  Draws draws(seed, 3);
  World world;
  for (std::size_t kernel = 0; kernel < size.kernels; ++kernel) {
    const Kernel shape = draw_kernel(draws);
    const double share = draws.uniform();
    std::vector<Cost> options;
    for (std::size_t core = 0; core < size.core_clocks; ++core) {
      for (std::size_t memory = 0; memory < size.memory_clocks; ++memory) {
        const double ripple = core + memory == 0 ? 1.0 : 1.0 + kRipple * draws.normal();
        const Cost smooth = shape.at(
            1.0 - 0.6 * static_cast<double>(core) / static_cast<double>(size.core_clocks - 1),
            1.0 - 0.5 * static_cast<double>(memory) / static_cast<double>(size.memory_clocks - 1));
        options.push_back(ripple * smooth);
      }
    }
    add_kernel(world, options, noise, share);
  }
  return world;
}

World near_equal(Size size, Noise noise, double slower) {
  World world;
  const Cost baseline{Seconds(1.0), Joules(100.0)};
  std::vector<Cost> options(size.core_clocks * size.memory_clocks,
                            {(1.0 + slower) * baseline.time, 0.99 * baseline.energy});
  options.front() = baseline;
  for (std::size_t kernel = 0; kernel < size.kernels; ++kernel)
    add_kernel(world, options, noise, 0.5);
  return world;
}

Score simulate(const std::vector<World>& worlds, const Setting& setting, Runs runs) {
  Tally tally;
  auto seed = runs.first_seed;
  for (const World& world : worlds) {
    Scorer scorer(world, setting, tally);
    for (int run = 0; run < runs.count; ++run) scorer.run(seed++);
  }
  return summary(tally);
}

}  // namespace negawatt::solve::simulation
