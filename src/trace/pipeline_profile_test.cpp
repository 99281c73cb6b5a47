// SPDX-License-Identifier: Apache-2.0
#include "trace/pipeline_profile.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/shared_data.hpp"

namespace negawatt::trace {
namespace {

constexpr std::string_view kHeader = "stage,instruction,frequency,time,energy\n";
constexpr std::string_view kOneStage = "0,forward,1410,0.5,100\n0,backward,1410,1,200\n";

std::string message_for(const std::string& bytes) {
  const auto profile = parse_pipeline_profile(bytes, "p.csv");
  return profile ? "accepted" : profile.error().message;
}

std::string message_below_header(const std::string& rows) {
  return message_for(std::string(kHeader) + rows);
}

TEST(PipelineProfile, SortsOptionsByClockWhateverTheOrderOfRows) {
  const auto profile = parse_pipeline_profile(
      "# evidence: measured\n# source: A100 NVML\n"
      "energy,frequency,instruction,stage,time,note\r\n"
      "30,1410,forward,1,0.5,x\r\n"
      "50,1410,backward,0,0.25,x\r\n"
      "20,855,forward,1,0.75,x\r\n"
      "60,1410,backward,1,1,x\r\n"
      "40,1410,forward,0,0.125,x",
      "p.csv");
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->stages.size(), 2U);
  const auto& forward = profile->stages[1].of(Pass::forward);
  ASSERT_EQ(forward.size(), 2U);
  EXPECT_EQ(forward[0].mhz, 855U);
  EXPECT_EQ(forward[0].time, Seconds(0.75));
  EXPECT_EQ(forward[0].energy, Joules(20));
  EXPECT_EQ(forward[1].mhz, 1410U);
  EXPECT_EQ(profile->stages[0].of(Pass::backward)[0].energy, Joules(50));
  EXPECT_EQ(profile->evidence.kind, EvidenceKind::measured);
  EXPECT_EQ(profile->evidence.source, "A100 NVML");
  EXPECT_TRUE(profile->last_line_open);
}

TEST(PipelineProfile, NamesMissingAndRepeatedColumns) {
  EXPECT_EQ(message_for("stage,instruction,time,energy\n0,forward,1,1\n"),
            "p.csv:1: missing column 'frequency'; found stage,instruction,time,energy");
  EXPECT_EQ(message_for("stage,stage,instruction,frequency,time,energy\n"),
            "p.csv:1: column 'stage' is there twice");
  EXPECT_EQ(message_for(""), "p.csv:1: the file is empty: expected a header line");
  EXPECT_EQ(message_for(std::string(kHeader)), "p.csv:1: no rows below the header");
}

TEST(PipelineProfile, RefusesWhatCannotBeAMeasurement) {
  EXPECT_EQ(message_below_header("0,forward,1410,nan,1\n"),
            "p.csv:2: time is 'nan', expected a finite number");
  EXPECT_EQ(message_below_header("0,forward,1410,1,inf\n"),
            "p.csv:2: energy is 'inf', expected a finite number");
  EXPECT_EQ(message_below_header("0,forward,1410,0,1\n"),
            "p.csv:2: time is 0, expected more than 0 (leave out what was not measured)");
  EXPECT_EQ(message_below_header("0,forward,1410,1,-3\n"),
            "p.csv:2: energy is -3, expected more than 0 (leave out what was not measured)");
  EXPECT_EQ(message_below_header("0,forward,0,1,3\n"),
            "p.csv:2: frequency is '0', expected a whole number from 1 to 4294967295");
  EXPECT_EQ(message_below_header("-1,forward,1410,1,3\n"),
            "p.csv:2: stage is '-1', expected a whole number from 0 to 4294967295");
  EXPECT_EQ(message_below_header("4000000000,forward,1410,1,3\n"),
            "p.csv:2: stage is 4000000000, expected less than 65536");
}

TEST(PipelineProfile, RefusesOtherInstructions) {
  EXPECT_EQ(message_below_header(std::string(kOneStage) + "0,optimizer,1410,1,3\n"),
            "p.csv:4: instruction is 'optimizer', expected forward or backward");
}

TEST(PipelineProfile, NamesBothLinesOfARepeatedMeasurement) {
  EXPECT_EQ(message_below_header(std::string(kOneStage) + "0,forward,1410,0.25,90\n"),
            "p.csv:4: stage 0 forward at 1410 MHz is there twice, first in line 2");
}

TEST(PipelineProfile, NamesAMissingStageOrPass) {
  EXPECT_EQ(message_below_header("0,forward,1410,1,3\n"),
            "p.csv: stage 0 has no backward row, expected both passes for every stage from 0 to 0");
  EXPECT_EQ(
      message_below_header(std::string(kOneStage) + "2,forward,1410,1,3\n2,backward,1410,1,3\n"),
      "p.csv: stage 1 has no forward row, expected both passes for every stage from 0 to 2");
}

TEST(PipelineProfile, SaysThatTheLastLineIsCutOff) {
  EXPECT_EQ(message_below_header(std::string(kOneStage) + "1,forward,14"),
            "p.csv:4: the last line is cut off: 3 fields, expected 5 "
            "(stage,instruction,frequency,time,energy)");
}

TEST(PipelineProfile, ReadsThePublishedProfile) {
  NW_SHARED_FILE_OR_SKIP(bytes, "pipeline-perseus/gpt3-175b+a100_sxm_bf16.csv");
  const auto profile = parse_pipeline_profile(bytes, "gpt3.csv");
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->stages.size(), 8U);
  for (const auto& stage : profile->stages) {
    for (const Pass pass : kPasses) {
      ASSERT_EQ(stage.of(pass).size(), 38U);
      EXPECT_EQ(stage.of(pass).front().mhz, 855U);
      EXPECT_EQ(stage.of(pass).back().mhz, 1410U);
    }
  }
  EXPECT_DOUBLE_EQ(profile->stages[0].of(Pass::forward).back().time.in_si(), 0.05016166687011708);
}

}  // namespace
}  // namespace negawatt::trace
