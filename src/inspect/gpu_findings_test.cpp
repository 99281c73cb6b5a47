// SPDX-License-Identifier: Apache-2.0
#include "inspect/gpu_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "inspect/facts_for_test.hpp"

namespace negawatt::inspect {
namespace {

using gpu::Obstacle;
using testing::HasSubstr;

Finding finding_about(const std::string& subject, const GpuFindings& gpu) {
  for (const auto& finding : gpu.findings) {
    if (finding.subject == subject) return finding;
  }
  ADD_FAILURE() << "no finding about " << subject;
  return {};
}

struct Case {
  std::string name;  ///< a sentence, as the test's name
  std::function<void(GpuFacts&)> change;
  std::string subject;
  State state;
  std::string found;   ///< is part of what was found
  std::string action;  ///< is part of what to do; empty: nothing to do
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class GpuFinding : public testing::TestWithParam<Case> {};

TEST_P(GpuFinding, IsWhatTheAnswerMeans) {
  GpuFacts facts = facts_of_healthy_gpu();
  GetParam().change(facts);
  const auto finding = finding_about(GetParam().subject, findings_of(facts, false));
  EXPECT_EQ(finding.state, GetParam().state) << finding.found;
  EXPECT_THAT(finding.found, HasSubstr(GetParam().found));
  if (GetParam().action.empty()) {
    EXPECT_EQ(finding.action, "");
  } else {
    EXPECT_THAT(finding.action, HasSubstr(GetParam().action));
  }
}

const auto kNothing = [](GpuFacts&) {};

INSTANTIATE_TEST_SUITE_P(
    Sensors, GpuFinding,
    testing::Values(
        Case{"ACounterShowsPeriodAndCost", kNothing, "energy counter", State::good,
             "12345.7 J; changes every 100.0 ms (+- 0.2), read in 3.4 ms", ""},
        Case{"WithoutACounterNothingIsMeasured",
             [](GpuFacts& f) { f.answers->energy = no_answer(Obstacle::absent); }, "energy counter",
             State::missing, "said no", "use another GPU"},
        Case{"AStandingCounterIsMissing",
             [](GpuFacts& f) {
               f.measured->energy = failure(Code::internal, "changed 0 times in 10.0 s");
               f.measured->counter_moves = false;
             },
             "energy counter", State::missing, "stands still", "reload the driver"},
        Case{"ACounterThatMovesIrregularlyIsUnknown",
             [](GpuFacts& f) { f.measured->energy = failure(Code::internal, "no period"); },
             "energy counter", State::unknown, "no regular changes", "busy machine"},
        Case{"ABusyCounterIsUnknown",
             [](GpuFacts& f) { f.answers->energy = no_answer(Obstacle::not_ready); },
             "energy counter", State::unknown, "said no", "again"},
        Case{"ADeniedCounterIsMissing",
             [](GpuFacts& f) { f.answers->energy = no_answer(Obstacle::denied); }, "energy counter",
             State::missing, "said no", "root"},
        Case{"ABrokenCounterIsMissing",
             [](GpuFacts& f) { f.answers->energy = no_answer(Obstacle::failed); }, "energy counter",
             State::missing, "said no", "use another GPU"},
        Case{"PowerShowsItsPeriod", kNothing, "instant power", State::good,
             "650 W; changes every 100.0 ms", ""},
        Case{"AMissingSensorLimits",
             [](GpuFacts& f) { f.answers->power_average = no_answer(Obstacle::absent); },
             "average power", State::limited, "said no", ""},
        Case{"ASteadyPowerHasNoKnownPeriod",
             [](GpuFacts& f) {
               f.measured->power_instant = failure(Code::internal, "changed 0 times");
             },
             "instant power", State::unknown, "650 W; no regular changes seen", ""},
        Case{"PowerOfAnUnstatedWindowLimits",
             [](GpuFacts& f) {
               f.answers->power_instant = no_answer(Obstacle::absent);
               f.answers->power_average = no_answer(Obstacle::absent);
             },
             "power", State::limited, "640 W, over a window that the driver does not state", ""},
        Case{"NoPowerAtAllLimits",
             [](GpuFacts& f) {
               f.answers->power_instant = no_answer(Obstacle::absent);
               f.answers->power_average = no_answer(Obstacle::absent);
               f.answers->power_unspecified = no_answer(Obstacle::absent);
             },
             "power", State::limited, "said no", ""},
        Case{"CounterAndPowerAgree", kNothing, "counter vs power", State::good,
             "1950.0 J counted, 1940.0 J from power, over 3.0 s", ""},
        Case{"AHalvedCounterDisagrees",
             [](GpuFacts& f) {
               f.measured->cross_check->counter = Joules(970);
               f.measured->cross_check->verdict = gpu::CrossCheck::Verdict::disagrees;
             },
             "counter vs power", State::limited, "970.0 J counted, 1940.0 J from power",
             "do not trust"},
        Case{"AVaryingLoadLeavesItUndecided",
             [](GpuFacts& f) {
               f.measured->cross_check->spread = 0.4;
               f.measured->cross_check->verdict = gpu::CrossCheck::Verdict::undecided;
             },
             "counter vs power", State::unknown, "varied by 40 %", "idle or steadily loaded"},
        Case{"WithoutMeasuringNothingIsCompared", [](GpuFacts& f) { f.measured.reset(); },
             "counter vs power", State::unknown, "not compared", ""}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Abilities, GpuFinding,
    testing::Values(
        Case{"ClocksAreShown", kNothing, "clocks", State::good, "core 1410 MHz, memory 3201 MHz",
             ""},
        Case{"WithoutClocksNoLockCanBeChecked",
             [](GpuFacts& f) { f.answers->clocks = no_answer(Obstacle::absent); }, "clocks",
             State::missing, "said no", "another GPU"},
        Case{"SupportedClocksAreCounted", kNothing, "supported clocks", State::good,
             "core: 3 from 345 to 1980 MHz; memory: 2 from 2201 to 3201 MHz", ""},
        Case{"OneMemoryClockIsARangeOfItsOwn",
             [](GpuFacts& f) { f.answers->memory_clocks = std::vector<gpu::Megahertz>{{3201}}; },
             "supported clocks", State::good, "memory: 3201 MHz", ""},
        Case{"AnEmptyListOfClocksIsMissing",
             [](GpuFacts& f) { f.answers->core_clocks = std::vector<gpu::Megahertz>(); },
             "supported clocks", State::missing, "lists none", "nothing can be planned"},
        Case{"NoListOfClocksIsMissing",
             [](GpuFacts& f) { f.answers->memory_clocks = no_answer(Obstacle::absent); },
             "supported clocks", State::missing, "said no", "nothing can be planned"},
        Case{"ReasonsAreInWords", [](GpuFacts& f) { f.answers->reasons = gpu::EventReasons{0x24}; },
             "throttle reasons", State::good, "power cap, thermal", ""},
        Case{"WithoutReasonsClocksStayUnexplained",
             [](GpuFacts& f) { f.answers->reasons = no_answer(Obstacle::absent); },
             "throttle reasons", State::limited, "said no", "unexplained"},
        Case{"TheLimitHasItsRange", kNothing, "power limit", State::good,
             "700 W in force, settable 200 W to 700 W", ""},
        Case{"ALoweredLimitIsNamed",
             [](GpuFacts& f) { f.answers->power_limits->enforced = gpu::Milliwatts{600'000}; },
             "power limit", State::good,
             "600 W in force, settable 200 W to 700 W; somebody lowered", ""},
        Case{"AFixedLimitIsNotSettable",
             [](GpuFacts& f) { f.answers->power_limits->least.reset(); }, "power limit",
             State::good, "700 W in force, not settable", ""},
        Case{"WithoutALimitNothingIsPlausible",
             [](GpuFacts& f) { f.answers->power_limits = no_answer(Obstacle::absent); },
             "power limit", State::limited, "said no", "plausibility"},
        Case{"PersistenceKeepsSettings", kNothing, "persistence mode", State::good, "on", ""},
        Case{"WithoutPersistenceSettingsAreLost",
             [](GpuFacts& f) { f.answers->persistence = false; }, "persistence mode",
             State::limited, "its settings are lost", "nvidia-persistenced"},
        Case{"MigIsTheWholeGpus",
             [](GpuFacts& f) {
               f.answers->mig = gpu::MigMode{true, true};
               f.answers->instances = std::vector{gpu::MigId("MIG-1"), gpu::MigId("MIG-2")};
             },
             "MIG", State::limited, "on, 2 instances", "-mig 0"},
        Case{"ProcessesAreNamed",
             [](GpuFacts& f) {
               f.answers->processes =
                   std::vector<gpu::ComputeProcess>{{.pid = 7, .memory_bytes = {}}};
               f.process_names = {"python3"};
             },
             "processes", State::good, "1 on it: python3", ""},
        Case{"WithoutProcessesThereIsNoLease",
             [](GpuFacts& f) { f.answers->processes = no_answer(Obstacle::absent); }, "processes",
             State::missing, "said no", "no lease"}),
    [](const auto& param) { return param.param.name; });

TEST(GpuFindings, AHealthyGpuHasOnlyGoodFindings) {
  for (const auto& finding : findings_of(facts_of_healthy_gpu(), false).findings) {
    EXPECT_EQ(finding.state, State::good) << finding.subject << ": " << finding.found;
  }
}

TEST(GpuFindings, QuickSaysHowToMeasureThePeriods) {
  GpuFacts facts = facts_of_healthy_gpu();
  facts.measured.reset();
  const auto finding = finding_about("energy counter", findings_of(facts, true));
  EXPECT_EQ(finding.state, State::good);
  EXPECT_THAT(finding.action, HasSubstr("without --quick"));
}

TEST(GpuFindings, ALostGpuIsOneFindingAndNotTwelve) {
  GpuFacts listed_lost = facts_of_healthy_gpu();
  listed_lost.identity.reset();
  listed_lost.answers.reset();
  listed_lost.lost = no_answer(Obstacle::lost).value();
  GpuFacts lost_later = facts_of_healthy_gpu();
  lost_later.answers->clocks = no_answer(Obstacle::lost);
  for (const auto& facts : {listed_lost, lost_later}) {
    const auto gpu = findings_of(facts, false);
    ASSERT_EQ(gpu.findings.size(), 1);
    EXPECT_EQ(gpu.findings.front().state, State::missing);
    EXPECT_THAT(gpu.findings.front().action, HasSubstr("reboot"));
  }
}

TEST(GpuFindings, AHangingGpuIsSaidToHang) {
  GpuFacts facts = facts_of_healthy_gpu();
  facts.answers.reset();
  const auto gpu = findings_of(facts, false);
  ASSERT_EQ(gpu.findings.size(), 1);
  EXPECT_EQ(gpu.findings.front().state, State::missing);
  EXPECT_THAT(gpu.findings.front().found, HasSubstr("does not return"));
}

}  // namespace
}  // namespace negawatt::inspect
