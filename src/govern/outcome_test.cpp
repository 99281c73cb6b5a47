// SPDX-License-Identifier: Apache-2.0
#include "govern/outcome.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace negawatt::govern {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Execution plan() {
  Execution plan;
  plan.baseline = {Seconds(5.34), Joules(1850)};
  plan.promised = {Seconds(5.36), Joules(1550)};
  return plan;
}

Ran ran() {
  Ran ran;
  ran.was_attached = true;
  ran.followed.was_seen = true;
  ran.followed.achieved = {.iterations = 7,
                           .mean = {Seconds(5.37), Joules(1560)},
                           .error = {Seconds(0.001), Joules(0.5)},
                           .has_energy = true};
  return ran;
}

const std::string kGpu = "NVIDIA GeForce RTX 3080 Ti, GPU-51000000-4e57-4a10-8200-000000000000";

TEST(Outcome, FitsAScreen) {
  const auto program = plan();
  auto happened = ran();
  happened.followed.punctuality = {.changes = 57'280, .late = 8, .most_late = Seconds(0.014)};
  happened.followed.requests = 57'281;
  happened.followed.refused = 12;
  happened.followed.last_refusal =
      "the lease of GPU-51000000-4e57-4a10-8200-000000000000 has ended: no heartbeat of the client";
  happened.energy_note = "The command was not seen on " + kGpu + ": that GPU's energy is not its.";
  const std::string note =
      "No clock was asked for: the command did not use " + kGpu + " (the client died).";
  for (const bool governed : {true, false}) {
    const auto text = run_text(
        {.plan = program, .ran = happened, .governed = governed, .gpu = kGpu, .note = note});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    EXPECT_THAT(text, HasSubstr("\nGPU: NVIDIA GeForce RTX 3080 Ti, GPU-51000000"));
    EXPECT_THAT(text, HasSubstr("No clock was asked for"));
    EXPECT_THAT(text, HasSubstr("was not seen on"));
    EXPECT_EQ(text.find("57280 clock changes, 8 late") != std::string::npos, governed);
  }
}

TEST(Outcome, SaysOnceWhyNothingWasGoverned) {
  const auto program = plan();
  const auto happened = ran();
  RunReport report{.plan = program, .ran = happened, .governed = false, .note = "No daemon."};
  EXPECT_THAT(run_text(report), HasSubstr("No daemon."));
  report.note_was_said = true;
  EXPECT_THAT(run_text(report), Not(HasSubstr("No daemon.")));
  EXPECT_THAT(run_json(report), HasSubstr("\"note\": \"No daemon.\"")) << "a file is read later";
}

TEST(Outcome, ClaimsNoEnergyThatIsNotTheCommands) {
  const auto program = plan();
  auto happened = ran();
  happened.followed.achieved.has_energy = false;
  happened.energy_note = "Not seen.";
  const auto json = run_json({.plan = program, .ran = happened});
  EXPECT_THAT(json, HasSubstr("\"energy_note\": \"Not seen.\""));
  EXPECT_THAT(json.substr(json.find("\"achieved\"")), Not(HasSubstr("energy_change_pct")));
}

}  // namespace
}  // namespace negawatt::govern
