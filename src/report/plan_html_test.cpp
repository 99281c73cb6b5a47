// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "report/page.hpp"
#include "report/report.hpp"
#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using testing::Sample;

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const auto start = text.find(open);
  EXPECT_NE(start, std::string::npos) << open;
  const auto from = start + open.size();
  return text.substr(from, text.find(close, from) - from);
}

nlohmann::json data_of(const std::string& html) {
  return nlohmann::json::parse(
      between(html, "<script type=\"application/json\" id=\"data\">", "</script>"));
}

/// The page without its scripts and style sheet, which are the same for every plan.
std::string markup_of(std::string html) {
  for (const auto part : {chart_js(), common_js(), plan_js(), page_css()}) {
    const auto at = html.find(part);
    EXPECT_NE(at, std::string::npos);
    html.erase(at, part.size());
  }
  return html;
}

TEST(PlanHtml, AnswersTheFirstQuestionsWithoutAScript) {
  const auto html = markup_of(plan_html(Sample().report()));
  EXPECT_NE(html.find("<h1>This plan uses 5.45 % less energy than the driver&#39;s default clocks, "
                      "and takes 0.800 % longer.</h1>"),
            std::string::npos);
  EXPECT_EQ(occurrences(html, "<dt>") -
                occurrences(between(html, "<dl class=\"notes\">", "</dl>"), "<dt>"),
            5U);  // tiles
  EXPECT_NE(html.find("&minus;5.45&nbsp;%"), std::string::npos);
  EXPECT_NE(html.find("<span class=\"badge\">measured</span>"), std::string::npos);
  EXPECT_NE(html.find("NVML energy counter, 1 s windows"), std::string::npos);
  EXPECT_NE(html.find("<code>negawatt plan kernels.csv --slowdown 1</code>"), std::string::npos);
  EXPECT_NE(html.find("negawatt 0.1.0"), std::string::npos);
  EXPECT_EQ(occurrences(between(html, "id=\"yardsticks\"", "</table>"), "<tr class="), 6U);
  EXPECT_EQ(occurrences(between(html, "id=\"kernels\"", "</table>"), "<bdi>"), 6U);
  EXPECT_EQ(html.find("{{"), std::string::npos);
}

TEST(PlanHtml, LoadsNothing) {
  const auto html = plan_html(Sample().report());
  EXPECT_NE(html.find("content=\"default-src 'none';"), std::string::npos);
  const auto markup = markup_of(html);
  EXPECT_FALSE(std::regex_search(markup, std::regex(R"(\b(src|href|action)\s*=|url\(|://)")));
  EXPECT_EQ(occurrences(markup, "<link"), 0U);
  EXPECT_EQ(occurrences(markup, "<img"), 0U);
  for (const auto asset : {page_css(), common_js(), plan_js(), pipeline_js()})
    for (const char* loader : {"url(", "@import", "fetch(", "XMLHttp", "http:", "https:", "src="})
      EXPECT_EQ(occurrences(asset, loader), 0U) << loader;
  for (const char* loader : {"fetch(", "XMLHttp", "importScripts", "WebSocket", "sendBeacon"})
    EXPECT_EQ(occurrences(chart_js(), loader), 0U) << loader;
}

TEST(PlanHtml, NoForeignTextBecomesMarkup) {
  const Sample clean;
  const auto expected = plan_html(clean.report());
  Sample hostile;
  for (auto& kernel : hostile.table.kernels) kernel.name = kernel.name + testing::kHostileName;
  for (auto& kernel : hostile.table.kernels) kernel.group = kernel.group + testing::kHostileName;
  hostile.table.name = testing::kHostileName;
  hostile.table.evidence.source = testing::kHostileName;
  auto report = hostile.report();
  report.command = testing::kHostileName;
  report.version = testing::kHostileName;
  const auto html = plan_html(report);
  // As many elements as with harmless names, and nothing that hides or turns text.
  EXPECT_EQ(occurrences(html, "<"), occurrences(expected, "<"));
  EXPECT_EQ(occurrences(html, "</script>"), occurrences(expected, "</script>"));
  for (const char* bytes : {"\xE2\x80\xAE", "\x1b", "\xff", "\xE2\x80\xA8", "<script>alert"})
    EXPECT_EQ(occurrences(html, bytes), 0U);
  // The data still holds the name, for the tooltips.
  const std::string name = data_of(html)["kernels"][0]["name"];
  EXPECT_NE(name.find("</script><script>alert(1)</script>\"'&<!--"), std::string::npos);
}

TEST(PlanHtml, DataHoldsWhatTheChartsDraw) {
  Sample sample;
  sample.plan.frontier = {testing::cost(2.4, 605), testing::cost(2.52, 520)};
  const auto data = data_of(plan_html(sample.report()));
  EXPECT_EQ(data["frontier"].size(), 2U);
  EXPECT_NEAR(data["frontier"][0][0], -4.0, 1e-9);
  EXPECT_NEAR(data["frontier"][0][1], 10.0, 1e-9);
  EXPECT_EQ(data["marks"].size(), 6U);
  EXPECT_EQ(data["marks"][4]["key"], "plan");
  EXPECT_NEAR(data["marks"][4]["at"][0], 0.8, 1e-9);
  EXPECT_NEAR(data["marks"][5]["at"][0], 1.0, 1e-9);  // the bound is drawn at the budget
  EXPECT_EQ(data["groups"][0]["baseline_j"], 350.0);
  EXPECT_EQ(data["groups"][0]["planned_j"], 320.0);
  EXPECT_EQ(data["lanes"].size(), 4U);
  EXPECT_NEAR(data["time_s"], 2.52, 1e-12);
  EXPECT_NEAR(data["lanes"][2]["ends_s"].back(), 2.52, 1e-12);
}

TEST(PlanHtml, StaysSmallForLongSequencesAndManyKernels) {
  EXPECT_LT(plan_html(Sample().report()).size(), 300'000U);
  Sample sample;
  sample.table.kernels.clear();
  sample.plan.choices.clear();
  sample.sequence.clear();
  sample.plan.segments.clear();
  sample.plan.baseline = testing::cost(100, 100);
  for (std::uint32_t k = 0; k < 1'000; ++k)
    sample.table.kernels.push_back({"kernel " + std::to_string(k),
                                    "group",
                                    100,
                                    {testing::option(testing::kAuto, 0.001, 0.001),
                                     testing::option(testing::kLow, 0.001, 0.001)}});
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    sample.sequence.push_back(i % 1'000);
    sample.plan.segments.push_back(
        {i, i, i % 2 == 0 ? testing::kAuto : testing::kLow, testing::cost(0.001, 0.001)});
  }
  for (std::uint32_t p = 0; p < 100'000; ++p)
    sample.plan.frontier.push_back(testing::cost(100.0 + p, 100.0 / (1.0 + p)));
  const auto html = plan_html(sample.report());
  EXPECT_LT(html.size(), 1'200'000U);
  const auto data = data_of(html);
  EXPECT_EQ(data["frontier"].size(), 1'000U);
  EXPECT_NEAR(data["frontier"].back()[0], 99'999.0, 1e-6);  // both ends stay
  EXPECT_LE(data["lanes"][1]["ends_s"].size(), 2'000U);
  EXPECT_NE(html.find("Too many to draw one by one"), std::string::npos);
  EXPECT_NE(html.find("Shown are the 500 that save most of 1,000 kernels"), std::string::npos);
}

TEST(PlanHtml, SaysHonestlyWhenNothingIsToGainAndWhenChangesAreFree) {
  Sample sample;
  EXPECT_NE(plan_html(sample.report()).find("clock changes as free and instant"),
            std::string::npos);
  sample.make_schedule();
  EXPECT_EQ(plan_html(sample.report()).find("as free and instant"), std::string::npos);
  sample.plan.segments = {{0, 4, testing::kAuto, testing::cost(2.5, 550)}};
  sample.plan.total = sample.plan.baseline;
  sample.plan.bound = sample.plan.baseline.energy;
  sample.plan.switches = 0;
  const auto html = plan_html(sample.report());
  EXPECT_NE(html.find("<h1>Nothing to gain here"), std::string::npos);
  EXPECT_NE(html.find("changes no clock within an iteration"), std::string::npos);
}

TEST(PlanHtml, ShowsWhatMayBePromised) {
  Sample sample;
  EXPECT_EQ(plan_html(sample.report()).find("What may be promised"), std::string::npos);
  sample.plan.promise = solve::Promise{.confidence = 0.95,
                                       .expected = testing::cost(2.53, 525),
                                       .expected_sd = testing::cost(0.01, 2),
                                       .time_at_confidence = Seconds(2.55),
                                       .searched = testing::cost(2.52, 520)};
  const auto html = plan_html(sample.report());
  EXPECT_NE(html.find("With 95.0 % confidence an iteration takes at most 2.550&nbsp;s."),
            std::string::npos);
  EXPECT_NE(html.find("&minus;4.55&nbsp;%"), std::string::npos);
}

TEST(Page, FillsPlacesOnceAndDoesNotSearchWhatItFilledIn) {
  EXPECT_EQ(filled("a{{x}}b{{y}}{{x}}", {{"x", "{{y}}"}, {"y", "2"}}), "a{{y}}b2{{y}}");
}

TEST(PageDeathTest, RefusesAPlaceThatNobodyFills) {
  EXPECT_DEATH(static_cast<void>(filled("a{{z}}", {{"x", ""}})), "filling != fillings.end");
}

}  // namespace
}  // namespace negawatt::report
