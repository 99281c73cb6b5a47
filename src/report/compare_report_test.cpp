// SPDX-License-Identifier: Apache-2.0
#include "report/compare_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/csv.hpp"
#include "report/compare_sample_for_test.hpp"

namespace negawatt::report {
namespace {

using nlohmann::json;

std::vector<ComparedRun> sample_runs() {
  auto late = governed_run("late", 1.5, -9);
  late.late = 3;
  late.most_late = Seconds(0.002);
  return {watched_run(), governed_run("good", 1.1, -9.9), late};
}

json page_data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto from = html.find(open) + open.size();
  return json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST(CompareReport, JsonHasTheKeysThatProgramsRelyOn) {
  const auto runs = sample_runs();
  const auto object = json::parse(compare_json(report_on(runs)));
  EXPECT_EQ(object["baseline"], (json{{"run", "auto"},
                                      {"iterations", 20},
                                      {"time_s", 2.0},
                                      {"time_sd_s", 0.002},
                                      {"energy_j", 500.0},
                                      {"energy_sd_j", 0.5}}));
  ASSERT_EQ(object["runs"].size(), 3U);
  const auto& late = object["runs"][2];
  EXPECT_EQ(late["run"], "late");
  EXPECT_EQ(late["file"], "runs/late.json");
  EXPECT_NEAR(late["promised"]["energy_change_pct"], -10.0, 1e-9);
  EXPECT_NEAR(late["achieved"]["energy_change_pct"], -9.0, 1e-9);
  EXPECT_EQ(late["achieved"]["against"], "run");
  EXPECT_NEAR(late["best_static"]["energy_change_pct"], -6.0, 1e-9);
  EXPECT_NEAR(late["bound"]["energy_change_pct"], -12.0, 1e-9);
  EXPECT_NEAR(late["difference"]["energy_points"], 1.0, 1e-9);
  EXPECT_NEAR(late["difference"]["time_points"], 0.5, 1e-9);
  EXPECT_NEAR(late["difference"]["energy_against_best_static_points"], -3.0, 1e-9);
  EXPECT_EQ(late["why"]["late"], 3);
  EXPECT_EQ(late["evidence"], "simulated");
  EXPECT_EQ(late["promised_evidence"], "published");
}

TEST(CompareReport, JsonLeavesOutWhatIsUnknown) {
  std::vector runs = {governed_run("a", 1, -10)};
  runs[0].achieved.energy.reset();
  runs[0].bound.reset();
  const auto object = json::parse(compare_json(report_on(runs)));
  EXPECT_FALSE(object.contains("baseline"));
  const auto& run = object["runs"][0];
  EXPECT_EQ(run["achieved"]["against"], "table");
  EXPECT_FALSE(run["achieved"].contains("energy_change_pct"));
  EXPECT_FALSE(run["difference"].contains("energy_points"));
  EXPECT_FALSE(run.contains("bound"));
}

TEST(CompareReport, CsvHasOneRowPerRunThatReadsBack) {
  auto runs = sample_runs();
  runs[1].label = "a, \"b\"";
  runs[2].achieved.energy_error.reset();
  const auto csv = compare_csv(report_on(runs));
  CsvReader reader(csv, "runs.csv");
  ASSERT_TRUE(reader.read_header());
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.field(reader.find("promised_time_s")), "") << "nothing was promised of it";
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.field(reader.find("run")), "a, \"b\"");
  EXPECT_NEAR(*reader.number(reader.find("energy_difference_points")), 0.1, 1e-9);
  EXPECT_NEAR(*reader.number(reader.find("bound_energy_change_pct")), -12.0, 1e-9);
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.field(reader.find("achieved_energy_sd_j")), "");
  EXPECT_EQ(reader.field(reader.find("achieved_energy_change_sd_pct")), "");
  EXPECT_EQ(reader.field(reader.find("late")), "3");
  EXPECT_FALSE(reader.next().value());
}

TEST(CompareReport, TextHoldsEveryRunInEightyColumns) {
  auto runs = sample_runs();
  runs[1].label = std::string(100, 'x');
  runs[2].refused = 1;
  runs[2].last_refusal = std::string(200, 'y') + "\x1b[31m";
  runs[2].changes = 123'456'789;
  const auto text = compare_text(report_on(runs), false);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << line;
  }
  EXPECT_NE(text.find("late                    -10.00 %   -9.00 %    0.14      +1.00   -6.00 % "
                      "-12.00 %\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("late: misses its promise: 1.00 points more energy, 0.50 points more time;"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Evidence: achieved simulated, promised published."), std::string::npos);
}

TEST(CompareReport, PageHoldsTheAnswerAndNoForeignMarkup) {
  const auto clean_runs = sample_runs();
  const auto clean = compare_html(report_on(clean_runs));
  EXPECT_NE(clean.find("<h1>late misses its promise by 1.00 points; the other one is kept.</h1>"),
            std::string::npos);
  EXPECT_LT(clean.size(), 300'000U);
  auto runs = sample_runs();
  for (auto& run : runs)
    run.label = run.file = run.gpu = run.plan_file = run.command = "</script><img src=x>\"'&";
  auto report = report_on(runs);
  report.command = "<b>";
  const auto html = compare_html(report);
  EXPECT_EQ(std::count(html.begin(), html.end(), '<'), std::count(clean.begin(), clean.end(), '<'));
  runs[2].refused = 1;
  runs[2].last_refusal = "<img src=x>";
  EXPECT_EQ(compare_html(report).find("<img"), std::string::npos);
}

TEST(CompareReport, PageDataHoldsWhatTheChartsDraw) {
  auto runs = sample_runs();
  runs[2].bound.reset();
  const auto data = page_data_of(compare_html(report_on(runs)));
  EXPECT_EQ(data["runs"], (json{"good", "late"})) << "the baseline is the charts' zero";
  EXPECT_NEAR(data["energy"]["promised"][1], -10.0, 1e-9);
  EXPECT_NEAR(data["energy"]["achieved"][1], -9.0, 1e-9);
  EXPECT_NEAR(data["energy"]["errors"][1], 0.1353, 1e-3);
  EXPECT_NEAR(data["energy"]["best_static"][1], -6.0, 1e-9);
  EXPECT_NEAR(data["energy"]["bound"][0], -12.0, 1e-9);
  EXPECT_TRUE(data["energy"]["bound"][1].is_null());
  EXPECT_NEAR(data["time"]["achieved"][0], 1.1, 1e-9);
}

TEST(CompareReport, PageShowsWhereTheLastRunLeavesItsPlan) {
  const auto runs = sample_runs();
  const auto html = compare_html(report_on(runs));
  const auto from = html.find("id=\"segments\"");
  ASSERT_NE(from, std::string::npos);
  const auto table = html.substr(from, html.find("</table>", from) - from);
  const auto farthest = table.find("<th scope=\"row\">4</th>");
  const auto next = table.find("<th scope=\"row\">0 to 3</th>");
  ASSERT_NE(farthest, std::string::npos) << table;
  ASSERT_NE(next, std::string::npos) << table;
  EXPECT_LT(farthest, next);
  EXPECT_NE(table.find("&minus;50.0&nbsp;ms"), std::string::npos) << table;
  EXPECT_NE(table.find("+10.2&nbsp;ms"), std::string::npos) << table;
  EXPECT_EQ(table.find("5 to 9"), std::string::npos) << "was never timed";
}

TEST(CompareReport, ARunWithoutAnythingMeasuredStillMakesAPage) {
  std::vector runs = {governed_run("a", 1, -10)};
  runs[0].achieved = {};
  runs[0].segments.clear();
  runs[0].best_static.reset();
  const auto html = compare_html(report_on(runs));
  EXPECT_NE(html.find("there is no promise to judge"), std::string::npos);
  EXPECT_EQ(html.find("id=\"segments\""), std::string::npos);
  EXPECT_TRUE(page_data_of(html)["energy"]["achieved"][0].is_null());
}

}  // namespace
}  // namespace negawatt::report
