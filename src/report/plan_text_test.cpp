// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/report.hpp"
#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using testing::Sample;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_fits_a_terminal(const std::string& text) {
  const auto lines = lines_of(text);
  EXPECT_LE(lines.size(), 40U);
  for (const auto& line : lines) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= 0x20 && c < 0x7F; })) << line;
  }
}

TEST(PlanText, ReadsAsAReport) {
  const Sample sample;
  EXPECT_EQ(plan_text(sample.report(), false),
            R"(This plan uses 5.45 % less energy than the driver's default clocks, and takes
0.800 % longer.

one iteration                         time    energy  time change  energy change
driver default, auto/auto          2.500 s   550.0 J      +0.00 %        +0.00 %
best fixed setting, auto/auto      2.500 s   550.0 J      +0.00 %        +0.00 %
kernel by kernel (local)           2.500 s   550.0 J      +0.00 %        +0.00 %
total only (global)                2.520 s   520.0 J      +0.80 %        -5.45 %
this plan                          2.520 s   520.0 J      +0.80 %        -5.45 %
lower bound                                  520.0 J                     -5.45 %

kernels that save most         calls    core/mem      time     energy     saved
forward: gemm                      2   1410/5001   +4.00 %   -20.00 %    30.0 J
2 other kernels                                    +0.00 %    +0.00 %       0 J

Plan: least energy with at most +1.00 % time, one pair per kernel; proven
optimal, solved in 210 us; 3 clock changes an iteration, taken as free.
Evidence: measured, NVML energy counter, 1 s windows
)");
}

TEST(PlanText, ColourIsWrittenOnlyWhenAskedFor) {
  const Sample sample;
  EXPECT_EQ(plan_text(sample.report(), false).find('\x1b'), std::string::npos);
  auto coloured = plan_text(sample.report(), true);
  EXPECT_NE(coloured.find("\x1b[1;32mthis plan"), std::string::npos);
  for (const std::string code : {"\x1b[1;32m", "\x1b[0m"})
    for (auto at = coloured.find(code); at != std::string::npos; at = coloured.find(code))
      coloured.erase(at, code.size());
  EXPECT_EQ(coloured, plan_text(sample.report(), false));
}

TEST(PlanText, FitsATerminalWhateverIsInTheTable) {
  Sample sample;
  sample.table.evidence.source = std::string(300, 'x') + "\x1b[2J";
  sample.table.kernels.clear();
  sample.sequence.clear();
  sample.plan.choices.clear();
  for (std::uint32_t k = 0; k < 60; ++k) {
    sample.table.kernels.push_back(
        {testing::kHostileName + std::string(200, 'y') + std::to_string(k),
         "a group with a long name",
         1,
         {testing::option(testing::kAuto, 1e-9, 1e9), testing::option(testing::kLow, 1e3, 1e-3)}});
    sample.sequence.push_back(k);
  }
  sample.plan.segments = {{0, 59, testing::kLow, testing::cost(6e4, 6e-2)}};
  sample.plan.baseline = testing::cost(6e-8, 6e10);
  sample.plan.best_static = plan::StaticPair{
      {trace::Clock::locked_mhz(4294967295U), trace::Clock::locked_mhz(4294967295U)},
      testing::cost(6e4, 6e-2)};
  sample.plan.promise = solve::Promise{.confidence = 0.95,
                                       .expected = testing::cost(6e4, 6e-2),
                                       .time_at_confidence = Seconds(7e4),
                                       .searched = testing::cost(6e4, 6e-2)};
  expect_fits_a_terminal(plan_text(sample.report(), false));
}

TEST(PlanText, SaysThatNothingIsToGainWithoutAnEmptyTable) {
  Sample sample;
  sample.plan.segments = {{0, 4, testing::kAuto, testing::cost(2.5, 550)}};
  sample.plan.choices[0] = {
      0, testing::kAuto, testing::cost(0.25, 75), plan::Reason::budget_bound, 0, 2};
  sample.plan.total = sample.plan.baseline;
  sample.plan.bound = sample.plan.baseline.energy;
  sample.plan.switches = 0;
  const auto text = plan_text(sample.report(), false);
  EXPECT_EQ(text.find("Nothing to gain here"), 0U);
  EXPECT_EQ(text.find("kernels that save most"), std::string::npos);
  EXPECT_NE(text.find("0 clock changes an iteration."), std::string::npos);
}

}  // namespace
}  // namespace negawatt::report
