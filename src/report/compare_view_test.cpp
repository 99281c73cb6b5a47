// SPDX-License-Identifier: Apache-2.0
#include "report/compare_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/compare_sample_for_test.hpp"
#include "report/compare_wording.hpp"

namespace negawatt::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string verdict_on(const ComparedRun& run) {
  const std::vector runs = {watched_run(), run};
  return verdict(comparison_of(report_on(runs)).runs[1]);
}

std::string headline_of(const std::vector<ComparedRun>& runs) {
  return compare_headline(comparison_of(report_on(runs)));
}

TEST(Comparison, TakesChangesAgainstTheMeasuredBaseline) {
  auto baseline = watched_run();
  baseline.achieved.time = Seconds(2.5);
  baseline.achieved.energy = Joules(400);
  const std::vector runs = {governed_run("a", 1, -10), baseline};  // 2.02 s, 450 J
  const auto comparison = comparison_of(report_on(runs));
  EXPECT_EQ(comparison.baseline, &runs[1]);
  const auto& view = comparison.runs[0];
  EXPECT_TRUE(view.is_against_measured);
  EXPECT_NEAR(view.time->percent, -19.2, 1e-9);
  EXPECT_NEAR(view.energy->percent, 12.5, 1e-9);
  EXPECT_NEAR(*view.promised_energy, -10.0, 1e-9) << "a promise is against the table";
  EXPECT_NEAR(*view.energy_difference, 22.5, 1e-9);
  EXPECT_NEAR(*view.against_static, 18.5, 1e-9);
  EXPECT_NEAR(*view.bound_energy, -12.0, 1e-9);
}

TEST(Comparison, TakesChangesAgainstTheTableWithoutAMeasuredBaseline) {
  const std::vector runs = {governed_run("a", 1.25, -9.5)};
  const auto comparison = comparison_of(report_on(runs));
  EXPECT_EQ(comparison.baseline, nullptr);
  EXPECT_FALSE(comparison.runs[0].is_against_measured);
  EXPECT_NEAR(comparison.runs[0].energy->percent, -9.5, 1e-9);
  EXPECT_NEAR(*comparison.runs[0].energy->error, 0.1, 1e-9) << "0.5 J of 500 J";
  EXPECT_THAT(baseline_sentence(comparison), HasSubstr("baseline of the plan's table"));
}

TEST(Comparison, ErrorsOfRunAndBaselineAddInSquares) {
  const std::vector runs = {watched_run(), governed_run("a", 0, 0)};
  const auto view = comparison_of(report_on(runs)).runs[1];
  EXPECT_NEAR(*view.energy->error, 0.1 * std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(*view.time->error, 0.1 * std::sqrt(2.0), 1e-9);
}

TEST(Comparison, AnErrorThatIsNotKnownStaysUnknown) {
  auto run = governed_run("a", 0, 0);
  run.achieved.energy_error.reset();
  auto baseline = watched_run();
  baseline.achieved.time_error.reset();
  const std::vector runs = {baseline, run};
  const auto view = comparison_of(report_on(runs)).runs[1];
  EXPECT_FALSE(view.energy->error);
  EXPECT_FALSE(view.time->error);
}

TEST(Comparison, AMeasuredBaselineSaysNothingOfPlansThatStartFromLockedClocks) {
  auto run = governed_run("a", 1, -10);
  run.baseline_clocks = {trace::Clock::locked_mhz(1695), {}};
  auto baseline = watched_run();
  baseline.achieved.energy = Joules(1000);
  const std::vector runs = {baseline, run};
  const auto comparison = comparison_of(report_on(runs));
  EXPECT_NEAR(comparison.runs[1].energy->percent, -10.0, 1e-9);
  EXPECT_THAT(cautions(comparison), ElementsAre(HasSubstr("do not share one baseline"),
                                                HasSubstr("compared with their table's")));
}

TEST(Comparison, ARunThatShouldHaveBeenGovernedIsNoBaseline) {
  auto run = watched_run();
  run.note = "Runs without clock changes: no daemon";
  const std::vector runs = {run};
  const auto comparison = comparison_of(report_on(runs));
  EXPECT_EQ(comparison.baseline, nullptr);
  EXPECT_EQ(verdict(comparison.runs[0]), "ran without clock changes");
  EXPECT_EQ(reasons(run), "Runs without clock changes: no daemon");
}

TEST(Comparison, ARunWhoseEnergyOrIterationIsNotThePlansIsNoBaseline) {
  auto blind = watched_run();
  blind.achieved.energy.reset();
  blind.energy_note = "The command was not seen on GPU-1";
  auto other = watched_run();
  other.was_off_plan = true;
  const std::vector runs = {blind, other};
  const auto comparison = comparison_of(report_on(runs));
  EXPECT_EQ(comparison.baseline, nullptr);
  EXPECT_EQ(verdict(comparison.runs[0]), "was only watched");
  EXPECT_EQ(reasons(blind), "The command was not seen on GPU-1");
}

TEST(Comparison, JudgesARunInPlainWords) {
  EXPECT_EQ(verdict_on(governed_run("a", 1.05, -9.88)),
            "holds its promise within 0.12 points; 3.88 points better than the best static pair");
  EXPECT_EQ(verdict_on(governed_run("a", 1.121, -10)),
            "holds its promise within 0.13 points; 4.00 points better than the best static pair")
      << "within is rounded up";
  EXPECT_EQ(verdict_on(governed_run("a", 1, -5.6)),
            "misses its promise: 4.40 points more energy; 0.40 points worse than the best static "
            "pair");
  EXPECT_EQ(verdict_on(governed_run("a", 1.5, -6.05)),
            "misses its promise: 3.95 points more energy, 0.50 points more time; level with the "
            "best static pair");
  EXPECT_EQ(verdict_on(governed_run("a", 1, -10.5)),
            "does better than promised: 0.50 points less energy; 4.50 points better than the best "
            "static pair");
}

TEST(Comparison, SaysWhenTheMeasurementCannotTell) {
  auto run = governed_run("a", 1, -9.5);
  run.achieved.energy_error = Joules(5);  // 1 point
  EXPECT_THAT(verdict_on(run),
              HasSubstr("0.50 points more energy (less than two standard errors)"));
  run.achieved.energy = Joules(450);
  EXPECT_THAT(verdict_on(run), HasSubstr("within 0.01 points (as far as a standard error of 1.00 "
                                         "points can tell)"));
}

TEST(Comparison, DoesNotJudgeWhatWasNotMeasured) {
  auto run = governed_run("a", 1, -10);
  run.was_off_plan = true;
  EXPECT_EQ(verdict_on(run), "cannot be judged: it ran another iteration than the plan's");
  run = governed_run("a", 1, -10);
  run.achieved.energy.reset();
  EXPECT_EQ(verdict_on(run), "holds its promise within 0.01 points; its energy was not measured");
  run.achieved = {};
  EXPECT_EQ(verdict_on(run), "cannot be judged: no iteration was measured");
}

TEST(Comparison, TheHeadlineNamesWhoMissesItsPromise) {
  const auto base = watched_run();
  const auto good = governed_run("good", 1.1, -9.9);
  const auto bad = governed_run("bad", 1.5, -9.9);
  const auto worse = governed_run("worse", 1, -9);
  EXPECT_EQ(headline_of({base}), "No run was governed and measured: there is no promise to judge.");
  EXPECT_EQ(headline_of({base, good}),
            "Run good holds its promise within 0.10 points; 3.90 points better than the best "
            "static pair.");
  EXPECT_EQ(headline_of({base, good, good}),
            "Both runs hold their promise: none is more than 0.10 points above it.");
  EXPECT_EQ(headline_of({base, good, bad}),
            "bad misses its promise by 0.50 points; the other one is kept.");
  EXPECT_EQ(headline_of({base, good, bad, worse}),
            "2 of 3 runs miss their promise; worse by most, 1.00 points.");
}

TEST(Comparison, GivesReasonsForADifference) {
  auto run = governed_run("a", 1, -10);
  EXPECT_EQ(reasons(run), "");
  run.late = 2;
  run.most_late = Seconds(0.003);
  run.refused = 1;
  run.last_refusal = "busy";
  run.missed_iterations = 1;
  run.ending = "signal 9 (Killed)";
  EXPECT_EQ(reasons(run),
            "2 of 42 clock changes late, by at most 3.00 ms; 1 of 40 requests refused, the last: "
            "busy; 1 iteration went by unseen; the program ended with signal 9 (Killed)");
}

TEST(Comparison, WarnsOfRunsThatAreHardToCompare) {
  std::vector runs = {watched_run(), governed_run("a", 1, -10)};
  EXPECT_THAT(cautions(comparison_of(report_on(runs))), IsEmpty());
  runs[1].gpu = "GPU-2";
  runs[1].evidence = EvidenceKind::measured;
  EXPECT_THAT(cautions(comparison_of(report_on(runs))),
              ElementsAre(HasSubstr("same GPU"), HasSubstr("some simulated")));
}

TEST(Comparison, EvidenceIsAsWeakAsItsWeakestPart) {
  std::vector runs = {watched_run(), governed_run("a", 1, -10)};
  runs[0].evidence = EvidenceKind::measured;
  const auto comparison = comparison_of(report_on(runs));
  EXPECT_EQ(achieved_evidence(comparison), EvidenceKind::simulated);
  EXPECT_EQ(promised_evidence(comparison), EvidenceKind::published);
}

TEST(Comparison, OrdersTheSegmentsOfTheLastRunByTheirDistance) {
  std::vector runs = {governed_run("a", 1, -10), governed_run("b", 1, -10), watched_run()};
  const auto comparison = comparison_of(report_on(runs));
  const auto* last = last_with_segments(comparison);
  ASSERT_EQ(last, &runs[1]);
  const auto segments = farthest_segments(*last, 12);
  ASSERT_EQ(segments.size(), 2U) << "one was not timed";
  EXPECT_EQ(segments[0].segment->first, 4U);  // -0.05 s
  EXPECT_EQ(segments[1].segment->first, 0U);  // +0.0102 s
  EXPECT_EQ(farthest_segments(*last, 1).size(), 1U);
}

TEST(Comparison, RunsAreCalledAfterTheirFiles) {
  EXPECT_THAT(run_labels({"runs/a.json", "b.v2.json", ".hidden", "-"}),
              ElementsAre("a", "b.v2", ".hidden", "-"));
  EXPECT_THAT(run_labels({"x/run.json", "y/run.json", "z.json"}),
              ElementsAre("x/run.json", "y/run.json", "z"));
}

}  // namespace
}  // namespace negawatt::report
