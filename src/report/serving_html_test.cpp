// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "report/serving_data.hpp"
#include "report/serving_report.hpp"
#include "report/serving_sample_for_test.hpp"

namespace negawatt::report {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto from = html.find(open) + open.size();
  return json::parse(html.substr(from, html.find("</script>", from) - from));
}

/// Not a matcher: a failure would print the page with its chart library.
bool has(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

std::string page_of(const std::vector<ServedRun>& runs) { return serving_html(report_on(runs)); }

std::vector<ServedRun> three_policies() {
  return {by_load(200, 3), by_work(90, 4), by_one_device(100, 2), by_clairvoyant(80, 5)};
}

TEST(ServingPage, HoldsThePointsOfItsCharts) {
  const auto data = data_of(page_of(three_policies()));
  ASSERT_EQ(data["policies"].size(), 4U);
  const auto& best = data["policies"][1];
  EXPECT_EQ(best["name"], "negawatt");
  EXPECT_EQ(best["standing"], "keeps");
  EXPECT_EQ(best["energy_j"], 90.0);
  EXPECT_EQ(best["p99_s"], 4.0);
  EXPECT_EQ(data["policies"][0]["standing"], "clairvoyant");
  EXPECT_EQ(data["front"], json({2, 1})) << "h100 alone and negawatt, the faster first";
  EXPECT_EQ(data["bound_j"], 50.0);
  EXPECT_EQ(data["demanded_pct"], 99.0);
  EXPECT_EQ(data["shares"].size(), best["e2e_s"].size());
  EXPECT_TRUE(data["sensitivity"].empty());
}

TEST(ServingPage, SharesOfTheWorkAddUp) {
  const auto data = data_of(page_of(three_policies()));
  const double energies[] = {80, 90, 100, 200};
  for (std::size_t policy = 0; policy < 4; ++policy) {
    double requests = 0;
    double tokens = 0;
    double energy = 0;
    for (const auto& part : data["work"]) {
      requests += part["requests_pct"][policy].get<double>();
      tokens += part["tokens_pct"][policy].get<double>();
      energy += part["energy_j"][policy].get<double>();
    }
    EXPECT_DOUBLE_EQ(requests, 100);
    EXPECT_DOUBLE_EQ(tokens, 100);
    EXPECT_DOUBLE_EQ(energy, energies[policy]);
  }
  EXPECT_EQ(data["work"][0]["requests_pct"][0], 75.0);
}

TEST(ServingPage, ShowsALargeClusterByDeviceType) {
  auto run = by_work(100);
  run.instances.clear();
  for (int i = 0; i < 90; ++i)
    run.instances.push_back(
        {"i" + std::to_string(i), i % 3 == 0 ? "h100" : "l4", 10, 100, Joules(1)});
  const auto data = data_of(page_of({run}));
  ASSERT_EQ(data["work"].size(), 2U);
  EXPECT_EQ(data["work"][0]["name"], "h100");
  EXPECT_EQ(data["work"][0]["energy_j"][0], 30.0);
  EXPECT_EQ(data["work"][1]["energy_j"][0], 60.0);
}

TEST(ServingPage, LeavesOutQuantilesThatSoFewValuesCannotTell) {
  auto run = by_work(100);
  run.e2e.count = 10;
  const auto data = data_of(page_of({run}));
  const auto size = data["policies"][0]["e2e_s"].size();
  ASSERT_GT(size, 0U);
  EXPECT_EQ(data["shares"][size - 1], 0.9) << "of ten values the greatest begins there";
}

TEST(ServingPage, ShowsWhatWasVariedAndNothingElse) {
  std::vector<ServedRun> runs;
  for (const double speed : {2.0, 1.0})
    for (auto run : {by_work(100 / speed), by_load(200 / speed)}) {
      run.speed = speed;
      runs.push_back(run);
    }
  auto page = page_of(runs);
  auto data = data_of(page);
  ASSERT_EQ(data["sensitivity"].size(), 1U);
  const auto& line = data["sensitivity"]["speed"][0];
  EXPECT_EQ(line["name"], "negawatt");
  EXPECT_EQ(line["points"][0]["x"], 1.0);
  EXPECT_EQ(line["points"][1]["x"], 2.0);
  EXPECT_DOUBLE_EQ(line["points"][1]["energy"].get<double>(), 0.005);
  EXPECT_EQ(line["points"][1]["slo"], 100.0);
  EXPECT_TRUE(has(page, "id=\"speed-energy\""));
  EXPECT_FALSE(has(page, "id=\"lambda-energy\""));

  runs = three_policies();
  runs.push_back(by_work(70));
  runs.back().cluster = 1;
  data = data_of(page_of(runs));
  EXPECT_EQ(data["sensitivity"]["cluster"][1]["points"][1]["x"], "small");
  EXPECT_FALSE(has(page_of(three_policies()), "id=\"sensitivity-title\""));
}

TEST(ServingPage, SaysItsVerdictItsSeedsAndThatAllIsSimulated) {
  const auto page = page_of(three_policies());
  EXPECT_TRUE(has(page, "<h1>negawatt needs 10&nbsp;% less energy than h100 alone"));
  EXPECT_TRUE(has(page, "Every figure is simulated from modelled devices and the requests"));
  EXPECT_TRUE(has(page, "a p99 latency of 4.00&nbsp;s instead of 2.00&nbsp;s; both"));
  EXPECT_TRUE(has(page, "energy &minus;10.0&nbsp;%, p99 latency +100&nbsp;%, mean"));
  EXPECT_TRUE(has(page, "One seed, 1:"));
  EXPECT_TRUE(has(page, "H100: checked"));
  auto again = three_policies();
  for (auto& run : again) run.seed = 2;
  const auto first = three_policies();
  again.insert(again.end(), first.begin(), first.end());
  EXPECT_TRUE(has(page_of(again), "2, 1. Energies are means"));
}

TEST(ServingPage, EscapesEveryNameWhereverItStands) {
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&\x01";
  auto runs = three_policies();
  for (auto& run : runs) {
    run.policy += evil;
    run.device = run.kind == ServingPolicyKind::one_device ? evil : "";
    run.family = evil;
    run.classes = {{evil, 1, 1.0, Seconds(1)}, {evil + "2", 1, 1.0, Seconds(1)}};
    run.instances[0].name = evil;
    run.instances[0].device_type = evil;
  }
  const std::vector<ServingCluster> clusters = {{evil, evil, evil}};
  const auto page = serving_html({.runs = runs,
                                  .clusters = clusters,
                                  .requests_name = evil,
                                  .command = evil,
                                  .version = "0.1.0"});
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  const auto data = data_of(page);
  EXPECT_THAT(data["policies"][1]["name"].get<std::string>(), HasSubstr("</script><img src=x"));
}

TEST(ServingPage, FetchesNothing) {
  const auto page = page_of(three_policies());
  for (const auto* what : {"<link", "src=", "@import", "fetch("})
    EXPECT_FALSE(has(page, what)) << what;
}

TEST(ServingPage, ShowsWhatEachOfSeveralClassesMet) {
  auto run = by_work(100);
  run.classes = {{"chat", 600, 0.97, Seconds(2)},
                 {"code", 400, std::nullopt, Seconds(9)},
                 {"none", 0, std::nullopt, std::nullopt}};
  auto again = run;
  again.seed = 2;
  again.classes[0] = {"chat", 602, 0.95, Seconds(3)};
  const auto page = page_of({run, again});
  EXPECT_TRUE(has(page, "<bdi>chat</bdi><span class=\"clocks\">601 requests</span>"));
  EXPECT_TRUE(has(page,
                  "<td class=\"n \">95.00&nbsp;%</td><td class=\"n \">3.00&nbsp;s</td>"
                  "<td class=\"n \">no SLO</td><td class=\"n \">9.00&nbsp;s</td></tr>"))
      << "the least attainment and the longest latency of the seeds";
  EXPECT_FALSE(has(page, "<bdi>none</bdi>"));
  run.classes.resize(1);
  EXPECT_FALSE(has(page_of({run}), "Classes of requests"));
}

TEST(ServingPage, StandsWithoutAnyRequestServed) {
  auto run = by_work(100);
  run.completed = 0;
  run.output_tokens = 0;
  run.ttft = run.tbt = run.e2e = ServedLatency{};
  run.bound = Joules();
  const auto page = page_of({run, by_load(100)});
  const auto text = page.substr(page.find("<body>"), page.find("<script>"));
  EXPECT_FALSE(has(text, "nan "));
  EXPECT_FALSE(has(text, "inf"));
  EXPECT_FALSE(data_of(page)["policies"][1]["served"].get<bool>());
}

}  // namespace
}  // namespace negawatt::report
