// SPDX-License-Identifier: Apache-2.0
//
// The study behind docs/robust.md: plans tables measured with noise from a known truth and prints
// how often the true budget was missed and how far the promise was off, as the table that stands
// there. `robust_study [RUNS]` measures and plans each setting RUNS times (default 2000).
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/robust_simulation.hpp"

namespace {

using negawatt::solve::simulation::Noise;
using negawatt::solve::simulation::Score;
using negawatt::solve::simulation::Setting;
using negawatt::solve::simulation::Size;
using negawatt::solve::simulation::World;

struct Row {
  std::string name;
  std::vector<World> worlds;
  Setting setting;
};

std::vector<World> twenty_realistic(Noise noise) {
  std::vector<World> worlds;
  for (std::uint64_t seed = 0; seed < 20; ++seed) worlds.push_back(realistic(Size{}, noise, seed));
  return worlds;
}

std::string correlation_told(const Noise& noise, double told) {
  return fmt::format("errors correlated {}, told {}", noise.correlation, told);
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  const Noise usual{};
  for (const double confidence : {0.5, 0.9, 0.95, 0.99})
    rows.push_back({"realistic, noise 0.2-2 %", twenty_realistic(usual), {0.01, confidence}});
  for (const double slowdown : {0.0, 0.05, 0.1})
    rows.push_back({"realistic, noise 0.2-2 %", twenty_realistic(usual), {slowdown, 0.95}});
  for (const double slowdown : {0.0, 0.01})
    rows.push_back(
        {"realistic, noise 0.05-0.2 %", twenty_realistic({0.0005, 0.002}), {slowdown, 0.95}});
  for (const double confidence : {0.5, 0.9, 0.95, 0.99})
    rows.push_back({"every departure violates, noise 0.5 %",
                    {near_equal(Size{}, {0.005, 0.005}, 1e-9)},
                    {0.0, confidence}});
  for (const double confidence : {0.5, 0.9, 0.95, 0.99})
    rows.push_back({"near-equal options, noise 1 %",
                    {near_equal(Size{}, {0.01, 0.01}, 0.006)},
                    {0.005, confidence}});
  const Noise correlated{0.002, 0.02, 0.8};
  for (const double error : {0.0, 0.2, -0.4, -0.8})
    rows.push_back({"realistic, " + correlation_told(correlated, 0.8 + error),
                    twenty_realistic(correlated),
                    {0.01, 0.95, error}});
  const Noise correlated_equal{0.01, 0.01, 0.8};
  for (const double error : {0.0, 0.2, -0.4, -0.8})
    rows.push_back({"near-equal, " + correlation_told(correlated_equal, 0.8 + error),
                    {near_equal(Size{}, correlated_equal, 0.006)},
                    {0.005, 0.95, error}});
  rows.push_back(
      {"realistic, errors independent, told 0.8", twenty_realistic(usual), {0.01, 0.95, 0.8}});
  return rows;
}

void print(const Row& row, const Score& score) {
  fmt::print(
      "| {} | {:g} | {:g} | {:.3f} | {:.3f} | {:+.3f} +- {:.3f} | {:+.3f} +- {:.3f} | "
      "{:+.2f} | {:+.2f} | {:.2f} | {:.2f} | {:.2f} |\n",
      row.name, 100.0 * row.setting.slowdown, row.setting.confidence, score.violations,
      score.naive_violations, score.time_bias.mean, score.time_bias.error, score.energy_bias.mean,
      score.energy_bias.error, score.naive_time_bias.mean, score.naive_energy_bias.mean,
      score.saving.mean, score.naive_saving.mean, score.best_saving.mean);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 2000;
  fmt::print(
      "| truth | slowdown % | P | violated | naive | time bias | energy bias | naive time | "
      "naive energy | saved % | naive | best |\n");
  fmt::print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
  for (const Row& row : rows()) {
    const int each = std::max(1, runs / static_cast<int>(row.worlds.size()));
    print(row, simulate(row.worlds, row.setting, {each, 1}));
    std::fflush(stdout);
  }
}
