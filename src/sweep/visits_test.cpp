// SPDX-License-Identifier: Apache-2.0
#include "sweep/visits.hpp"

#include <gtest/gtest.h>

#include <set>

namespace negawatt::sweep {
namespace {

const std::vector<std::string> kKernels = {"gemm", "a \"quoted\", name"};

Visit sample() {
  return {.kernel = 1,
          .clocks = {trace::Clock::locked_mhz(1410), {}},
          .time = Seconds(0.1 / 3.0),
          .energy = Joules(2.0 / 3.0),
          .energy_deviation = Joules(0.001),
          .calls = 60,
          .actual_core_mhz = 1395,
          .actual_memory_mhz = 9501,
          .obedience = Obedience::capped,
          .temperature_c = 77};
}

TEST(VisitLog, ReadsBackWhatWasWrittenToTheLastBit) {
  auto other = sample();
  other.kernel = 0;
  other.temperature_c.reset();
  const auto text =
      log_header("GPU-1, 2 s") + log_line(sample(), kKernels) + log_line(other, kKernels);
  const auto log = parse_log(text, "v.log", kKernels);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->setup, "GPU-1, 2 s");
  EXPECT_EQ(log->whole_bytes, text.size());
  ASSERT_EQ(log->visits.size(), 2U);
  const auto& read = log->visits[0];
  EXPECT_EQ(read.kernel, 1U);
  EXPECT_EQ(read.clocks, sample().clocks);
  EXPECT_EQ(read.time, sample().time);
  EXPECT_EQ(read.energy, sample().energy);
  EXPECT_EQ(read.calls, 60U);
  EXPECT_EQ(read.actual_core_mhz, 1395U);
  EXPECT_EQ(read.obedience, Obedience::capped);
  EXPECT_EQ(read.temperature_c, 77);
  EXPECT_FALSE(log->visits[1].temperature_c);
}

TEST(VisitLog, ReadsBackTheSetupOfAnyCommand) {
  const std::vector<std::vector<std::string>> commands = {{"sh", "-c", "one\ntwo"},
                                                          {"sh", "-c", "ends in a blank "},
                                                          {"sh", "", "\t\x01 \xff"},
                                                          {"sh", ""},
                                                          {"sh"},
                                                          {"a", "b"},
                                                          {"a b"},
                                                          {"a' 'b"},
                                                          {"a\\", "b"},
                                                          {"a\\' 'b"},
                                                          {"\\x01"},
                                                          {"\x01"},
                                                          {std::string(500, 'x')}};
  std::set<std::string> setups;
  for (const auto& command : commands) {
    const auto setup = setup_text("GPU-1, 2 s", command);
    const auto log = parse_log(log_header(setup) + log_line(sample(), kKernels), "v.log", kKernels);
    ASSERT_TRUE(log) << setup << ": " << log.error().message;
    EXPECT_EQ(log->setup, setup);
    EXPECT_EQ(log->visits.size(), 1U);
    EXPECT_TRUE(setups.insert(setup).second) << setup;
  }
}

TEST(VisitLog, DropsALineThatAKillCutOff) {
  const auto whole = log_header("s") + log_line(sample(), kKernels);
  for (std::size_t cut = 0; cut < log_line(sample(), kKernels).size(); ++cut) {
    const auto text = whole + log_line(sample(), kKernels).substr(0, cut);
    const auto log = parse_log(text, "v.log", kKernels);
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->visits.size(), 1U);
    EXPECT_EQ(log->whole_bytes, whole.size());
  }
}

TEST(VisitLog, RefusesWhatIsNotItsOwn) {
  EXPECT_FALSE(parse_log("", "v.log", kKernels));
  EXPECT_FALSE(parse_log("kernel,calls\n", "v.log", kKernels));
  const auto text = log_header("s") + log_line(sample(), kKernels);
  const auto log = parse_log(text, "v.log", {"other"});
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message,
            "v.log:3: kernel is 'a \"quoted\", name', expected a kernel that this program runs");
}

}  // namespace
}  // namespace negawatt::sweep
