// SPDX-License-Identifier: Apache-2.0
#include "sweep/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "trace/kernel_table.hpp"

namespace negawatt::sweep {
namespace {

Visit visit(std::uint32_t kernel, trace::ClockPair clocks, double seconds, double joules) {
  return {.kernel = kernel,
          .clocks = clocks,
          .time = Seconds(seconds),
          .energy = Joules(joules),
          .energy_deviation = Joules(0.3),
          .calls = 10,
          .actual_core_mhz = 1755,
          .actual_memory_mhz = 9251,
          .obedience = Obedience::as_asked};
}

TEST(SweepTable, IsAKernelTableOfMeansAndErrors) {
  const trace::ClockPair low{trace::Clock::locked_mhz(1410), {}};
  const std::vector<RunnableKernel> kernels = {{"b, \"quoted\"", "forward", 24}, {"a", "", 1}};
  auto capped = visit(1, {}, 3.0, 9.0);
  capped.obedience = Obedience::capped;
  const auto csv = kernel_table_csv(
      kernels, {visit(0, {}, 1.0, 10.0), capped, visit(0, low, 2.0, 8.0), visit(0, {}, 1.2, 12.0)},
      {EvidenceKind::simulated, "a simulated counter"});
  const auto table = trace::parse_kernel_table(csv, "t.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->evidence.kind, EvidenceKind::simulated);
  EXPECT_TRUE(table->has_deviations);
  ASSERT_EQ(table->kernels.size(), 2U);
  EXPECT_EQ(table->kernels[0].name, "b, \"quoted\"");
  EXPECT_EQ(table->kernels[0].calls, 24U);
  const auto* at_auto = table->kernels[0].at({});
  ASSERT_NE(at_auto, nullptr);
  EXPECT_DOUBLE_EQ(at_auto->time.in_si(), 1.1);
  EXPECT_NEAR(at_auto->time_sd.in_si(), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(at_auto->energy.in_si(), 11.0);
  EXPECT_NEAR(at_auto->energy_sd.in_si(), 1.0, 1e-12);
  // One visit: it scatters by what those of the one row with two do, 0.1 times the root of 2 over
  // 1.1.
  const double relative = 0.1 * std::sqrt(2.0) / 1.1;
  EXPECT_NEAR(table->kernels[0].at(low)->time_sd.in_si(), 2.0 * relative, 1e-12);
  EXPECT_NEAR(table->kernels[0].at(low)->energy_sd.in_si(), 8.0 * relative, 1e-12);
  EXPECT_NE(csv.find("1755,9251,capped\n"), std::string::npos);
}

TEST(SweepTable, AnErrorIsAtLeastWhatTheCountersStepsLeaveOpen) {
  const trace::ClockPair low{trace::Clock::locked_mhz(1410), {}};
  const auto csv = kernel_table_csv(
      {{"a", "", 1}}, {visit(0, {}, 1.0, 10.0), visit(0, {}, 1.0, 10.0), visit(0, low, 2.0, 8.0)},
      {EvidenceKind::simulated, "repeats that agree to the last bit"});
  const auto table = trace::parse_kernel_table(csv, "t.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_DOUBLE_EQ(table->kernels[0].at({})->energy_sd.in_si(), 0.3 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(table->kernels[0].at(low)->energy_sd.in_si(), 0.3);
}

TEST(SweepTable, WithoutARepeatThereAreNoErrorsToState) {
  const trace::ClockPair low{trace::Clock::locked_mhz(1410), {}};
  const auto csv =
      kernel_table_csv({{"a", "", 1}}, {visit(0, {}, 1.0, 10.0), visit(0, low, 2.0, 8.0)},
                       {EvidenceKind::simulated, "one visit each"});
  const auto table = trace::parse_kernel_table(csv, "t.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_FALSE(table->has_deviations);
  EXPECT_EQ(csv.find("_sd_"), std::string::npos) << csv;
}

}  // namespace
}  // namespace negawatt::sweep
