// SPDX-License-Identifier: Apache-2.0
#include "report/serving_wording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/serving_sample_for_test.hpp"

namespace negawatt::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Setting setting_of(const std::vector<ServedRun>& runs) {
  return settings_of(report_on(runs)).front();
}

std::string headline_of(const std::vector<ServedRun>& runs) {
  const auto setting = setting_of(runs);
  return serving_headline(findings_of(setting, 0.99));
}

std::vector<std::string> comparisons_of(const std::vector<ServedRun>& runs) {
  const auto setting = setting_of(runs);
  return serving_comparisons(findings_of(setting, 0.99));
}

std::vector<std::string> cautions_of(const std::vector<ServedRun>& runs) {
  const auto setting = setting_of(runs);
  return serving_cautions(findings_of(setting, 0.99));
}

TEST(ServingHeadline, SaysWhatIsSavedAndWhatItCostsInLatency) {
  EXPECT_EQ(headline_of({by_work(90, 4), by_one_device(100, 2), by_load(200, 3)}),
            "negawatt needs 10 % less energy than h100 alone, the best device type by itself, at a "
            "p99 latency of 4.00 s instead of 2.00 s; both meet the SLO for 99 % of the requests.");
  EXPECT_EQ(
      headline_of({by_work(90, 4), by_one_device(80, 2, 0.5), by_load(200, 3)}),
      "negawatt needs 55 % less energy than round-robin, the best policy that does not look at "
      "the work, at a p99 latency of 4.00 s instead of 3.00 s; both meet the SLO for 99 % of "
      "the requests.")
      << "a device that breaks the SLO is no yardstick";
}

TEST(ServingHeadline, SaysThatOneDeviceTypeIsBest) {
  EXPECT_EQ(headline_of({by_work(130, 4), by_one_device(100, 2), by_load(200, 3)}),
            "One device type is best: h100 alone needs least energy of all that meet the SLO for "
            "99 % of the requests; negawatt needs 30 % more, at a p99 latency of 4.00 s instead of "
            "2.00 s.");
  EXPECT_THAT(headline_of({by_work(99.95, 4), by_one_device(100, 2)}),
              HasSubstr("One device type is best: h100 alone"))
      << "energies within 0.1 % are the same, and the simpler one is best";
  EXPECT_THAT(headline_of({by_work(99.85, 4), by_one_device(100, 2)}), HasSubstr("negawatt needs"));
}

TEST(ServingHeadline, TellsAnInstanceFromADeviceType) {
  auto one = by_one_device(100, 2);
  one.device = "l4/2";
  EXPECT_THAT(headline_of({by_work(130, 4), one}), HasSubstr("One instance is best: l4/2 alone"));
  EXPECT_THAT(headline_of({by_work(90, 4), one}),
              HasSubstr("l4/2 alone, the best instance by itself"));
}

TEST(ServingHeadline, SaysThatNothingIsGained) {
  EXPECT_EQ(headline_of({by_work(110, 4), by_load(100, 2)}),
            "Nothing is gained by looking at the work: round-robin needs least energy of all that "
            "meet the SLO for 99 % of the requests; negawatt needs 10 % more, at a p99 latency of "
            "4.00 s instead of 2.00 s.");
  EXPECT_THAT(headline_of({by_work(90, 4, 0.9), by_load(100, 2)}),
              HasSubstr("no other kind of policy meets the SLO for 99 % of the requests."));
}

TEST(ServingHeadline, SaysThatNobodyKeepsTheSlo) {
  EXPECT_EQ(
      headline_of({by_work(90, 4, 0.98996), by_load(100, 2, 0.5), by_clairvoyant(80)}),
      "No policy meets the SLO for 99 % of the requests: negawatt comes closest with 98.99 %, "
      "at 90.00 J and a p99 latency of 4.00 s.")
      << "what only a clairvoyant can do nobody can, and 98.996 % is not 99 %";
}

TEST(ServingHeadline, ClaimsNothingWhereNothingIsCompared) {
  EXPECT_EQ(
      headline_of({by_work(90, 4, 0.995)}),
      "negawatt needs 90.00 J and a p99 latency of 4.00 s and meets the SLO for 99.50 % of the "
      "requests; nothing else was simulated to compare it with.");
  EXPECT_THAT(
      headline_of({by_work(90, 4, 0.5)}),
      HasSubstr("but meets the SLO for only 50.00 % of the requests, not the 99 % demanded"));
  auto other = by_one_device(120);
  other.policy = "all-on-one:device=l4";
  other.device = "l4";
  EXPECT_EQ(
      headline_of({by_one_device(100), other}),
      "Of the device types alone, h100 needs least energy: 100.0 J and a p99 latency of 2.00 s; "
      "no policy that mixes them was simulated.");
  EXPECT_THAT(headline_of({by_load(100), served_by("random", ServingPolicyKind::load, 120)}),
              HasSubstr("none that does was simulated."));
}

TEST(ServingHeadline, DoesNotSpeakOfAnSloThatThereIsNot) {
  auto runs = std::vector{by_work(90, 4), by_one_device(100, 2)};
  for (auto& run : runs) run.attainment.reset();
  EXPECT_THAT(headline_of(runs), HasSubstr("both serve 99 % of the requests."));
  EXPECT_EQ(headline_of(runs).find("SLO"), std::string::npos);
}

TEST(ServingHeadline, APolicyThatLeavesRequestsUnservedDoesNotCount) {
  auto lazy = by_work(50);
  lazy.completed = 900;
  EXPECT_THAT(headline_of({lazy, by_load(100)}), HasSubstr("round-robin needs least energy"));
}

TEST(ServingHeadline, NothingServedIsNotComparedAndItsLatencyIsNot0) {
  auto one = by_work(0);
  auto other = by_load(0);
  for (auto* run : {&one, &other}) {
    run->completed = run->output_tokens = 0;
    run->energy = run->idle = run->above_idle = run->bound = Joules();
    run->ttft = run->tbt = run->e2e = ServedLatency{};
    run->attainment = 0.0;
  }
  EXPECT_EQ(headline_of({one, other}),
            "No policy served any of 1,000 requests: there is nothing to compare.");
  EXPECT_THAT(comparisons_of({one, other}), IsEmpty());
  const auto setting = setting_of({one, other, by_one_device(100, 2)});
  EXPECT_EQ(serving_changes(setting.policies[1], setting.policies[2]),
            "energy -, p99 latency -, mean latency -");
  EXPECT_EQ(serving_changes(setting.policies[0], setting.policies[1]),
            "energy -100 %, p99 latency -, mean latency -");
}

TEST(ServingComparisons, GiveEveryEnergyWithItsLatencies) {
  EXPECT_THAT(
      comparisons_of({by_work(90, 4), by_one_device(100, 2), by_load(200, 8)}),
      ElementsAre(
          "Against h100 alone, the best device type by itself: energy -10.0 %, p99 latency "
          "+100 %, mean latency +100 %.",
          "Against round-robin, the best that does not look at the work: energy -55.0 %, p99 "
          "latency -50.0 %, mean latency -50.0 %.",
          "The lower bound, which grants no latency, is 50.00 J: negawatt is 80.0 % above "
          "it."));
}

TEST(ServingComparisons, SayWhyOneIsMissing) {
  const auto none = comparisons_of({by_work(90), by_clairvoyant(80)});
  EXPECT_THAT(none[0], HasSubstr("No device type was simulated alone"));
  EXPECT_THAT(none[1], HasSubstr("None that goes by load alone was simulated"));
  const auto missed = comparisons_of({by_work(90), by_one_device(80, 2, 0.5), by_load(80, 2, 0.5)});
  EXPECT_EQ(missed[0], "No device type alone meets the SLO for 99 % of the requests.");
  EXPECT_EQ(missed[1], "No policy that goes by load alone meets the SLO for 99 % of the requests.");
}

TEST(ServingCautions, NameWhatLooksBetterAndIsNot) {
  auto overloaded = by_load(200);
  overloaded.is_overloaded = true;
  EXPECT_THAT(
      cautions_of({by_work(90, 2), by_one_device(80, 4, 0.5), by_clairvoyant(72, 1), overloaded}),
      ElementsAre("h100 alone needs less energy than negawatt (energy -11.1 %, p99 latency +100 %, "
                  "mean latency +100 %), but meets the SLO for only 50.00 % of the requests.",
                  "clairvoyant knows how long answers will be, as nobody can; it needs less energy "
                  "than negawatt (energy -20.0 %, p99 latency -50.0 %, mean latency -50.0 %).",
                  "Overloaded, more requests waiting at the last arrival than fit into all "
                  "batches: round-robin."));
  EXPECT_THAT(cautions_of({by_work(90), by_load(100)}), IsEmpty());
  auto runs = std::vector{by_work(90), by_one_device(100)};
  EXPECT_THAT(cautions_of(runs), IsEmpty());
  for (auto& run : runs) run.instances[1].device_type = "h100";
  EXPECT_THAT(cautions_of(runs),
              ElementsAre("The cluster has one device type: h100 alone means its requests are "
                          "spread over all instances."));
}

TEST(ServingNumbers, AreWhatAReaderExpects) {
  EXPECT_EQ(attained_text(0.98999), "98.99 %");
  EXPECT_EQ(attained_text(0.29), "29.00 %") << "0.29 is stored a little below itself";
  EXPECT_EQ(attained_text(1.0), "100.00 %");
  EXPECT_EQ(demanded_text(0.999), "99.9 %");
  EXPECT_EQ(rough_change(-0.04), "+0.0 %");
  EXPECT_EQ(rough_change(394.2), "+394 %");
  EXPECT_EQ(rough_change(1130), "12.3 times");
  EXPECT_EQ(latency_text(Seconds(0.0317)), "31.7 ms");
  EXPECT_EQ(latency_text(Seconds(999.4)), "999 s");
  EXPECT_EQ(latency_text(Seconds(12345.4)), "12,345 s");
  EXPECT_EQ(latency_text(Seconds(0)), "-");
  EXPECT_EQ(rough_change(std::nan("")), "-");
}

}  // namespace
}  // namespace negawatt::report
