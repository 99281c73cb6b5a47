// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using nlohmann::json;
using testing::Sample;

TEST(PlanJson, HasTheKeysThatProgramsRelyOn) {
  Sample sample;
  sample.plan.frontier = {testing::cost(2.4, 600), testing::cost(2.52, 520)};
  const auto object = json::parse(plan_json(sample.report()));
  EXPECT_EQ(object["baseline"]["time_s"], 2.5);
  EXPECT_EQ(object["baseline"]["energy_j"], 550.0);
  EXPECT_EQ(object["best_static"]["core_mhz"], "auto");
  EXPECT_EQ(object["best_static"]["memory_mhz"], "auto");
  EXPECT_EQ(object["best_static"]["time_s"], 2.5);
  EXPECT_EQ(object["best_static"]["energy_j"], 550.0);
  EXPECT_EQ(object["best_static"]["time_change_pct"], 0.0);
  EXPECT_EQ(object["best_static"]["energy_change_pct"], 0.0);
  EXPECT_EQ(object["plan"]["time_s"], 2.52);
  EXPECT_EQ(object["plan"]["energy_j"], 520.0);
  EXPECT_NEAR(object["plan"]["time_change_pct"], 0.8, 1e-12);
  EXPECT_NEAR(object["plan"]["energy_change_pct"], -60.0 / 11.0, 1e-12);
  EXPECT_EQ(object["plan"]["switches"], 3);
  EXPECT_EQ(object["bound"]["energy_j"], 520.0);
  EXPECT_EQ(object["gap_pct"], 0.0);
  EXPECT_EQ(object["frontier"][1]["time_s"], 2.52);
  EXPECT_EQ(object["frontier"][1]["energy_j"], 520.0);
  EXPECT_EQ(object["solve_s"], 0.00021);
  EXPECT_EQ(object["evidence"], "measured");
}

TEST(PlanJson, ChoicesArePerCallWithTheirCallsAndReason) {
  const Sample sample;
  const auto object = json::parse(plan_json(sample.report()));
  const auto& choices = object["plan"]["choices"];
  ASSERT_EQ(choices.size(), 3U);
  EXPECT_EQ(choices[0], (json{{"kernel", "gemm"},
                              {"group", "forward"},
                              {"calls", 2},
                              {"core_mhz", 1410},
                              {"memory_mhz", 5001},
                              {"time_s", 0.26},
                              {"energy_j", 60.0},
                              {"reason", "least-energy"},
                              {"dominated", 0},
                              {"pairs", 2}}));
  EXPECT_EQ(choices[2]["core_mhz"], "auto");
  EXPECT_FALSE(object["plan"].contains("segments"));
}

TEST(PlanJson, AScheduleHasSegmentsInsteadOfChoices) {
  Sample sample;
  sample.make_schedule();
  const auto object = json::parse(plan_json(sample.report()));
  EXPECT_FALSE(object["plan"].contains("choices"));
  const auto& segments = object["plan"]["segments"];
  ASSERT_EQ(segments.size(), 4U);
  EXPECT_EQ(segments[3], (json{{"first", 3},
                               {"last", 4},
                               {"core_mhz", "auto"},
                               {"memory_mhz", "auto"},
                               {"time_s", 1.5},
                               {"energy_j", 300.0}}));
  EXPECT_EQ(object["request"]["granularity"], "schedule");
}

TEST(PlanJson, TellsWhenToAskForWhichClocks) {
  Sample sample;
  sample.make_schedule();
  sample.plan.request.switching.core.any.latency = Seconds(0.006);
  sample.plan.request.switching.core.targets = {
      {trace::Clock::automatic(), {.latency = Seconds(0.015)}}};
  sample.plan.request.switching.memory.any.latency = Seconds(0.1);
  const auto execution = json::parse(plan_json(sample.report()))["execution"];
  EXPECT_EQ(execution["kernels"], (json{"gemm", "gelu", "adam"}));
  EXPECT_EQ(execution["sequence"], (json{0, 1, 0, 1, 2}));
  EXPECT_EQ(execution["time_s"], (json{0.26, 0.5, 0.26, 0.5, 1.0}));
  ASSERT_EQ(execution["segments"].size(), 4U);
  EXPECT_EQ(execution["segments"][0]["core_lead_s"], 0.006);  // after the last of the one before
  EXPECT_EQ(execution["segments"][1]["core_lead_s"], 0.015);
  EXPECT_EQ(execution["segments"][1]["memory_lead_s"], 0.1);
  // Nothing is asked for where nothing changes.
  sample.plan.segments = {{0, 4, testing::kAuto, testing::cost(2.5, 550)}};
  const auto still = json::parse(plan_json(sample.report()))["execution"]["segments"];
  EXPECT_EQ(still[0]["core_lead_s"], 0.0);
  EXPECT_EQ(still[0]["memory_lead_s"], 0.0);
}

TEST(PlanJson, WhatIsUnknownIsAbsent) {
  Sample sample;
  sample.plan.best_static.reset();
  sample.plan.budget.reset();
  sample.plan.local.reset();
  sample.table.evidence = {};
  const auto text = plan_json(sample.report());
  const auto object = json::parse(text);
  for (const char* key :
       {"best_static", "budget_s", "price_w", "local", "frontier", "promise", "evidence_from"})
    EXPECT_FALSE(object.contains(key)) << key;
  EXPECT_EQ(object["evidence"], "unstated");
  EXPECT_EQ(text.find("null"), std::string::npos);
}

TEST(PlanJson, APromiseCarriesItsConfidence) {
  Sample sample;
  sample.plan.promise = solve::Promise{.confidence = 0.95,
                                       .expected = testing::cost(2.53, 525),
                                       .expected_sd = testing::cost(0.01, 2),
                                       .time_at_confidence = Seconds(2.55),
                                       .searched = testing::cost(2.52, 520)};
  const auto promise = json::parse(plan_json(sample.report()))["promise"];
  EXPECT_EQ(promise["confidence"], 0.95);
  EXPECT_EQ(promise["time_at_confidence_s"], 2.55);
  EXPECT_EQ(promise["expected"]["energy_j"], 525.0);
  EXPECT_EQ(promise["expected_sd"]["energy_j"], 2.0);
  EXPECT_EQ(promise["searched"]["energy_j"], 520.0);
}

TEST(PlanJson, NamesThatAreNoUtf8StillGiveValidJson) {
  Sample sample;
  sample.table.kernels[0].name = testing::kHostileName;
  const auto object = json::parse(plan_json(sample.report()));
  const std::string name = object["plan"]["choices"][0]["kernel"];
  EXPECT_EQ(name.find("</script>"), 0U);  // kept as it is: JSON needs no HTML escaping
}

TEST(PlanJson, NumbersReadBackAsTheSameDoubles) {
  Sample sample;
  sample.plan.total = testing::cost(2.0 / 3.0, 1.0 / 3.0);
  const auto object = json::parse(plan_json(sample.report()));
  EXPECT_EQ(object["plan"]["time_s"].get<double>(), 2.0 / 3.0);
  EXPECT_EQ(object["plan"]["energy_j"].get<double>(), 1.0 / 3.0);
}

}  // namespace
}  // namespace negawatt::report
