// SPDX-License-Identifier: Apache-2.0
//
// Choices on measured kernels: public time and power tables of two GPUs. Every kernel is weighted
// to equal baseline time, the baseline is the highest clock pair, energy is power x relative
// time. The reference energy changes come with the data; they were made with option times rounded
// up into bins, so a global one may be up to 0.02 points above the exact optimum.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/csv.hpp"
#include "solve/choice.hpp"
#include "tests/shared_data.hpp"

namespace negawatt::solve {
namespace {

constexpr double kPoints = 0.02;

struct Source {
  std::string file;
  std::vector<std::string_view> kernel_columns;
  std::string_view core, memory, time, power;
};

const Source kGtx1080ti = {"kernels-measured/gtx1080ti-dvfs-real-Performance-Power.csv",
                           {"appName", "kernel"},
                           "coreF",
                           "memF",
                           "time/ms",
                           "power/W"};
const Source kRtx8000 = {"kernels-measured/rtx8000-dvfs-real-profile.csv",
                         {"benchmark", "argNo", "kernel"},
                         "core_frequency",
                         "memory_frequency",
                         "time",
                         "average_power"};

using ClockKey = std::pair<double, double>;  // core, memory in MHz
/// Per kernel and clock pair: milliseconds and the energy of that time.
using Table = std::map<std::string, std::map<ClockKey, Cost>>;

Table read_table(const Source& source, const std::string& bytes) {
  CsvReader csv(bytes, source.file);
  EXPECT_TRUE(csv.read_header());
  const auto number = [&](std::string_view column) { return csv.number(csv.find(column)).value(); };
  Table table;
  while (csv.next().value()) {
    std::string kernel;
    for (const auto column : source.kernel_columns) {
      kernel += std::string(csv.field(csv.find(column))) + "/";
    }
    const Seconds time(number(source.time));
    table[kernel][{number(source.core), number(source.memory)}] = {
        time, time * Watts(number(source.power))};
  }
  return table;
}

/// Every kernel scaled to baseline time 1, options in order of clocks: the last is the baseline.
ChoiceProblem equal_weights(const Table& table) {
  ChoiceProblem problem;
  for (const auto& [kernel, pairs] : table) {
    const double scale = 1.0 / pairs.rbegin()->second.time.in_si();
    std::vector<Cost> options;
    for (const auto& [clocks, cost] : pairs) options.push_back(scale * cost);
    problem.add_item(options);
  }
  return problem;
}

Cost baseline_of(const ChoiceProblem& problem) {
  Cost total;
  for (std::size_t i = 0; i < problem.items(); ++i) total += problem.options(i).back();
  return total;
}

double global_change(const ChoiceProblem& problem, double slowdown) {
  const Cost baseline = baseline_of(problem);
  const auto choice = least_energy_within(problem, (1 + slowdown) * baseline.time).value();
  EXPECT_EQ(choice.lower_bound, choice.total.energy);
  EXPECT_LE(choice.total.time, latest_within((1 + slowdown) * baseline.time, problem.items()));
  return change_pct(baseline.energy, choice.total.energy);
}

Choice local_choice(const ChoiceProblem& problem, double slowdown) {
  const std::vector<Seconds> budgets(problem.items(), Seconds(1 + slowdown));
  return least_energy_each_within(problem, budgets).value();
}

/// Best pair for all kernels alike: one item whose options are the totals.
double single_pair_change(const ChoiceProblem& problem, double slowdown) {
  std::vector<Cost> totals(problem.options(0).size());
  for (std::size_t i = 0; i < problem.items(); ++i) {
    for (std::size_t j = 0; j < totals.size(); ++j) totals[j] += problem.options(i)[j];
  }
  ChoiceProblem one;
  one.add_item(totals);
  const auto choice = least_energy_within(one, (1 + slowdown) * totals.back().time).value();
  return change_pct(totals.back().energy, choice.total.energy);
}

struct Expected {
  double slowdown, single, local, local_time, global;
};

void expect_changes(const ChoiceProblem& problem, const std::vector<Expected>& rows) {
  const Cost baseline = baseline_of(problem);
  for (const Expected& row : rows) {
    SCOPED_TRACE(row.slowdown);
    EXPECT_NEAR(single_pair_change(problem, row.slowdown), row.single, kPoints);
    const auto local = local_choice(problem, row.slowdown);
    EXPECT_NEAR(change_pct(baseline.energy, local.total.energy), row.local, kPoints);
    EXPECT_NEAR(change_pct(baseline.time, local.total.time), row.local_time, kPoints);
    const double global = global_change(problem, row.slowdown);
    EXPECT_NEAR(global, row.global, kPoints);
    EXPECT_LE(global, row.global + 0.005) << "above a choice that keeps the budget";
  }
}

TEST(MeasuredKernels, Gtx1080tiSavesWhatTheReferenceSays) {
  NW_SHARED_FILE_OR_SKIP(bytes, kGtx1080ti.file);
  const Table table = read_table(kGtx1080ti, bytes);
  ASSERT_EQ(table.size(), 30U);
  expect_changes(equal_weights(table), {{0.0, 0.0, -2.09, -0.42, -3.21},
                                        {0.006, 0.0, -2.71, -0.31, -3.28},
                                        {0.01, 0.0, -3.00, -0.27, -3.28},
                                        {0.05, 0.0, -3.28, 0.38, -3.28},
                                        {0.10, 0.0, -3.28, 0.38, -3.28}});
}

TEST(MeasuredKernels, Rtx8000SavesWhatTheReferenceSays) {
  NW_SHARED_FILE_OR_SKIP(bytes, kRtx8000.file);
  const Table table = read_table(kRtx8000, bytes);
  ASSERT_EQ(table.size(), 20U);
  expect_changes(equal_weights(table), {{0.0, 0.0, -5.21, -0.26, -7.89},
                                        {0.006, 0.0, -6.64, -0.24, -9.90},
                                        {0.01, 0.0, -6.78, -0.21, -10.92},
                                        {0.05, -8.57, -12.34, 2.15, -17.07},
                                        {0.10, -14.67, -17.11, 6.58, -20.72}});
}

}  // namespace
}  // namespace negawatt::solve
