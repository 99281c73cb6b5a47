// SPDX-License-Identifier: Apache-2.0
#include "trace/kernel_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace negawatt::trace {
namespace {

constexpr std::string_view kHeader = "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n";

std::string message_for(const std::string& rows, std::string_view header = kHeader) {
  const auto table = parse_kernel_table(std::string(header) + rows, "k.csv");
  return table ? "accepted" : table.error().message;
}

TEST(KernelTable, ReadsKernelsInOrderOfFirstAppearance) {
  const auto table = parse_kernel_table("# evidence: measured\n# source: NVML energy counter\n" +
                                            std::string(kHeader) +
                                            "gemm,forward,24,auto,auto,0.25,75\n"
                                            "gelu,forward,2,1410,5001,0.5,100\n"
                                            "gemm,forward,24,1410,5001,0.5,60\n",
                                        "k.csv");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->kernels.size(), 2U);
  const auto& gemm = table->kernels[0];
  EXPECT_EQ(gemm.name, "gemm");
  EXPECT_EQ(gemm.group, "forward");
  EXPECT_EQ(gemm.calls, 24U);
  ASSERT_EQ(gemm.options.size(), 2U);
  const auto* slow = gemm.at({Clock::locked_mhz(1410), Clock::locked_mhz(5001)});
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(slow->time, Seconds(0.5));
  EXPECT_EQ(slow->energy, Joules(60));
  EXPECT_EQ(gemm.at({Clock::locked_mhz(1410), Clock::automatic()}), nullptr);
  EXPECT_EQ(table->evidence.kind, EvidenceKind::measured);
  EXPECT_EQ(table->evidence.source, "NVML energy counter");
  EXPECT_FALSE(table->has_deviations);
}

TEST(KernelTable, ReadsColumnsInAnyOrderAndIgnoresUnknownOnes) {
  const auto table = parse_kernel_table(
      "energy_j,note,time_s,memory_mhz,core_mhz,calls,group,kernel\n7,\"a, b\",2,auto,210,1,g,k\n",
      "k.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->kernels[0].options[0].energy, Joules(7));
  EXPECT_EQ(table->kernels[0].options[0].clocks.core, Clock::locked_mhz(210));
}

TEST(KernelTable, ReadsDeviationsOnlyTogether) {
  const auto table = parse_kernel_table(
      "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j,time_sd_s,energy_sd_j\n"
      "k,g,1,auto,auto,2,7,0.1,0.5\n",
      "k.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_TRUE(table->has_deviations);
  EXPECT_EQ(table->kernels[0].options[0].time_sd, Seconds(0.1));
  EXPECT_EQ(table->kernels[0].options[0].energy_sd, Joules(0.5));
  EXPECT_EQ(message_for("k,g,1,auto,auto,2,7,0.1\n",
                        "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j,time_sd_s\n"),
            "k.csv:1: time_sd_s and energy_sd_j come together: one of them is missing");
}

TEST(KernelTable, SaysWhatIsWrongWithARow) {
  const std::string good = "k,g,1,auto,auto,1,1\n";
  EXPECT_EQ(message_for("k,g,1,auto,auto,nan,1\n"),
            "k.csv:2: time_s is 'nan', expected a finite number");
  EXPECT_EQ(message_for("k,g,1,auto,auto,-1,1\n"),
            "k.csv:2: time_s is -1, expected more than 0 (leave out what was not measured)");
  EXPECT_EQ(message_for("k,g,1,auto,auto,0,1\n"),
            "k.csv:2: time_s is 0, expected more than 0 (leave out what was not measured)");
  EXPECT_EQ(message_for("k,g,1,auto,auto,1,0\n"),
            "k.csv:2: energy_j is 0, expected more than 0 (leave out what was not measured)");
  EXPECT_EQ(message_for("k,g,0,auto,auto,1,1\n"),
            "k.csv:2: calls is '0', expected a whole number from 1 to 4294967295");
  EXPECT_EQ(message_for("k,g,1,max,auto,1,1\n"),
            "k.csv:2: core_mhz is 'max', expected 'auto' or whole MHz");
  EXPECT_EQ(message_for(",g,1,auto,auto,1,1\n"), "k.csv:2: kernel is empty, expected a name");
  EXPECT_EQ(message_for("caf\xE9,g,1,auto,auto,1,1\n"),
            "k.csv:2: kernel is 'caf\\xe9', expected UTF-8 text without control characters");
  EXPECT_EQ(message_for("k,\"g\n\",1,auto,auto,1,1\n"),
            "k.csv:2: group is 'g\\x0a', expected UTF-8 text without control characters");
  EXPECT_EQ(message_for(good + "k,g,2,210,auto,1,1\n"),
            "k.csv:3: kernel 'k' has 2 calls here and 1 above");
  EXPECT_EQ(message_for(good + "k,h,1,210,auto,1,1\n"),
            "k.csv:3: kernel 'k' is in group 'h' here and in 'g' above");
  EXPECT_EQ(message_for(good + good),
            "k.csv: kernel 'k' has the pair core auto, memory auto twice, expected one row a pair");
  EXPECT_EQ(message_for(good + "k,g,1,210,au"),
            "k.csv:3: the last line is cut off: 5 fields, expected 7 "
            "(kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j)");
}

TEST(KernelTable, SaysWhatIsWrongWithTheHeader) {
  EXPECT_EQ(message_for("", "kernel,calls,core_mhz,memory_mhz,time_s\n"),
            "k.csv:1: missing column 'group', 'energy_j'; found "
            "kernel,calls,core_mhz,memory_mhz,time_s");
  EXPECT_EQ(message_for("", "kernel,kernel\n"), "k.csv:1: column 'kernel' is there twice");
  EXPECT_EQ(message_for(""), "k.csv:1: no rows below the header");
  EXPECT_EQ(message_for("", "# evidence: guessed\n" + std::string(kHeader)),
            "k.csv:2: evidence is 'guessed', expected measured, modelled, simulated or published");
  EXPECT_EQ(message_for("", "# source: a\x1B[31m\n" + std::string(kHeader)),
            "k.csv:2: source is 'a\\x1b[31m', expected UTF-8 text without control characters");
}

TEST(KernelTable, MarksALastLineWithoutLineEnd) {
  const auto table = parse_kernel_table(std::string(kHeader) + "k,g,1,auto,auto,1,12.5", "k.csv");
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->last_line_open);
}

TEST(KernelTable, ReadsTenMillionRowsAndNamesTheLineOfOneThatIsWrong) {
  constexpr std::size_t kKernels = 10'000;
  constexpr std::size_t kPairs = 1'000;
  std::string bytes(kHeader);
  bytes.reserve(kKernels * kPairs * 24);
  for (std::size_t kernel = 0; kernel < kKernels; ++kernel) {
    const auto row = "k" + std::to_string(kernel) + ",g,1,";
    for (std::size_t mhz = 1; mhz <= kPairs; ++mhz)
      bytes += row + std::to_string(mhz) + ",auto,1,1\n";
  }
  const auto table = parse_kernel_table(bytes, "k.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->kernels.size(), kKernels);
  EXPECT_EQ(table->kernels.back().options.size(), kPairs);

  bytes += "k,g,1,auto,auto,-1,1\n";
  const auto refused = parse_kernel_table(bytes, "k.csv");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "k.csv:10000002: time_s is -1, expected more than 0 (leave out what was not measured)");
}

class SequenceTest : public ::testing::Test {
 protected:
  static std::string message_for(std::string_view text) {
    const auto sequence = parse_sequence(text, "s.csv", table());
    return sequence ? "accepted" : sequence.error().message;
  }
  static KernelTable table() {
    return parse_kernel_table(std::string(kHeader) + "a,g,2,auto,auto,1,1\nb,g,1,auto,auto,1,1\n",
                              "k.csv")
        .value();
  }
};

TEST_F(SequenceTest, ReadsPositionsFromZeroOrOne) {
  const Sequence expected = {0, 1, 0};
  EXPECT_EQ(parse_sequence("position,kernel\n0,a\n1,b\n2,a\n", "s.csv", table()).value(), expected);
  EXPECT_EQ(parse_sequence("kernel,position\na,1\nb,2\na,3\n", "s.csv", table()).value(), expected);
}

TEST_F(SequenceTest, RunsEachKernelsCallsInTableOrderByDefault) {
  EXPECT_EQ(sequence_in_table_order(table()).value(), (Sequence{0, 0, 1}));
}

TEST_F(SequenceTest, RefusesWhatIsNoSequenceOfThisTable) {
  EXPECT_EQ(message_for("position,kernel\n0,a\n1,c\n"), "s.csv:3: kernel 'c' is not in k.csv");
  EXPECT_EQ(message_for("position,kernel\n0,a\n2,b\n"), "s.csv:3: position is 2, expected 1");
  EXPECT_EQ(message_for("position,kernel\n5,a\n"), "s.csv:2: position is 5, expected 0");
  EXPECT_EQ(message_for("position,kernel\n0,a\n1,b\n"),
            "s.csv: kernel 'a' appears 1 times, but k.csv says 2 calls");
  EXPECT_EQ(message_for("position,kernel\n"), "s.csv:1: no rows below the header");
}

TEST_F(SequenceTest, RefusesAnIterationTooLongToWriteOut) {
  const auto table =
      parse_kernel_table(std::string(kHeader) + "a,g,4000000000,auto,auto,1,1\n", "k.csv");
  const auto sequence = sequence_in_table_order(*table);
  ASSERT_FALSE(sequence);
  EXPECT_EQ(sequence.error().message,
            "k.csv: one iteration has 4000000000 kernel calls, expected at most 100000000");
}

}  // namespace
}  // namespace negawatt::trace
