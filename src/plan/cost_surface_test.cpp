// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_surface.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace negawatt::plan {
namespace {

trace::SystemRun run(std::uint32_t input, std::uint32_t output, double joules, double seconds) {
  return {{input, output}, {.time = Seconds(seconds), .energy = Joules(joules)}};
}

/// joules = input * output^2, seconds = output: straight lines in logarithms.
trace::MeasuredSystem power_laws() {
  trace::MeasuredSystem system{.name = "A", .model = "m"};
  for (const std::uint32_t input : {8U, 32U, 512U})
    for (const std::uint32_t output : {8U, 64U, 128U})
      system.runs.push_back(run(input, output, 1.0 * input * output * output, output));
  return system;
}

void expect_power_law(const CostSurface& surface, trace::RequestSize size, Reach reach) {
  const auto [cost, got] = surface.at(size);
  const double output = size.output_tokens;
  EXPECT_NEAR(cost.energy.in_si() / (size.input_tokens * output * output), 1.0, 1e-12);
  EXPECT_NEAR(cost.time.in_si() / output, 1.0, 1e-12);
  EXPECT_EQ(got, reach);
}

TEST(CostSurface, FollowsPowerLawsInsideAndOutside) {
  const auto surface = CostSurface::of(power_laws());
  ASSERT_TRUE(surface) << surface.error().message;
  expect_power_law(*surface, {32, 64}, Reach::measured);
  expect_power_law(*surface, {32, 65}, Reach::interpolated);
  expect_power_law(*surface, {100, 100}, Reach::interpolated);
  expect_power_law(*surface, {1, 100}, Reach::extrapolated);
  expect_power_law(*surface, {4'000, 1}, Reach::extrapolated);
  expect_power_law(*surface, {32, 4'294'967'295}, Reach::extrapolated);
}

TEST(CostSurface, IsTheMeanOfRunsAtTheSameSize) {
  auto system = power_laws();
  system.runs.push_back(run(8, 8, 512 + 2, 10));
  const auto surface = CostSurface::of(system);
  ASSERT_TRUE(surface);
  EXPECT_DOUBLE_EQ(surface->at({8, 8}).cost.energy.in_si(), 513.0);
  EXPECT_DOUBLE_EQ(surface->at({8, 8}).cost.time.in_si(), 9.0);
  EXPECT_EQ(surface->measured().size(), 9U);
}

TEST(CostSurface, FillsHolesAlongTheOutputs) {
  auto system = power_laws();
  std::erase_if(system.runs, [](const auto& r) {
    return r.size == trace::RequestSize{32, 64} || r.size == trace::RequestSize{512, 128};
  });
  const auto surface = CostSurface::of(system);
  ASSERT_TRUE(surface);
  expect_power_law(*surface, {32, 64}, Reach::interpolated);
  expect_power_law(*surface, {512, 128}, Reach::extrapolated);
  // Between a measured and an extrapolated corner.
  expect_power_law(*surface, {400, 100}, Reach::extrapolated);
}

/// Joules at (8, output), where only outputs were measured.
double joules_at(const std::vector<std::pair<std::uint32_t, double>>& measured,
                 std::uint32_t output) {
  trace::MeasuredSystem system{.name = "A", .model = "m"};
  for (const auto& [tokens, joules] : measured) system.runs.push_back(run(8, tokens, joules, 1.0));
  return CostSurface::of(system)->at({8, output}).cost.energy.in_si();
}

TEST(CostSurface, NoiseOfNeighboursDoesNotGrowIntoAPrice) {
  // The slope of the nearest two would be 44.7 and 6e96 J.
  EXPECT_NEAR(joules_at({{64, 10.0}, {65, 20.0}}, 9'000) / (20.0 * std::pow(9'000.0 / 65.0, 2)),
              1.0, 1e-12);
  EXPECT_TRUE(std::isfinite(joules_at({{64, 10.0}, {65, 20.0}}, 4'294'967'295)));
  // Neither does it turn into a gain: more tokens never cost less.
  EXPECT_NEAR(joules_at({{64, 20.0}, {128, 10.0}}, 9'000), 10.0, 1e-12);
  EXPECT_NEAR(joules_at({{64, 20.0}, {128, 10.0}}, 1), 20.0, 1e-12);
  // Nor does it hide a slope that is measured over a longer way: from 16 to 65, 1.
  EXPECT_NEAR(joules_at({{16, 16.0}, {64, 90.0}, {65, 65.0}}, 6'500), 6'500.0, 1e-6);
  EXPECT_NEAR(joules_at({{64, 64.0}, {65, 99.0}, {256, 256.0}}, 2), 2.0, 1e-9);
  // Between measured sizes nothing is bounded.
  EXPECT_NEAR(joules_at({{64, 1.0}, {256, 4'096.0}}, 128), 64.0, 1e-9);
}

TEST(CostSurface, TakesAnAxisWithOneValueAsOfNoInfluence) {
  const auto surface =
      CostSurface::of({.name = "A", .model = "m", .runs = {run(8, 32, 10, 1), run(16, 32, 20, 1)}});
  ASSERT_TRUE(surface);
  EXPECT_DOUBLE_EQ(surface->at({16, 32}).cost.energy.in_si(), 20.0);
  EXPECT_NEAR(surface->at({16, 500}).cost.energy.in_si(), 20.0, 1e-12);
  EXPECT_EQ(surface->at({16, 500}).reach, Reach::extrapolated);
}

TEST(CostSurface, RefusesARowWithoutASlope) {
  const auto surface = CostSurface::of(
      {.name = "A", .model = "m", .runs = {run(8, 8, 1, 1), run(8, 16, 2, 1), run(9, 8, 1, 1)}});
  ASSERT_FALSE(surface);
  EXPECT_EQ(surface.error().message,
            "system 'A' was measured at one output length with 9 input tokens, expected at least "
            "two, or the same one everywhere");
}

}  // namespace
}  // namespace negawatt::plan
