// SPDX-License-Identifier: Apache-2.0
#include "trace/switch_model.hpp"

#include <gtest/gtest.h>

#include <string>

namespace negawatt::trace {
namespace {

ClockPair pair_of(std::uint32_t core, std::uint32_t memory) {
  return {core == 0 ? Clock::automatic() : Clock::locked_mhz(core),
          memory == 0 ? Clock::automatic() : Clock::locked_mhz(memory)};
}

std::string latency_message(std::string_view text) {
  const auto model = parse_switch_latencies(text);
  return model ? "accepted" : model.error().message;
}

std::string file_message(const std::string& rows,
                         const std::string& header = "domain,target_mhz,latency_s,energy_j\n") {
  const auto model = parse_switch_model(header + rows, "s.csv");
  return model ? "accepted" : model.error().message;
}

TEST(SwitchModel, AChangeOfBothDomainsTakesTheLongerLatencyAndBothEnergies) {
  SwitchModel model;
  model.core.any = {Seconds(0.006), Joules(0.5)};
  model.memory.any = {Seconds(0.015), Joules(2)};
  EXPECT_EQ(model.change(pair_of(1410, 0), pair_of(1410, 0)).latency, Seconds(0));
  EXPECT_EQ(model.change(pair_of(1410, 0), pair_of(1410, 0)).energy, Joules(0));
  EXPECT_EQ(model.change(pair_of(1410, 0), pair_of(210, 0)).latency, Seconds(0.006));
  EXPECT_EQ(model.change(pair_of(1410, 0), pair_of(1410, 5001)).latency, Seconds(0.015));
  EXPECT_EQ(model.change(pair_of(1410, 0), pair_of(0, 5001)).latency, Seconds(0.015));
  EXPECT_EQ(model.change(pair_of(1410, 0), pair_of(0, 5001)).energy, Joules(2.5));
}

TEST(SwitchModel, ReadsLatenciesFromTheCommandLine) {
  const auto model = parse_switch_latencies("core=0.006,memory=0.015");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->core.to(Clock::automatic()).latency, Seconds(0.006));
  EXPECT_EQ(model->memory.to(Clock::locked_mhz(9501)).latency, Seconds(0.015));
  const auto memory_only = parse_switch_latencies("memory=1e-3");
  ASSERT_TRUE(memory_only);
  EXPECT_EQ(memory_only->core.any.latency, Seconds(0));
  EXPECT_EQ(memory_only->memory.any.latency, Seconds(0.001));
}

TEST(SwitchModel, SaysWhatIsWrongWithLatencies) {
  EXPECT_EQ(latency_message("core=1,core=2"), "switch latency: core is given twice");
  EXPECT_EQ(latency_message("gpu=1"),
            "switch latency 'gpu=1': expected core=SECONDS or memory=SECONDS");
  EXPECT_EQ(latency_message(""), "switch latency '': expected core=SECONDS or memory=SECONDS");
  EXPECT_EQ(latency_message("core=1,"),
            "switch latency '': expected core=SECONDS or memory=SECONDS");
  EXPECT_EQ(latency_message("core"),
            "switch latency 'core': expected core=SECONDS or memory=SECONDS");
  for (const std::string text : {"core=-1", "core=nan", "core=inf", "core=", "core=6ms", "core= 1"})
    EXPECT_EQ(latency_message(text),
              "switch latency '" + text + "': expected a number of seconds, 0 or more");
}

TEST(SwitchModel, ReadsAMatrixPerTargetClock) {
  const auto model = parse_switch_model(
      "domain,target_mhz,latency_s\ncore,1410,0.02\ncore,any,0.006\ncore,auto,0.1\n", "s.csv");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->core.to(Clock::locked_mhz(1410)).latency, Seconds(0.02));
  EXPECT_EQ(model->core.to(Clock::locked_mhz(1400)).latency, Seconds(0.006));
  EXPECT_EQ(model->core.to(Clock::automatic()).latency, Seconds(0.1));
  EXPECT_EQ(model->core.any.energy, Joules(0));
  EXPECT_EQ(model->memory.any.latency, Seconds(0));
}

TEST(SwitchModel, ReadsEnergiesWhereTheFileHasThem) {
  const auto model =
      parse_switch_model("energy_j,domain,latency_s,target_mhz\n0.25,memory,0.015,any\n", "s.csv");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->memory.any.energy, Joules(0.25));
}

TEST(SwitchModel, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(file_message("core,any,-1,0\n"), "s.csv:2: latency_s is -1, expected 0 or more");
  EXPECT_EQ(file_message("core,any,1,-2\n"), "s.csv:2: energy_j is -2, expected 0 or more");
  EXPECT_EQ(file_message("core,any,nan,0\n"),
            "s.csv:2: latency_s is 'nan', expected a finite number");
  EXPECT_EQ(file_message("gpu,any,1,0\n"), "s.csv:2: domain is 'gpu', expected core or memory");
  EXPECT_EQ(file_message("core,0,1,0\n"),
            "s.csv:2: target_mhz is '0', expected 'any', 'auto' or whole MHz");
  EXPECT_EQ(file_message("core,any,1,0\ncore,any,2,0\n"),
            "s.csv:3: domain core has two rows for 'any', expected one");
  EXPECT_EQ(file_message("core,any,1,0\ncore,210,2,0\ncore,210,2,0\n"),
            "s.csv:4: domain core has two rows for target 210, expected one");
  EXPECT_EQ(file_message("memory,5001,1,0\n"),
            "s.csv:2: domain memory has no row for 'any', expected one for the clocks that have "
            "no row of their own");
  EXPECT_EQ(file_message(""), "s.csv:1: no rows below the header");
  EXPECT_EQ(file_message("core,any,1\n", "domain,target,latency_s\n"),
            "s.csv:1: missing column 'target_mhz'; found domain,target,latency_s");
}

}  // namespace
}  // namespace negawatt::trace
