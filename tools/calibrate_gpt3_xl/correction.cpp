// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/correction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "calibrate_gpt3_xl/fact_rows.hpp"
#include "calibrate_gpt3_xl/least_squares.hpp"

namespace negawatt::calibrate {
namespace {

constexpr double kMostWatts = 350.0;
/// What a published inversion, or the digitising, may add to a rule of physics.
constexpr double kSlack = 0.001;
/// A step that leaves more than this of the squared errors ends a phase.
constexpr double kWorthwhile = 1.0 - 1e-4;

enum Quantity : std::uint8_t { kTime, kPower };

class Correction {
 public:
  Correction(const Facts& facts, const Surface& model)
      : facts_(facts), model_(model), surface_(model), shared_(std::size_t{2} * 2 * kPairs) {}

  /// Chooses the best pairs at every price, for the steps that follow.
  void choose_best_pairs() { prices_ = price_levels(facts_, surface_); }

  /// One Gauss-Newton step, shortened until it helps; false when none does.
  bool improve(const Tolerances& tolerances, int iterations) {
    const Rows rows = rows_at_present(tolerances);
    const auto step =
        least_squares(rows, surface_.logs.size() + shared_.size(), {1e-7, iterations});
    const Surface before = surface_;
    const std::vector<double> shared_before = shared_;
    for (double length = 1.0; length > 0.05; length /= 2) {
      for (std::size_t i = 0; i < surface_.logs.size(); ++i)
        surface_.logs[i] = before.logs[i] + length * step[i];
      for (std::size_t i = 0; i < shared_.size(); ++i)
        shared_[i] = shared_before[i] + length * step[first_shared() + i];
      if (rows_at_present(tolerances).squares() < kWorthwhile * rows.squares()) return true;
    }
    surface_ = before;
    shared_ = shared_before;
    return false;
  }

  /// The surface with the kernels' own facts set exactly.
  [[nodiscard]] Surface result() const {
    Surface exact = surface_;
    const auto set = [&](std::size_t k, std::size_t pair, Point cost) {
      exact.logs[Surface::time_at(k, pair)] = std::log(cost.time);
      exact.logs[Surface::power_at(k, pair)] = std::log(cost.energy / cost.time);
    };
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
      set(k, kAutomatic, facts_.kernels[k].automatic);
      set(k, facts_.kernels[k].chosen_pair, facts_.kernels[k].chosen);
    }
    return exact;
  }

 private:
  [[nodiscard]] Rows rows_at_present(const Tolerances& tolerances) {
    rows_ = Rows();
    add_fact_rows(facts_, surface_, tolerances, rows_);
    add_price_rows(facts_, prices_, surface_, tolerances, rows_);
    for (std::size_t k = 0; k < facts_.kernels.size(); ++k) {
      keep_close(k);
      keep_smooth(k);
      keep_physics(k);
    }
    for (std::uint32_t i = 0; i < shared_.size(); ++i)
      rows_.add(std::array{Term{first_shared() + i, 1.0}}, -shared_[i], 0.05);
    return std::move(rows_);
  }

  /// One cell's part in a row.
  struct Part {
    std::size_t pair;
    double factor;
  };

  [[nodiscard]] std::uint32_t first_shared() const {
    return static_cast<std::uint32_t>(surface_.logs.size());
  }
  [[nodiscard]] static std::uint32_t cell(std::size_t kernel, std::size_t pair, Quantity quantity) {
    return Surface::time_at(kernel, pair) + quantity;
  }

  /// Row: the sum over parts of (correction - shared correction) is 0.
  void deviation(std::size_t kernel, Quantity quantity, std::initializer_list<Part> parts,
                 double sigma) {
    std::vector<Term> terms;
    double value = 0.0;
    for (const Part part : parts) {
      const std::uint32_t own = cell(kernel, part.pair, quantity);
      const std::size_t shared = 2 * (facts_.kernels[kernel].pass * kPairs + part.pair) + quantity;
      terms.push_back({own, part.factor});
      terms.push_back({first_shared() + static_cast<std::uint32_t>(shared), -part.factor});
      value += part.factor * (surface_.logs[own] - model_.logs[own] - shared_[shared]);
    }
    rows_.add(terms, -value, sigma);
  }

  /// Row, if violated: log of `a` is at most log of `b` plus `excess`.
  void at_most(std::uint32_t a, std::uint32_t b, double excess) {
    const double violation = surface_.logs[a] - surface_.logs[b] - excess;
    if (violation > 0.0) rows_.add(std::array{Term{a, 1.0}, Term{b, -1.0}}, -violation, 0.0005);
  }

  void keep_close(std::size_t kernel) {
    for (const Quantity quantity : {kTime, kPower}) {
      for (std::size_t pair = 0; pair < kAutomatic; ++pair)
        deviation(kernel, quantity, {{pair, 1.0}}, 0.1);
      const std::uint32_t own = cell(kernel, kAutomatic, quantity);
      rows_.add(std::array{Term{own, 1.0}}, model_.logs[own] - surface_.logs[own], 1e-4);
    }
  }

  void keep_smooth(std::size_t kernel) {
    // Between neighbouring memory clocks; the last three differ by 3 % at most.
    constexpr std::array<double, 5> kMemorySigma = {0.1, 0.1, 0.05, 0.01, 0.01};
    for (const Quantity quantity : {kTime, kPower}) {
      for (std::size_t pair = 0; pair < kPairs; ++pair) {
        const std::size_t core = core_of(pair), memory = memory_of(pair);
        if (core > 0 && core + 1 < kCores.size())
          deviation(kernel, quantity, {{pair - 1, 1.0}, {pair, -2.0}, {pair + 1, 1.0}}, 0.01);
        if (memory + 1 < kMemories.size())
          deviation(kernel, quantity, {{pair, 1.0}, {pair + kCores.size(), -1.0}},
                    kMemorySigma[memory]);
      }
    }
  }

  void keep_physics(std::size_t kernel) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const std::size_t core = core_of(pair), memory = memory_of(pair);
      const double watts = surface_.logs[cell(kernel, pair, kPower)];
      if (watts > std::log(kMostWatts))
        rows_.add(std::array{Term{cell(kernel, pair, kPower), 1.0}}, std::log(kMostWatts) - watts,
                  0.0005);
      if (core + 1 < kCores.size()) faster_core(kernel, pair);
      if (memory + 1 < kMemories.size() && core <= kCore1470)
        at_most(cell(kernel, pair + kCores.size(), kTime), cell(kernel, pair, kTime),
                inversion(kernel, {.slow = pair, .fast = pair + kCores.size()}));
    }
  }

  void faster_core(std::size_t kernel, std::size_t slow) {
    const std::size_t fast = slow + 1;
    at_most(cell(kernel, fast, kTime), cell(kernel, slow, kTime),
            inversion(kernel, {.slow = slow, .fast = fast}));
    if (core_of(fast) > (memory_of(slow) == 0 ? kCore420 : kCore1680)) return;
    at_most(cell(kernel, slow, kPower), cell(kernel, fast, kPower), kSlack);
    const double clocks = std::log(1.0 * kCores[core_of(fast)] / kCores[core_of(slow)]);
    at_most(cell(kernel, slow, kTime), cell(kernel, fast, kTime), clocks + kSlack);
  }

  struct PairStep {
    std::size_t slow = 0;
    std::size_t fast = 0;
  };
  /// How much longer the pass took at `fast` than at `slow`, as published, plus the slack.
  [[nodiscard]] double inversion(std::size_t kernel, PairStep pairs) const {
    const auto& ratio = facts_.pass_ratio[facts_.kernels[kernel].pass];
    return std::max(0.0, std::log(ratio[pairs.fast].time / ratio[pairs.slow].time)) + kSlack;
  }

  const Facts& facts_;
  const Surface& model_;
  Surface surface_;
  std::vector<double> shared_;
  std::vector<PriceLevels> prices_;
  Rows rows_;
};

}  // namespace

Surface corrected(const Facts& facts, const Surface& model) {
  const Tolerances tolerances = {.chosen = 5e-4,
                                 .extreme = 0.005,
                                 .beyond = 0.003,
                                 .near_pass = {.width = 1e-4, .inside = 2e-4, .outside = 7e-5},
                                 .far_pass = {.width = 0.006, .inside = 0.002, .outside = 1.5e-4},
                                 .curve = {.width = 0.0, .inside = 0.002, .outside = 0.002},
                                 .level = 0.002,
                                 .plan = 0.0005};
  Correction correction(facts, model);
  for (int phase = 0; phase < 5; ++phase) {
    correction.choose_best_pairs();
    for (int round = 0; round < 15; ++round)
      if (!correction.improve(tolerances, 300)) break;
  }
  return correction.result();
}

}  // namespace negawatt::calibrate
