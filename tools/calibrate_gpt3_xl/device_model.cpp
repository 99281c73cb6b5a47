// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/device_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "calibrate_gpt3_xl/fact_rows.hpp"
#include "calibrate_gpt3_xl/least_squares.hpp"

namespace negawatt::calibrate {
namespace {

/// A parameter: where it starts, and how far it is likely to be from there.
struct Prior {
  double mean, sigma;
};

// Parameters of one kernel, by position.
enum KernelParameter : std::uint8_t {
  kLogCoreShare,    ///< core-paced over memory-paced time at automatic clocks
  kLogOverlap,      ///< exponent of the p-norm: 1 is no overlap
  kMemoryExponent,  ///< how the memory-paced time follows the memory clock
  kCoreExponent,    ///< how the core-paced time follows the core clock
  kTrafficPower,    ///< logit of the memory's part of what is above static power at auto
  kKernelParameters
};
constexpr std::array<Prior, kKernelParameters> kKernelPriors = {
    {{0.0, 1.0}, {1.2, 0.5}, {1.0, 0.1}, {1.0, 0.05}, {-1.0, 1.0}}};

// Parameters of the card, by position. Memory clocks from 5001 up can meet the cap.
constexpr std::size_t kCapped = 4;
enum DeviceParameter : std::uint8_t {
  kLogLowestClock,  ///< what a lock at 210 MHz really is, in GHz
  kLogHighestClock,
  kVoltageKnee,   ///< GHz
  kVoltageSlope,  ///< of V^2, per GHz above the knee
  kLogStarved,    ///< bandwidth at the lowest clocks of both, relative to higher core clocks
  kIdleShare,     ///< of core power that a waiting core draws
  kLogBandwidth,  ///< per memory clock below 9501, relative to its share of 9501
  kLogStatic = kLogBandwidth + kMemories.size() - 2,  ///< per memory clock, W
  kLogCapClock = kLogStatic + kMemories.size(),       ///< per capped memory and core, GHz
  kLogCapPower = kLogCapClock + 3 * kCapped,          ///< per capped memory, core from 1680
  kDeviceParameters = kLogCapPower + 4 * kCapped
};

constexpr std::size_t kColumns = std::size_t{kDeviceParameters} + kKernelParameters;

std::vector<Prior> device_priors() {
  std::vector<Prior> priors(kDeviceParameters, {0.0, 0.1});
  priors[kLogLowestClock] = {std::log(0.235), 0.1};
  priors[kLogHighestClock] = {std::log(1.98), 0.03};
  priors[kVoltageKnee] = {1.45, 0.1};
  priors[kVoltageSlope] = {2.0, 0.5};
  priors[kLogStarved] = {-0.2, 0.2};
  priors[kIdleShare] = {0.4, 0.2};
  constexpr std::array<double, 6> kStatic = {36.0, 45.0, 65.0, 85.0, 87.0, 87.0};
  for (std::size_t m = 0; m < kMemories.size(); ++m)
    priors[kLogStatic + m] = {std::log(kStatic[m]), 0.3};
  for (std::size_t i = 0; i < 3 * kCapped; ++i) priors[kLogCapClock + i] = {std::log(1.79), 0.03};
  return priors;
}

using Parameters = std::span<const double>;

struct State {
  double clock = 0.0;      ///< GHz
  double bandwidth = 1.0;  ///< relative to memory at 9501
  double core_power = 0.0, idle_share = 0.0, fixed_power = 0.0;
};

/// What the card does at a pair, whichever kernel runs.
State state_at(std::size_t pair, Parameters device) {
  const std::size_t memory = memory_of(pair);
  // With memory at 405 MHz the published passes do not change above core 420.
  const std::size_t core = memory == 0 ? std::min(core_of(pair), kCore420) : core_of(pair);
  const bool capped = memory >= kMemory5001 && core > kCore1680;
  const std::size_t cap = memory - kMemory5001;
  double clock = 1e-3 * kCores[core];
  if (core == 0) clock = std::exp(device[kLogLowestClock]);
  if (core > kCore1680 + 1) clock = std::exp(device[kLogHighestClock]);
  if (capped) clock = std::exp(device[kLogCapClock + 3 * cap + core - kCore1680 - 1]);
  const double above = (clock - device[kVoltageKnee]) / 0.05;
  const double squared_volts = 1.0 + device[kVoltageSlope] * 0.05 * std::log1p(std::exp(above));
  State state{.clock = clock,
              .core_power = squared_volts * clock,
              .idle_share = device[kIdleShare],
              .fixed_power = std::exp(device[kLogStatic + memory])};
  if (memory < kMemories.size() - 2)
    state.bandwidth = kMemories[memory] / 9501.0 * std::exp(device[kLogBandwidth + memory]);
  if (core == 0 && memory == 0) state.bandwidth *= std::exp(device[kLogStarved]);
  if (memory >= kMemory5001 && core >= kCore1680)
    state.core_power *= std::exp(device[kLogCapPower + 4 * cap + core - kCore1680]);
  return state;
}

/// Log time and log power of a kernel in each state; at automatic clocks exactly as published.
void predict(const KernelFacts& facts, Parameters kernel, std::span<const State> states,
             std::span<double> logs) {
  const double overlap = 1.0 + std::exp(kernel[kLogOverlap]);
  const double core_share = std::exp(kernel[kLogCoreShare]);
  const auto time_of = [&](const State& state, double core) {
    const double memory = std::pow(state.bandwidth, -kernel[kMemoryExponent]);
    return std::pow(std::pow(core, overlap) + std::pow(memory, overlap), 1.0 / overlap);
  };
  const auto activity_of = [](const State& state, double core, double time) {
    return state.core_power * (state.idle_share + (1.0 - state.idle_share) * core / time);
  };
  const State& automatic = states[kAutomatic];
  const double automatic_time = time_of(automatic, core_share);
  const double automatic_activity = activity_of(automatic, core_share, automatic_time);
  const double above_static = facts.automatic.energy / facts.automatic.time - automatic.fixed_power;
  const double traffic_power = above_static / (1.0 + std::exp(-kernel[kTrafficPower]));
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const State& state = states[pair];
    const double core = core_share * std::pow(automatic.clock / state.clock, kernel[kCoreExponent]);
    const double time = time_of(state, core);
    const double power =
        state.fixed_power + traffic_power * automatic_time / time +
        (above_static - traffic_power) * activity_of(state, core, time) / automatic_activity;
    logs[2 * pair] = std::log(facts.automatic.time * time / automatic_time);
    logs[2 * pair + 1] = std::log(power);
  }
}

/// All parameters in one array, the card's first.
class Fit {
 public:
  explicit Fit(const Facts& facts) : facts_(facts), priors_(device_priors()) {
    for (std::size_t k = 0; k < facts.kernels.size(); ++k)
      priors_.insert(priors_.end(), kKernelPriors.begin(), kKernelPriors.end());
    // A kernel that the memory paces slows down as the memory does, 31-fold; one that the core
    // paces, 8-fold at the lowest clocks.
    for (std::size_t k = 0; k < facts.kernels.size(); ++k) {
      const KernelFacts& kernel = facts.kernels[k];
      const double slowest = kernel.most.time / kernel.automatic.time;
      priors_[kernel_begin(k) + kLogCoreShare].mean = 1.7 * std::log(12.0 / slowest);
    }
    for (const Prior& prior : priors_) parameters_.push_back(prior.mean);
  }

  [[nodiscard]] Surface surface() const {
    Surface result(facts_.kernels.size());
    const auto states = states_of(parameters_);
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k)
      predict(facts_.kernels[k], kernel_part(parameters_, k), states, cells(result, k));
    return result;
  }

  /// One damped Gauss-Newton step on the facts and the priors, shortened until it helps; false
  /// when none does.
  bool improve(const Tolerances& tolerances) {
    const Surface now = surface();
    const Rows facts = fact_rows(now, tolerances);
    Rows rows = in_parameters(facts, slopes(now));
    add_priors(rows);
    const std::vector<double> before = parameters_;
    const auto step = least_squares(rows, parameters_.size(), {1e-3, 1000});
    for (double length = 1.0; length > 0.05; length /= 2) {
      for (std::size_t i = 0; i < step.size(); ++i) parameters_[i] = before[i] + length * step[i];
      Rows trial = fact_rows(surface(), tolerances);
      add_priors(trial);
      if (trial.squares() < rows.squares()) return true;
    }
    parameters_ = before;
    return false;
  }

 private:
  [[nodiscard]] Rows fact_rows(const Surface& now, const Tolerances& tolerances) const {
    Rows rows;
    add_fact_rows(facts_, now, tolerances, rows);
    return rows;
  }
  void add_priors(Rows& rows) const {
    for (std::uint32_t i = 0; i < priors_.size(); ++i)
      rows.add(std::array{Term{i, 1.0}}, priors_[i].mean - parameters_[i], priors_[i].sigma);
  }

  using States = std::array<State, kPairs>;
  /// Per cell: its derivatives by the card's parameters, then by those of its kernel.
  using Slopes = std::vector<std::array<double, kColumns>>;

  static std::size_t kernel_begin(std::size_t kernel) {
    return kDeviceParameters + kernel * kKernelParameters;
  }
  static Parameters kernel_part(Parameters all, std::size_t kernel) {
    return all.subspan(kernel_begin(kernel), kKernelParameters);
  }
  static std::span<double> cells(Surface& surface, std::size_t kernel) {
    return std::span(surface.logs).subspan(Surface::time_at(kernel, 0), 2 * kPairs);
  }
  static States states_of(Parameters all) {
    States states;
    for (std::size_t pair = 0; pair < kPairs; ++pair)
      states[pair] = state_at(pair, all.first(kDeviceParameters));
    return states;
  }

  [[nodiscard]] Slopes slopes(const Surface& now) const {
    constexpr double kStep = 1e-5;
    Slopes result(now.logs.size());
    std::array<double, 2 * kPairs> moved;
    std::vector<double> parameters = parameters_;
    struct Entry {
      std::size_t kernel = 0;
      std::size_t column = 0;
    };
    const auto differentiate = [&](Entry at, const States& states) {
      predict(facts_.kernels[at.kernel], kernel_part(parameters, at.kernel), states, moved);
      const std::size_t first = Surface::time_at(at.kernel, 0);
      for (std::size_t i = 0; i < moved.size(); ++i)
        result[first + i][at.column] = (moved[i] - now.logs[first + i]) / kStep;
    };
    for (std::size_t i = 0; i < kDeviceParameters; ++i) {
      parameters[i] += kStep;
      const States states = states_of(parameters);
      for (std::size_t k = 0; k < facts_.kernels.size(); ++k)
        differentiate({.kernel = k, .column = i}, states);
      parameters[i] = parameters_[i];
    }
    const States states = states_of(parameters);
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
      for (std::size_t i = 0; i < kKernelParameters; ++i) {
        parameters[kernel_begin(k) + i] += kStep;
        differentiate({.kernel = k, .column = kDeviceParameters + i}, states);
        parameters[kernel_begin(k) + i] = parameters_[kernel_begin(k) + i];
      }
    }
    return result;
  }

  /// Rows about cells become rows about parameters.
  [[nodiscard]] Rows in_parameters(const Rows& facts, const Slopes& slopes) const {
    Rows rows;
    std::vector<double> dense(parameters_.size());
    std::vector<Term> terms;
    for (std::size_t row = 0; row < facts.size(); ++row) {
      std::fill(dense.begin(), dense.end(), 0.0);
      for (const Term& term : facts.terms(row)) {
        const auto& slope = slopes[term.variable];
        const std::size_t own = kernel_begin(term.variable / (2 * kPairs));
        for (std::size_t i = 0; i < kDeviceParameters; ++i) dense[i] += term.coefficient * slope[i];
        for (std::size_t i = 0; i < kKernelParameters; ++i)
          dense[own + i] += term.coefficient * slope[kDeviceParameters + i];
      }
      terms.clear();
      for (std::uint32_t i = 0; i < dense.size(); ++i)
        if (dense[i] != 0.0) terms.push_back({i, dense[i]});
      rows.add(terms, facts.wanted(row), 1.0);
    }
    return rows;
  }

  const Facts& facts_;
  std::vector<Prior> priors_;
  std::vector<double> parameters_;
};

}  // namespace

Surface fitted_model(const Facts& facts) {
  Tolerances tolerances;
  tolerances.chosen = 0.005;
  tolerances.extreme = tolerances.beyond = 0.03;
  tolerances.near_pass = {.width = 0.0, .inside = 0.005, .outside = 0.005};
  tolerances.far_pass = {.width = 0.0, .inside = 0.01, .outside = 0.02};
  Fit fit(facts);
  for (int round = 0; round < 60 && fit.improve(tolerances); ++round) {
  }
  Surface surface = fit.surface();
  // The last bits differ between maths libraries; they shall not decide what follows.
  constexpr double kGrain = 1e-3;
  for (std::size_t i = 0; i < surface.logs.size(); ++i)
    if (i / 2 % kPairs != kAutomatic)
      surface.logs[i] = kGrain * std::round(surface.logs[i] / kGrain);
  return surface;
}

}  // namespace negawatt::calibrate
