// SPDX-License-Identifier: Apache-2.0
#include "report/assign_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace negawatt::report {
namespace {

using ::testing::HasSubstr;

trace::SystemRun run(std::uint32_t input, std::uint32_t output, double joules, double seconds) {
  return {{input, output}, {.time = Seconds(seconds), .energy = Joules(joules)}};
}

/// Small is cheaper for (8, 8) alone.
trace::SystemTable systems(std::string small = "small") {
  trace::SystemTable table{.evidence = {EvidenceKind::measured, "wall meter"}, .name = "s.csv"};
  table.systems.push_back(
      {.name = std::move(small),
       .model = "m",
       .runs = {run(8, 8, 1, 4), run(8, 64, 12, 40), run(64, 8, 9, 12), run(64, 64, 40, 90)}});
  table.systems.push_back(
      {.name = "large",
       .model = "m",
       .runs = {run(8, 8, 4, 1), run(8, 64, 10, 5), run(64, 8, 6, 1), run(64, 64, 16, 6)}});
  return table;
}

plan::AssignPlan plan_of(const trace::SystemTable& table, std::vector<trace::RequestSize> sizes,
                         const plan::AssignRequest& request = {}) {
  std::vector<trace::Request> requests;
  for (const auto size : sizes)
    requests.push_back({.input_tokens = size.input_tokens, .output_tokens = size.output_tokens});
  return plan::plan_assignment(table, plan::workload_of(requests), request).value();
}

std::string text_of(const plan::AssignPlan& plan) {
  return assign_text({.plan = plan, .solve_time = Seconds(0.25)}, false);
}

void expect_fits_a_terminal(const std::string& text) {
  EXPECT_LE(std::ranges::count(text, '\n'), 40);
  std::size_t start = 0;
  for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 80U) << text.substr(start, end - start);
  EXPECT_TRUE(
      std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST(AssignReport, SaysWhatIsSavedAgainstTheBestSingleSystem) {
  const auto plan = plan_of(systems(), {{8, 8}, {8, 8}, {64, 64}});
  const auto text = text_of(plan);
  expect_fits_a_terminal(text);
  // 1 + 1 + 16 J against 4 + 4 + 16 J; 14 s against 8 s.
  EXPECT_THAT(text,
              HasSubstr("-25.00 % of energy for 3 requests, and takes 75.0 % longer, against"));
  EXPECT_THAT(text, HasSubstr("optimal"));
  EXPECT_THAT(text, HasSubstr("both-thresholds in<=8 out<=8:small"));
  EXPECT_THAT(text, HasSubstr("Requests by system: small 66.7 %, large 33.3 %."));
  EXPECT_THAT(text, HasSubstr("proven optimal"));
  EXPECT_THAT(text, HasSubstr("Evidence: measured, wall meter"));
}

TEST(AssignReport, SaysThatThereIsNothingToGain) {
  const auto plan = plan_of(systems(), {{64, 64}, {8, 64}});
  EXPECT_THAT(text_of(plan),
              HasSubstr("Nothing to gain: optimal saves less than 0.005 % of energy"));
}

TEST(AssignReport, SaysHowMuchIsExtrapolatedAndWhatIsOver) {
  const auto plan = plan_of(
      systems(), {{8, 8}, {8, 8}, {8, 9'000}},
      {.rule = plan::AssignRule::all, .system = "small", .capacities = {{"small", 0.5, true}}});
  const auto text = text_of(plan);
  expect_fits_a_terminal(text);
  EXPECT_THAT(text, HasSubstr("all:small (over)"));
  EXPECT_THAT(text, HasSubstr("This policy knows no capacities, and exceeds one."));
  EXPECT_THAT(text, HasSubstr("1 of the requests lie beyond the measured sizes"));
  EXPECT_THAT(text, HasSubstr("Evidence: modelled, inter- and extrapolated"));
}

TEST(AssignReport, KeepsForeignNamesHarmlessAndInFormat) {
  const auto plan = plan_of(systems("caf\xC3\xA9 with a very long name that does not fit anywhere"),
                            {{8, 8}, {64, 64}});
  expect_fits_a_terminal(text_of(plan));
}

TEST(AssignReport, JsonHasTheStableKeys) {
  const auto plan =
      plan_of(systems(), {{8, 8}, {8, 8}, {64, 64}}, {.rule = plan::AssignRule::both_thresholds});
  const auto json = nlohmann::json::parse(
      assign_json({.plan = plan, .command = "negawatt assign", .solve_time = Seconds(0.25)}));
  EXPECT_DOUBLE_EQ(json["energy_j"], 18.0);
  EXPECT_DOUBLE_EQ(json["runtime_s"], 14.0);
  EXPECT_DOUBLE_EQ(json["objective"], 18.0);
  EXPECT_DOUBLE_EQ(json["share"]["small"], 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(json["share"]["large"], 1.0 / 3.0);
  EXPECT_EQ(json["threshold"]["input_tokens"], 8);
  EXPECT_EQ(json["threshold"]["output_tokens"], 8);
  EXPECT_EQ(json["threshold"]["small"], "small");
  for (const auto* name : {"optimal", "all:small", "all:large", "random", "round-robin",
                           "input-threshold", "output-threshold", "follow-up"})
    EXPECT_GT(json["baselines"][name]["energy_j"], 0.0) << name;
  EXPECT_DOUBLE_EQ(json["baselines"]["all:large"]["runtime_s"], 8.0);
  EXPECT_NEAR(json["bound"]["objective"], 18.0, 1e-9);
  EXPECT_DOUBLE_EQ(json["solve_s"], 0.25);
  EXPECT_EQ(json["evidence"], "measured");
}

}  // namespace
}  // namespace negawatt::report
