// SPDX-License-Identifier: Apache-2.0
#include "govern/execution.hpp"

#include <gtest/gtest.h>

#include <string>

namespace negawatt::govern {
namespace {

const std::string kPlan = R"({
  "baseline": {"core_mhz": "auto", "memory_mhz": "auto", "time_s": 2.5, "energy_j": 550},
  "plan": {"time_s": 2.52, "energy_j": 520},
  "best_static": {"time_s": 2.5, "energy_j": 540}, "bound": {"energy_j": 519},
  "evidence": "measured",
  "execution": {
    "kernels": ["gemm", "gelu"], "sequence": [0, 1, 0], "time_s": [0.26, 0.5, 0.26],
    "segments": [
      {"first": 0, "last": 0, "core_mhz": 1410, "memory_mhz": 5001, "core_lead_s": 0.006,
       "memory_lead_s": 0.1, "time_s": 0.26, "energy_j": 60},
      {"first": 1, "last": 2, "core_mhz": "auto", "memory_mhz": 5001, "core_lead_s": 0.015,
       "memory_lead_s": 0, "time_s": 0.76, "energy_j": 175}]}})";

std::string with(const std::string& from, const std::string& to) {
  auto text = kPlan;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string refusal(const std::string& text) {
  const auto execution = parse_execution(text, "plan.json");
  EXPECT_FALSE(execution);
  if (execution) return "";
  EXPECT_EQ(execution.error().code, Code::invalid);
  return execution.error().message;
}

TEST(Execution, ReadsAPlan) {
  const auto execution = parse_execution(kPlan, "plan.json");
  ASSERT_TRUE(execution) << execution.error().message;
  EXPECT_EQ(execution->kernels, (std::vector<std::string>{"gemm", "gelu"}));
  EXPECT_EQ(execution->sequence, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(execution->expected[1], Seconds(0.5));
  ASSERT_EQ(execution->segments.size(), 2U);
  EXPECT_EQ(execution->segments[0].clocks.core, trace::Clock::locked_mhz(1410));
  EXPECT_EQ(execution->segments[0].memory_lead, Seconds(0.1));
  EXPECT_EQ(execution->segments[1].clocks.core, trace::Clock::automatic());
  EXPECT_EQ(execution->segments[1].promised.energy, Joules(175));
  EXPECT_EQ(execution->promised.energy, Joules(520));
  EXPECT_EQ(execution->baseline.time, Seconds(2.5));
  EXPECT_EQ(execution->best_static->energy, Joules(540));
  EXPECT_EQ(execution->bound, Joules(519));
  EXPECT_EQ(execution->evidence, EvidenceKind::measured);
}

TEST(Execution, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("{"), "plan.json: not JSON; expected the output of 'negawatt plan --out'");
  EXPECT_EQ(
      refusal("[1]"),
      "plan.json: no 'execution'; expected the JSON of 'negawatt plan --out' of this version");
  EXPECT_EQ(refusal(with("\"last\": 2", "\"last\": 3")),
            "plan.json: the segments end at invocation 4 of 3");
  EXPECT_EQ(refusal(with("\"first\": 1", "\"first\": 2")),
            "plan.json: a segment from 2 to 2 where 1 was expected to start");
  EXPECT_EQ(refusal(with("[0, 1, 0]", "[0, 2, 0]")), "plan.json: 'sequence' names kernel 2 of 2");
  EXPECT_EQ(refusal(with("[0, 1, 0]", "[0, 1]")),
            "plan.json: 'time_s' and 'sequence' differ in length");
  EXPECT_EQ(refusal(with("[0, 1, 0]", "[0, -1, 0]")), "plan.json: 'sequence' is no whole number");
  EXPECT_EQ(refusal(with("1410", "0")), "plan.json: 'core_mhz' is 0, expected MHz or \"auto\"");
  EXPECT_EQ(refusal(with("1410", "\"fast\"")), "plan.json: 'core_mhz' is no whole number");
  EXPECT_EQ(refusal(with("0.006", "-0.006")), "plan.json: 'core_lead_s' is no number of 0 or more");
  EXPECT_EQ(refusal(with("[0.26, 0.5, 0.26]", "[0.26, 0, 0.26]")),
            "plan.json: 'time_s' holds an invocation that takes no time");
}

}  // namespace
}  // namespace negawatt::govern
