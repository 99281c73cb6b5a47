// SPDX-License-Identifier: Apache-2.0
#include "govern/ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace negawatt::govern {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

/// Three segments of 1, 2 and 1 invocations.
Execution plan() {
  Execution plan;
  plan.kernels = {"k"};
  plan.sequence = {0, 0, 0, 0};
  plan.expected.assign(4, Seconds(0.01));
  plan.segments = {{.first = 0, .last = 0}, {.first = 1, .last = 2}, {.first = 3, .last = 3}};
  return plan;
}

/// In an iteration that began `since_ms` before.
trace::Position at(std::uint64_t iteration, std::uint64_t invocation, std::uint64_t ms,
                   std::uint64_t since_ms = 0) {
  return {.iteration = iteration,
          .invocation = invocation,
          .started_ns = ms * kMs,
          .iteration_started_ns = (ms - since_ms) * kMs,
          .state = trace::ProgramState::running};
}

TEST(RunningMean, AgreesWithItsDefinition) {
  RunningMean mean;
  EXPECT_EQ(mean.standard_error(), 0.0);
  for (const double value : {8.0, 10.0, 12.0}) mean.add(value);
  EXPECT_DOUBLE_EQ(mean.mean(), 10.0);
  EXPECT_DOUBLE_EQ(mean.standard_error(), std::sqrt(4.0 / 3.0));
}

TEST(RunningMean, AMeanOfManyWeighsAsManyAndIsOneObservation) {
  RunningMean mean;
  mean.add_mean({8.0, 4});
  mean.add(13.0);
  EXPECT_EQ(mean.count(), 5U);
  EXPECT_DOUBLE_EQ(mean.mean(), 9.0);
  // One value's variance: (4 * 1 + 16) / 1; of the mean of five: a fifth.
  EXPECT_DOUBLE_EQ(mean.standard_error(), 2.0);
  RunningMean once;
  once.add_mean({8.0, 400});
  EXPECT_EQ(once.standard_error(), 0.0) << "nothing is known of how values vary";
}

TEST(Ledger, IterationsThatWentByUnseenMakeItNoSurer) {
  const auto program = plan();
  Ledger all(program, 0);
  Ledger some(program, 0);
  // 100 ms and 140 ms by turns; one ledger sees every fourth start, and once a fifth.
  std::uint64_t ms = 0;
  for (std::uint64_t i = 0; i <= 41; ++i) {
    all.note_position(at(i, 0, ms));
    if (i % 4 == 0 || i == 41) some.note_position(at(i, 0, ms));
    ms += i % 2 == 0 ? 100 : 140;
  }
  EXPECT_EQ(some.achieved().iterations, 41U);
  EXPECT_NEAR(some.achieved().mean.time.in_si(), all.achieved().mean.time.in_si(), 1e-12);
  // Ten stretches of 120 ms on average, one of 100: sqrt((40 * 0.488^2 + 19.51^2) / 10 / 41).
  EXPECT_NEAR(some.achieved().error.time.in_si(), 0.9756e-3, 1e-6);
}

TEST(Ledger, KnowsWhenAnIterationBeganWhoseFirstInvocationItMissed) {
  const auto program = plan();
  Ledger ledger(program, 0);
  for (std::uint64_t i = 0; i < 5; ++i) {
    ledger.note_position(at(i, 1, 500 * i + 3, 3));
    ledger.note_position(at(i, 3, 500 * i + 400, 400));
  }
  EXPECT_EQ(ledger.achieved().iterations, 4U);
  EXPECT_DOUBLE_EQ(ledger.achieved().mean.time.in_si(), 0.5);
  EXPECT_NEAR(ledger.segment_times()[0].mean(), 0.003, 1e-12);
  EXPECT_NEAR(ledger.segment_times()[2].mean(), 0.1, 1e-12);
}

TEST(Ledger, AnIterationCostsWhatTheCounterSaysBetweenItsStarts) {
  const auto program = plan();
  Ledger ledger(program, 1);
  // 200 W for 10 s, the counter read every 130 ms; iterations of 500 ms.
  std::uint64_t next_start = 0;
  std::uint64_t iteration = 0;
  for (std::uint64_t ms = 0; ms <= 10'000; ++ms) {
    if (ms == next_start) {
      ledger.note_position(at(iteration++, 0, ms));
      next_start += 500;
    }
    if (ms % 130 == 0) ledger.note_energy(ms * kMs, Joules(0.2 * static_cast<double>(ms)));
  }
  const auto achieved = ledger.achieved();
  EXPECT_EQ(achieved.iterations, 19U);
  EXPECT_DOUBLE_EQ(achieved.mean.time.in_si(), 0.5);
  ASSERT_TRUE(achieved.has_energy);
  EXPECT_NEAR(achieved.mean.energy.in_si(), 100.0, 1e-9);
  // Each end lies in a step of 26 J: 26 / sqrt(12) * sqrt(2) over 18 iterations.
  EXPECT_NEAR(achieved.error.energy.in_si(), 26.0 / std::sqrt(6.0) / 18.0, 1e-9);
}

TEST(Ledger, APositionMayBeNotedAfterALaterReading) {
  const auto program = plan();
  Ledger ledger(program, 0);
  for (std::uint64_t ms = 0; ms <= 5000; ms += 100) {
    ledger.note_energy(ms * kMs, Joules(0.2 * static_cast<double>(ms)));
    if (ms % 500 == 0 && ms > 0) ledger.note_position(at(ms / 500, 0, ms - 20));
  }
  EXPECT_NEAR(ledger.achieved().mean.energy.in_si(), 100.0, 1e-9);
}

TEST(Ledger, AResetNeverGivesNegativeEnergy) {
  const auto program = plan();
  Ledger ledger(program, 0);
  double counter = 5000.0;
  for (std::uint64_t ms = 0; ms <= 8000; ms += 100) {
    if (ms % 500 == 0) ledger.note_position(at(ms / 500, 0, ms));
    if (ms == 4200) counter = 0.0;  // the driver was loaded again
    counter += 20.0;
    ledger.note_energy(ms * kMs, Joules(counter));
  }
  const auto achieved = ledger.achieved();
  EXPECT_NEAR(achieved.mean.energy.in_si(), 100.0, 1e-9);
}

TEST(Ledger, WithoutACounterThereIsTimeOnly) {
  const auto program = plan();
  Ledger ledger(program, 0);
  for (std::uint64_t i = 0; i < 4; ++i) ledger.note_position(at(i, 0, 500 * i));
  EXPECT_EQ(ledger.achieved().iterations, 3U);
  EXPECT_FALSE(ledger.achieved().has_energy);
}

TEST(Ledger, SegmentsAreTimedBetweenStartsThatWereSeen) {
  const auto program = plan();
  Ledger ledger(program, 0);
  for (std::uint64_t i = 0; i < 3; ++i) {
    ledger.note_position(at(i, 0, 100 * i));
    ledger.note_position(at(i, 1, 100 * i + 30, 30));
    ledger.note_position(at(i, 2, 100 * i + 50, 50));
    ledger.note_position(at(i, 3, 100 * i + 70, 70));
  }
  const auto& times = ledger.segment_times();
  EXPECT_EQ(times[0].count(), 3U);
  EXPECT_NEAR(times[0].mean(), 0.03, 1e-12);
  EXPECT_NEAR(times[1].mean(), 0.04, 1e-12);
  EXPECT_EQ(times[2].count(), 2U);  // the last one has not ended
  EXPECT_NEAR(times[2].mean(), 0.03, 1e-12);
}

TEST(Ledger, SegmentsWhoseBordersWentByUnseenAreLeftOut) {
  const auto program = plan();
  Ledger ledger(program, 0);
  ledger.note_position(at(0, 0, 0));
  ledger.note_position(at(0, 2, 50, 50));  // the start of segment 1 was missed
  ledger.note_position(at(0, 3, 70, 70));
  ledger.note_position(at(2, 0, 200));  // a whole iteration was missed
  for (const auto& time : ledger.segment_times()) EXPECT_EQ(time.count(), 0U);
}

}  // namespace
}  // namespace negawatt::govern
