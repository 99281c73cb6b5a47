// SPDX-License-Identifier: Apache-2.0
#include "govern/run_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "govern/outcome.hpp"

namespace negawatt::govern {
namespace {

const std::string kRun = R"({
  "governed": true,
  "baseline": {"core_mhz": "auto", "memory_mhz": "auto", "time_s": 2.0, "energy_j": 500},
  "promised": {"time_s": 2.01, "energy_j": 450, "energy_change_pct": -10},
  "achieved": {"iterations": 20, "time_s": 2.02, "time_sd_s": 0.001, "energy_j": 455,
               "energy_sd_j": 0.5},
  "best_static": {"time_s": 2.0, "energy_j": 470}, "bound": {"energy_j": 445},
  "segments": [
    {"first": 0, "last": 3, "core_mhz": 1410, "memory_mhz": 5001, "promised_s": 1.5,
     "promised_j": 300, "achieved_s": 1.51},
    {"first": 4, "last": 9, "core_mhz": "auto", "memory_mhz": 5001, "promised_s": 0.5,
     "promised_j": 150}],
  "why": {"requests": 40, "refused": 1, "changes": 42, "late": 2, "most_late_s": 0.003,
          "missed_iterations": 0, "pace": 1.005, "off_plan": false, "last_refusal": "busy"},
  "ending": "exit code 0", "gpu": "GPU-1", "plan_file": "plan.json", "command": "train",
  "evidence": "simulated", "promised_evidence": "modelled"})";

std::string with(const std::string& from, const std::string& to) {
  auto text = kRun;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string refusal(const std::string& text) {
  const auto run = parse_run(text, "run.json");
  EXPECT_FALSE(run);
  if (run) return "";
  EXPECT_EQ(run.error().code, Code::invalid);
  return run.error().message;
}

TEST(RunFile, ReadsWhatWasPromisedAndAchieved) {
  const auto run = parse_run(kRun, "run.json");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->governed);
  EXPECT_EQ(run->baseline.energy, Joules(500));
  EXPECT_EQ(run->promised.time, Seconds(2.01));
  EXPECT_EQ(run->best_static->energy, Joules(470));
  EXPECT_EQ(run->bound, Joules(445));
  EXPECT_EQ(run->achieved.iterations, 20U);
  EXPECT_EQ(run->achieved.time, Seconds(2.02));
  EXPECT_EQ(run->achieved.energy_error, Joules(0.5));
  ASSERT_EQ(run->segments.size(), 2U);
  EXPECT_EQ(run->segments[0].achieved, Seconds(1.51));
  EXPECT_EQ(run->segments[0].clocks.core, trace::Clock::locked_mhz(1410));
  EXPECT_EQ(run->segments[1].last, 9U);
  EXPECT_FALSE(run->segments[1].achieved);
  EXPECT_EQ(run->evidence, EvidenceKind::simulated);
  EXPECT_EQ(run->promised_evidence, EvidenceKind::modelled);
}

TEST(RunFile, ReadsWhyTheyDiffer) {
  const auto run = parse_run(kRun, "run.json");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->requests, 40U);
  EXPECT_EQ(run->refused, 1U);
  EXPECT_EQ(run->last_refusal, "busy");
  EXPECT_EQ(run->punctuality.changes, 42U);
  EXPECT_EQ(run->punctuality.late, 2U);
  EXPECT_EQ(run->punctuality.most_late, Seconds(0.003));
  EXPECT_EQ(run->pace, 1.005);
  EXPECT_FALSE(run->was_off_plan);
  EXPECT_EQ(run->ending, "exit code 0");
  EXPECT_EQ(run->command, "train");
}

TEST(RunFile, WhatWasNotMeasuredIsAbsent) {
  const auto blind = parse_run(with(R"("energy_j": 455,
               "energy_sd_j": 0.5)",
                                    R"("unknown": 1)"),
                               "run.json");
  ASSERT_TRUE(blind) << blind.error().message;
  EXPECT_EQ(blind->achieved.time_error, Seconds(0.001));
  EXPECT_FALSE(blind->achieved.energy);

  const auto once = parse_run(with("\"time_sd_s\": 0.001", "\"time_sd_s\": 0"), "run.json");
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_FALSE(once->achieved.time_error);

  const auto none = parse_run(with("\"iterations\": 20", "\"iterations\": 0"), "run.json");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->achieved.time);
}

TEST(RunFile, SaysWhatIsWrong) {
  EXPECT_EQ(refusal(kRun.substr(0, 100)),
            "run.json: not JSON; expected the output of 'negawatt run --out'");
  EXPECT_EQ(refusal(R"({"plan": {}})"),
            "run.json: no 'governed'; expected the JSON of 'negawatt run --out' of this version");
  EXPECT_EQ(refusal(with("\"governed\": true", "\"governed\": \"yes\"")),
            "run.json: 'governed' is neither true nor false");
  EXPECT_EQ(refusal(with("\"energy_j\": 500", "\"energy_j\": 0")),
            "run.json: 'baseline' takes no time or no energy");
  EXPECT_EQ(refusal(with("\"energy_j\": 450", "\"energy_j\": -450")),
            "run.json: 'energy_j' is no number of 0 or more");
  EXPECT_EQ(refusal(with("\"time_s\": 2.02", "\"time_s\": 0")),
            "run.json: 'time_s' is 0, expected more");
  EXPECT_EQ(refusal(with("\"iterations\": 20", "\"iterations\": 2.5")),
            "run.json: 'iterations' is no whole number");
  EXPECT_EQ(refusal(with("\"last\": 3", "\"last\": 4294967296")),
            "run.json: 'last' is no whole number");
  EXPECT_EQ(refusal(with("\"first\": 4", "\"first\": 10")), "run.json: a segment from 10 to 9");
  EXPECT_EQ(refusal(with("\"gpu\": \"GPU-1\"", "\"gpu\": 1")), "run.json: 'gpu' is no text");
  EXPECT_EQ(refusal(with("\"segments\": [", "\"segments\": 1, \"other\": [")),
            "run.json: 'segments' is no list");
}

TEST(RunFile, ReadsWhatARunWrites) {
  Execution plan;
  plan.baseline = {Seconds(2), Joules(500)};
  plan.baseline_clocks = {trace::Clock::locked_mhz(1695), {}};
  plan.promised = {Seconds(2.01), Joules(450)};
  plan.best_static = Cost{Seconds(2), Joules(470)};
  plan.bound = Joules(445);
  plan.evidence = EvidenceKind::published;
  plan.segments = {{.first = 0, .last = 3, .promised = {Seconds(2.01), Joules(450)}}};
  Ran ran;
  ran.followed.achieved = {.iterations = 7,
                           .mean = {Seconds(2.02), Joules(455)},
                           .error = {Seconds(0.001), Joules(0.5)},
                           .has_energy = true};
  ran.followed.segment_times.resize(1);
  ran.followed.segment_times[0].add(2.015);
  ran.followed.punctuality = {.changes = 42, .late = 2, .most_late = Seconds(0.003)};
  ran.followed.last_refusal = "the \"lease\" ended";
  const auto run = parse_run(
      run_json({.plan = plan, .ran = ran, .gpu = "GPU-1", .evidence = EvidenceKind::simulated}),
      "run.json");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->governed);
  EXPECT_EQ(run->baseline_clocks, plan.baseline_clocks);
  EXPECT_EQ(run->promised.energy, Joules(450));
  EXPECT_EQ(run->bound, Joules(445));
  EXPECT_EQ(run->achieved.iterations, 7U);
  EXPECT_EQ(run->achieved.energy_error, Joules(0.5));
  ASSERT_EQ(run->segments.size(), 1U);
  EXPECT_EQ(run->segments[0].achieved, Seconds(2.015));
  EXPECT_EQ(run->punctuality.late, 2U);
  EXPECT_EQ(run->last_refusal, "the \"lease\" ended");
  EXPECT_EQ(run->promised_evidence, EvidenceKind::published);
}

}  // namespace
}  // namespace negawatt::govern
