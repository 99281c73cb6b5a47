// SPDX-License-Identifier: Apache-2.0
//
// A plan small enough to check by hand, for the tests of this room:
//   kernel     calls  auto/auto      1410/5001      baseline        plan
//   gemm         2    0.25 s  75 J   0.26 s  60 J   0.50 s 150 J    0.52 s 120 J   at 1410/5001
//   gelu         2    0.50 s 100 J   0.40 s 110 J   1.00 s 200 J    1.00 s 200 J   at auto
//   adam         1    1.00 s 200 J                  1.00 s 200 J    1.00 s 200 J   at auto
//   iteration: gemm gelu gemm gelu adam             2.50 s 550 J    2.52 s 520 J
#pragma once

#include <string>

#include "plan/clock_plan.hpp"
#include "report/report.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::report::testing {

inline constexpr trace::ClockPair kAuto{};
inline constexpr trace::ClockPair kLow{trace::Clock::locked_mhz(1410),
                                       trace::Clock::locked_mhz(5001)};

inline trace::KernelOption option(trace::ClockPair clocks, double seconds, double joules) {
  return {.clocks = clocks, .time = Seconds(seconds), .energy = Joules(joules)};
}

inline Cost cost(double seconds, double joules) { return {Seconds(seconds), Joules(joules)}; }

struct Sample {
  trace::KernelTable table;
  trace::Sequence sequence = {0, 1, 0, 1, 2};
  plan::ClockPlan plan;

  Sample() {
    table.name = "kernels.csv";
    table.evidence = {EvidenceKind::measured, "NVML energy counter, 1 s windows"};
    table.kernels = {
        {"gemm", "forward", 2, {option(kAuto, 0.25, 75), option(kLow, 0.26, 60)}},
        {"gelu", "forward", 2, {option(kAuto, 0.5, 100), option(kLow, 0.4, 110)}},
        {"adam", "optimizer", 1, {option(kAuto, 1.0, 200)}},
    };
    plan.request.slowdown = 0.01;
    plan.baseline = cost(2.5, 550);
    plan.budget = Seconds(2.525);
    plan.best_static = plan::StaticPair{kAuto, cost(2.5, 550)};
    plan.local = cost(2.5, 550);
    plan.global = cost(2.52, 520);
    plan.bound = Joules(520);
    plan.total = cost(2.52, 520);
    plan.price = Watts(750);
    plan.switches = 3;
    plan.choices = {
        {0, kLow, cost(0.26, 60), plan::Reason::least_energy, 0, 2},
        {1, kAuto, cost(0.5, 100), plan::Reason::least_energy, 0, 2},
        {2, kAuto, cost(1.0, 200), plan::Reason::only_pair, 0, 1},
    };
    plan.segments = {{0, 0, kLow, cost(0.26, 60)},
                     {1, 1, kAuto, cost(0.5, 100)},
                     {2, 2, kLow, cost(0.26, 60)},
                     {3, 4, kAuto, cost(1.5, 300)}};
    plan.static_pairs = {{kAuto, cost(2.5, 550)}};
  }

  [[nodiscard]] ClockReport report() const {
    return {.plan = plan,
            .table = table,
            .sequence = sequence,
            .command = "negawatt plan kernels.csv --slowdown 1",
            .solve_time = Seconds(0.00021),
            .version = "0.1.0"};
  }
  /// The same clocks as the answer of the schedule planner.
  void make_schedule() {
    plan.request.granularity = plan::Granularity::schedule;
    plan.choices.clear();
  }
};

/// Everything a name can do to a page, a script, a terminal or a reader's eye.
inline constexpr const char* kHostileName =
    "</script><script>alert(1)</script>\"'&<!--\xE2\x80\xAEgnp.exe\x1b[31m\xff\xE2\x80\xA8";

}  // namespace negawatt::report::testing
