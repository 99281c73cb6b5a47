// SPDX-License-Identifier: Apache-2.0
#include "trace/system_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace negawatt::trace {
namespace {

const std::string kHeader = "system,model,input_tokens,output_tokens,energy_j,runtime_s\n";

std::string message_for(const std::string& rows, std::string_view model = "") {
  const auto table = parse_system_table(kHeader + rows, "s.csv");
  if (!table) return table.error().message;
  const auto one = systems_with_model(*table, model);
  return one ? "accepted" : one.error().message;
}

TEST(SystemTable, ReadsRunsOfSystemsInOrder) {
  const auto table = parse_system_table("# evidence: measured\n# source: NVML\n" + kHeader +
                                            "B,m,8,16,2.5,0.5\nA,m,8,16,1,2\nB,m,8,16,3,1\n",
                                        "s.csv");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->systems.size(), 2U);
  EXPECT_EQ(table->systems[0].name, "B");
  EXPECT_EQ(table->systems[1].name, "A");
  ASSERT_EQ(table->systems[0].runs.size(), 2U);
  EXPECT_EQ(table->systems[0].runs[1].size, (RequestSize{8, 16}));
  EXPECT_EQ(table->systems[0].runs[0].cost.energy, Joules(2.5));
  EXPECT_EQ(table->systems[0].runs[0].cost.time, Seconds(0.5));
  EXPECT_EQ(table->evidence.kind, EvidenceKind::measured);
}

TEST(SystemTable, KeepsOneModelOfEachSystem) {
  const std::string rows = "A,small,8,8,1,1\nA,large,8,8,1,1\nB,small,8,8,1,1\n";
  EXPECT_EQ(message_for(rows),
            "s.csv: system 'A' has several models, choose one with --model: 'large', 'small'");
  EXPECT_EQ(message_for(rows, "huge"),
            "s.csv: no system has the model 'huge', expected 'large', 'small'");
  const auto table = systems_with_model(*parse_system_table(kHeader + rows, "s.csv"), "large");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->systems.size(), 1U);
  EXPECT_EQ(table->systems[0].name, "A");
  // Unlike models on unlike systems are what the follow-up compares.
  EXPECT_EQ(message_for("A,small,8,8,1,1\nB,large,8,8,1,1\n"), "accepted");
}

TEST(SystemTable, SaysWhatIsWrong) {
  EXPECT_EQ(message_for(""), "s.csv:1: no rows below the header");
  EXPECT_EQ(message_for(",m,8,8,1,1\n"), "s.csv:2: system is '', expected a name");
  EXPECT_EQ(message_for("A,,8,8,1,1\n"), "s.csv:2: model is '', expected a name");
  EXPECT_EQ(message_for("A,m,0,8,1,1\n"),
            "s.csv:2: input_tokens is '0', expected a whole number from 1 to 4294967295");
  EXPECT_EQ(message_for("A,m,8,8,-1,1\n"),
            "s.csv:2: energy_j is -1, expected more than 0 (leave out what was not measured)");
  EXPECT_EQ(message_for("A,m,8,8,1,nan\n"),
            "s.csv:2: runtime_s is 'nan', expected a finite number");
}

}  // namespace
}  // namespace negawatt::trace
