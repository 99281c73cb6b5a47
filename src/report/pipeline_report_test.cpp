// SPDX-License-Identifier: Apache-2.0
#include "report/pipeline_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/pipeline_view.hpp"

namespace negawatt::report {
namespace {

using nlohmann::json;

plan::InstructionChoice pass(std::uint32_t stage, trace::Pass what, std::uint32_t mhz, double start,
                             double end) {
  return {.stage = stage,
          .microbatch = 0,
          .pass = what,
          .mhz = mhz,
          .start = Seconds(start),
          .end = Seconds(end)};
}

/// Two stages, one microbatch, 50 W of blocking. At 1400 MHz a pass takes 1 s and 100 J, at
/// 700 MHz 2 s and 80 J. The plan slows the first forward: 5 s, 380 J + 5 s of waiting.
struct Sample {
  plan::PipelineProblem problem;
  plan::PipelinePlan baseline;
  plan::PipelinePlan planned;

  Sample() {
    const std::vector<trace::PassOption> options = {{700, Seconds(2), Joules(80)},
                                                    {1400, Seconds(1), Joules(100)}};
    problem.profile.stages = {{{options, options}}, {{options, options}}};
    problem.profile.name = "profile.csv";
    problem.profile.evidence = {EvidenceKind::published, "a source"};
    problem.blocking = Watts(50);
    using trace::Pass;
    baseline = {
        .total = {Seconds(4), Joules(600)},
        .lower_bound = Joules(600),
        .instructions = {pass(0, Pass::forward, 1400, 0, 1), pass(1, Pass::forward, 1400, 1, 2),
                         pass(1, Pass::backward, 1400, 2, 3), pass(0, Pass::backward, 1400, 3, 4)}};
    planned = {
        .total = {Seconds(5), Joules(630)},
        .lower_bound = Joules(600),
        .instructions = {pass(0, Pass::forward, 700, 0, 2), pass(1, Pass::forward, 1400, 2, 3),
                         pass(1, Pass::backward, 1400, 3, 4), pass(0, Pass::backward, 1400, 4, 5)}};
  }

  [[nodiscard]] PipelineReport report() const {
    return {.problem = problem,
            .baseline = baseline,
            .plan = planned,
            .deadline = Seconds(5),
            .frontier = {baseline.total, planned.total},
            .bound_corners = {baseline.total, {Seconds(5), Joules(600)}},
            .command = "negawatt pipeline profile.csv",
            .solve_time = Seconds(0.01),
            .version = "0.1.0"};
  }
};

TEST(PipelineReport, JsonHasTheKeysThatProgramsRelyOn) {
  const auto object = json::parse(pipeline_json(Sample().report()));
  EXPECT_EQ(object["baseline"], (json{{"time_s", 4.0}, {"energy_j", 600.0}}));
  EXPECT_EQ(object["plan"]["time_s"], 5.0);
  EXPECT_EQ(object["plan"]["energy_j"], 630.0);
  EXPECT_EQ(object["plan"]["time_change_pct"], 25.0);
  ASSERT_EQ(object["plan"]["instructions"].size(), 4U);
  EXPECT_EQ(object["plan"]["instructions"][0], (json{{"stage", 0},
                                                     {"microbatch", 0},
                                                     {"instruction", "forward"},
                                                     {"frequency", 700},
                                                     {"start_s", 0.0},
                                                     {"end_s", 2.0}}));
  EXPECT_EQ(object["frontier"].size(), 2U);
  EXPECT_EQ(object["solve_s"], 0.01);
  EXPECT_EQ(object["evidence"], "published");
  EXPECT_NEAR(object["gap_pct"], 100.0 * 30.0 / 630.0, 1e-12);
}

TEST(PipelineReport, JsonLeavesOutWhatWasNotAskedFor) {
  const Sample sample;
  auto report = sample.report();
  report.deadline.reset();
  report.frontier.clear();
  const auto object = json::parse(pipeline_json(report));
  EXPECT_FALSE(object.contains("deadline_s"));
  EXPECT_FALSE(object.contains("frontier"));
}

TEST(PipelineReport, CsvHasOneRowPerInstructionWithTheProfilesCosts) {
  EXPECT_EQ(pipeline_csv(Sample().report()),
            "stage,microbatch,instruction,frequency,time,energy,start,end\n"
            "0,0,forward,700,2,80,0,2\n"
            "1,0,forward,1400,1,100,2,3\n"
            "1,0,backward,1400,1,100,3,4\n"
            "0,0,backward,1400,1,100,4,5\n");
}

TEST(PipelineReport, TraceHasATrackPerStageAndItsPowerAddsUpToTheEnergy) {
  const auto trace = json::parse(pipeline_trace(Sample().report()));
  std::map<int, double> busy_us;
  std::vector<std::pair<double, double>> power;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") busy_us[event["tid"]] += event["dur"].get<double>();
    if (event["ph"] == "C" && event["name"] == "power of all stages (W)")
      power.emplace_back(event["ts"], event["args"]["value"]);
  }
  EXPECT_EQ(busy_us, (std::map<int, double>{{1, 3e6}, {2, 2e6}}));
  double joules = 0.0;
  for (std::size_t i = 0; i + 1 < power.size(); ++i)
    joules += power[i].second * 1e-6 * (power[i + 1].first - power[i].first);
  EXPECT_NEAR(joules, 630.0, 1e-9);  // 380 J of passes and 5 stage-seconds of waiting
}

TEST(PipelineReport, StagesAddUpWithClocksAveragedOverTime) {
  const Sample sample;
  const auto uses = stage_uses(sample.problem, sample.planned);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].busy.energy, Joules(180));
  EXPECT_EQ(uses[0].busy.time, Seconds(3));
  EXPECT_EQ(uses[0].forward_mhz, 700.0);
  EXPECT_EQ(uses[0].backward_mhz, 1400.0);
}

TEST(PipelineReport, TextFitsATerminal) {
  Sample sample;
  const auto stage = sample.problem.profile.stages[0];
  sample.problem.profile.stages.resize(60, stage);
  for (std::uint32_t s = 2; s < 60; ++s)
    for (auto* plan : {&sample.baseline, &sample.planned})
      for (const auto what : trace::kPasses)
        plan->instructions.push_back(pass(s, what, 1400, 0, 1));
  sample.problem.profile.evidence.source = std::string(200, 'x') + "\x1b";
  std::istringstream stream(pipeline_text(sample.report(), false));
  std::size_t lines = 0;
  for (std::string line; std::getline(stream, line); ++lines) {
    EXPECT_LE(line.size(), 80U) << line;
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << line;
  }
  EXPECT_LE(lines, 40U);
}

TEST(PipelineReport, PageHoldsTheAnswerAndNoForeignMarkup) {
  Sample sample;
  const auto clean = pipeline_html(sample.report());
  EXPECT_NE(clean.find("<h1>This plan uses 5.00 % more energy than all stages at their highest "
                       "clocks, and takes 25.0 % longer.</h1>"),
            std::string::npos);
  EXPECT_LT(clean.size(), 300'000U);
  sample.problem.profile.name = "</script><script>alert(1)</script>";
  sample.problem.profile.evidence.source = "<img src=x>";
  auto report = sample.report();
  report.command = "<b>\"'&";
  const auto html = pipeline_html(report);
  EXPECT_EQ(std::count(html.begin(), html.end(), '<'), std::count(clean.begin(), clean.end(), '<'));
}

TEST(PipelineReport, PageDataHoldsWhatTheChartsDraw) {
  const auto html = pipeline_html(Sample().report());
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto from = html.find(open) + open.size();
  const auto data = json::parse(html.substr(from, html.find("</script>", from) - from));
  EXPECT_EQ(data["plan"][0], (json{0, 0, 0, 700, 0.0, 2.0}));
  EXPECT_EQ(data["mhz_range"], (json{700, 1400}));
  EXPECT_NEAR(data["frontier"][1][0], 25.0, 1e-9);
  EXPECT_NEAR(data["frontier"][1][1], 5.0, 1e-9);
  EXPECT_EQ(data["longest_s"], 5.0);
}

}  // namespace
}  // namespace negawatt::report
