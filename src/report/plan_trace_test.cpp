// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/sample_report_for_test.hpp"

namespace negawatt::report {
namespace {

using nlohmann::json;
using testing::Sample;

std::vector<json> events_of(const ClockReport& report, const std::string& phase) {
  const auto text = plan_trace(report);
  EXPECT_TRUE(text) << text.error().message;
  const auto trace = json::parse(*text);
  std::vector<json> events;
  for (const auto& event : trace["traceEvents"])
    if (event["ph"] == phase) events.push_back(event);
  return events;
}

/// Span events by track, in nanoseconds: exact integers.
struct Span {
  std::int64_t start;
  std::int64_t end;
};
std::map<int, std::vector<Span>> spans_of(const ClockReport& report) {
  std::map<int, std::vector<Span>> tracks;
  for (const auto& event : events_of(report, "X")) {
    const auto start = std::llround(event["ts"].get<double>() * 1000.0);
    tracks[event["tid"]].push_back(
        {start, start + std::llround(event["dur"].get<double>() * 1000.0)});
  }
  return tracks;
}

TEST(PlanTrace, KernelsAndSegmentsEachFillTheIterationWithoutGaps) {
  const Sample sample;
  const auto tracks = spans_of(sample.report());
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks.at(1).size(), 5U);
  EXPECT_EQ(tracks.at(2).size(), 4U);
  for (const auto& [track, spans] : tracks) {
    std::int64_t at = 0;
    for (const auto& span : spans) {
      EXPECT_EQ(span.start, at);
      at = span.end;
    }
    EXPECT_EQ(at, 2'520'000'000) << "track " << track;
  }
}

TEST(PlanTrace, BoundariesAgreeWhenTimesAreNoWholeNanoseconds) {
  Sample sample;
  for (auto& kernel : sample.table.kernels)
    for (auto& option : kernel.options) option.time = option.time / 3e6;  // thirds of a microsecond
  const auto tracks = spans_of(sample.report());
  const auto& kernels = tracks.at(1);
  const auto& segments = tracks.at(2);
  for (std::size_t s = 0; s < segments.size(); ++s) {
    EXPECT_EQ(segments[s].start, kernels[sample.plan.segments[s].first].start);
    EXPECT_EQ(segments[s].end, kernels[sample.plan.segments[s].last].end);
  }
  EXPECT_EQ(segments.back().end, 840);  // 2.52 s / 3e6
}

TEST(PlanTrace, EventsCarryNamesClocksAndEnergy) {
  const Sample sample;
  const auto spans = events_of(sample.report(), "X");
  EXPECT_EQ(spans[0]["name"], "gemm");
  EXPECT_EQ(spans[0]["args"]["core"], "1410 MHz");
  EXPECT_EQ(spans[0]["args"]["energy_j"], 60.0);
  EXPECT_EQ(spans[5]["name"], "core 1410 MHz, memory 5001 MHz");
  EXPECT_EQ(spans[6]["name"], "core auto, memory auto");
}

TEST(PlanTrace, CountersChangeWithTheClocksAndThePower) {
  const Sample sample;
  std::map<std::string, std::vector<std::pair<double, double>>> counters;
  for (const auto& event : events_of(sample.report(), "C"))
    counters[event["name"]].emplace_back(event["ts"], event["args"]["value"]);
  using Samples = std::vector<std::pair<double, double>>;
  EXPECT_EQ(counters["core clock (MHz, 0 = auto)"],
            (Samples{{0.0, 1410}, {260000, 0}, {760000, 1410}, {1020000, 0}}));
  EXPECT_EQ(counters["memory clock (MHz, 0 = auto)"],
            (Samples{{0.0, 5001}, {260000, 0}, {760000, 5001}, {1020000, 0}}));
  // gemm 60 J / 0.26 s, gelu and adam 200 W; the last sample ends the counter.
  EXPECT_EQ(
      counters["power (W)"],
      (Samples{{0.0, 230.8}, {260000, 200}, {760000, 230.8}, {1020000, 200}, {2520000, 200}}));
}

TEST(PlanTrace, IsValidJsonWhateverTheKernelsAreCalled) {
  Sample sample;
  sample.table.kernels[0].name = testing::kHostileName;
  sample.table.evidence.source = "\"\\\xff";
  EXPECT_EQ(events_of(sample.report(), "X").size(), 9U);
}

TEST(PlanTrace, RefusesMoreInvocationsThanAViewerOpens) {
  Sample sample;
  sample.sequence.assign(2'000'001, 2);
  const auto trace = plan_trace(sample.report());
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message,
            "trace of kernels.csv: one iteration has 2000001 invocations, a trace holds at most "
            "2000000");
}

}  // namespace
}  // namespace negawatt::report
