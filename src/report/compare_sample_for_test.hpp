// SPDX-License-Identifier: Apache-2.0
//
// Runs whose changes are round numbers. The table's baseline is 2 s and 500 J; the watched run
// measured 2 s and 500 J too, each known to 0.1 %.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/compare_report.hpp"

namespace negawatt::report {

inline ComparedRun watched_run() {
  return {.label = "auto",
          .file = "runs/auto.json",
          .baseline = {Seconds(2), Joules(500)},
          .promised = {Seconds(2.02), Joules(450)},
          .achieved = {.iterations = 20,
                       .time = Seconds(2),
                       .time_error = Seconds(0.002),
                       .energy = Joules(500),
                       .energy_error = Joules(0.5)},
          .ending = "exit code 0",
          .gpu = "GPU-1",
          .plan_file = "plan.json",
          .command = "train",
          .evidence = EvidenceKind::simulated,
          .promised_evidence = EvidenceKind::published};
}

/// Promised +1 % time and -10 % energy; best static pair +0 % and -6 %, bound -12 %. Achieves what
/// is given, in percent.
inline ComparedRun governed_run(std::string label, double time_pct, double energy_pct) {
  auto run = watched_run();
  run.label = std::move(label);
  run.file = "runs/" + run.label + ".json";
  run.governed = true;
  run.best_static = Cost{Seconds(2), Joules(470)};
  run.bound = Joules(440);
  run.achieved.time = Seconds(2 + 0.02 * time_pct);
  run.achieved.energy = Joules(500 + 5 * energy_pct);
  run.requests = 40;
  run.changes = 42;
  run.segments = {{.first = 0,
                   .last = 3,
                   .clocks = {trace::Clock::locked_mhz(1410), {}},
                   .promised = Seconds(1.02),
                   .achieved = Seconds(1.0302)},
                  {.first = 4, .last = 4, .promised = Seconds(0.5), .achieved = Seconds(0.45)},
                  {.first = 5, .last = 9, .promised = Seconds(0.5), .achieved = std::nullopt}};
  return run;
}

inline CompareReport report_on(const std::vector<ComparedRun>& runs) {
  return {.runs = runs, .command = "negawatt compare auto.json", .version = "0.1.0"};
}

}  // namespace negawatt::report
