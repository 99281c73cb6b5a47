// SPDX-License-Identifier: Apache-2.0
//
// negawatt assign as a process: what it prints, what it refuses, and how it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

const std::string kSystems =
    "# evidence: measured\n# source: meter\n"
    "system,model,input_tokens,output_tokens,energy_j,runtime_s\n"
    "small,m,8,8,1,4\nsmall,m,8,64,12,40\nsmall,m,64,8,9,12\nsmall,m,64,64,40,90\n"
    "large,m,8,8,4,1\nlarge,m,8,64,10,5\nlarge,m,64,8,6,1\nlarge,m,64,64,16,6\n";
const std::string kRequests =
    "arrival_s,input_tokens,output_tokens\n0,8,8\n0,64,64\n1,8,8\n2,8,64\n3,64,8\n4,8,8\n";

struct Inputs {
  std::string requests = kRequests;
  std::string systems = kSystems;
};

class AssignCli : public ::testing::Test {
 protected:
  Finished assign(const std::string& options, const Inputs& inputs = {}) {
    folder_.file("r.csv", inputs.requests);
    folder_.file("s.csv", inputs.systems);
    return run_negawatt(folder_, "assign --requests r.csv --systems s.csv " + options);
  }
  /// Bad input: exit code 2, one line on standard error, nothing on standard output.
  void expect_refused(const Finished& run, const std::string& message) {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.error, "negawatt: " + message + "\n");
  }

  TemporaryFolder folder_;
};

TEST_F(AssignCli, PrintsJsonWithTheStableKeys) {
  const auto run = assign("--json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_DOUBLE_EQ(json["energy_j"], 35.0);
  EXPECT_DOUBLE_EQ(json["runtime_s"], 24.0);
  EXPECT_DOUBLE_EQ(json["objective"], 35.0);
  EXPECT_DOUBLE_EQ(json["share"]["small"], 0.5);
  EXPECT_TRUE(json["threshold"].is_object());
  EXPECT_DOUBLE_EQ(json["baselines"]["all:large"]["energy_j"], 44.0);
  EXPECT_DOUBLE_EQ(json["baselines"]["both-thresholds"]["energy_j"], 35.0);
  EXPECT_NEAR(json["bound"]["objective"], 35.0, 1e-9);
  EXPECT_GE(json["solve_s"], 0.0);
}

TEST_F(AssignCli, TakesPolicyLambdaCapacityAndThreshold) {
  const auto time = nlohmann::json::parse(assign("--json --lambda 0").out);
  EXPECT_DOUBLE_EQ(time["runtime_s"], 15.0);
  const auto room = nlohmann::json::parse(assign("--json --capacity small=2").out);
  EXPECT_DOUBLE_EQ(room["energy_j"], 38.0);
  const auto share = nlohmann::json::parse(assign("--json --capacity small=0.1,large=0.9").out);
  EXPECT_DOUBLE_EQ(share["energy_j"], 41.0);
  const auto all = nlohmann::json::parse(assign("--json --policy all:small").out);
  EXPECT_DOUBLE_EQ(all["energy_j"], 64.0);
  const auto fixed = nlohmann::json::parse(
      assign("--json --policy both-thresholds --threshold input=64,output=8").out);
  EXPECT_DOUBLE_EQ(fixed["energy_j"], 3 + 9 + 10 + 16);
  EXPECT_EQ(fixed["threshold"]["input_tokens"], 64);
}

TEST_F(AssignCli, CapacitiesAreSharesPercentsOrRequests) {
  const auto small = [&](const std::string& capacity) -> double {
    const auto run = assign("--json --capacity " + capacity);
    if (run.exit_code != 0) return -1.0;
    return 6.0 * nlohmann::json::parse(run.out)["share"]["small"].get<double>();
  };
  EXPECT_DOUBLE_EQ(small("small=1req"), 1.0);
  EXPECT_DOUBLE_EQ(small("small=2req"), 2.0);
  EXPECT_DOUBLE_EQ(small("small=1"), 3.0);  // no limit
  EXPECT_DOUBLE_EQ(small("small=34%"), 2.0);
  EXPECT_DOUBLE_EQ(small("small=33%,large=100%"), 1.0);
  for (const std::string wrong : {"101%", "-1%", "1.5req", "50%req", "req", "%", "nan", "nan%"})
    EXPECT_EQ(small("small=" + wrong), -1.0) << wrong;
}

TEST_F(AssignCli, ANameMayHoldCommasOrAnEqualSign) {
  std::string systems = kSystems;
  for (std::size_t at = 0; (at = systems.find("small,", at)) != std::string::npos; at += 9)
    systems.replace(at, 5, "\"a,b,c=d\"");
  const auto json = nlohmann::json::parse(
      assign("--json --capacity 'large=0.9,a,b,c=d=2'", {.systems = systems}).out);
  EXPECT_DOUBLE_EQ(json["energy_j"], 38.0);
  const auto fixed = nlohmann::json::parse(
      assign("--json --policy input-threshold --threshold 'small=large,input=8'").out);
  EXPECT_EQ(fixed["threshold"]["small"], "large");
}

TEST_F(AssignCli, ASeedIsAWholeNumber) {
  for (const std::string seed : {"-1", "1.5", "x", "18446744073709551616"})
    EXPECT_EQ(assign("--policy random --seed " + seed).exit_code, 2) << seed;
  EXPECT_EQ(assign("--policy random --seed 18446744073709551615").exit_code, 0);
}

TEST_F(AssignCli, TheSameInputGivesTheSameBytes) {
  const auto without_time = [](const std::string& text) {
    auto json = nlohmann::json::parse(text);
    json.erase("solve_s");
    return json.dump();
  };
  const auto one = assign("--json --policy random --seed 7");
  const auto two = assign("--json --policy random --seed 7");
  EXPECT_EQ(without_time(one.out), without_time(two.out));
}

TEST_F(AssignCli, TextFitsATerminalAndSaysWhenThereIsNothingToGain) {
  const auto run = assign("");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  std::size_t start = 0;
  for (std::size_t end = 0; (end = run.out.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 80U) << run.out.substr(start, end - start);
  EXPECT_NE(run.out.find("-20.45 % of energy"), std::string::npos) << run.out;
  const auto nothing = assign("", {.requests = "input_tokens,output_tokens\n64,64\n"});
  EXPECT_NE(nothing.out.find("Nothing to gain"), std::string::npos) << nothing.out;
}

TEST_F(AssignCli, KeepsTheJsonInAFile) {
  const auto run = assign("--out a.json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(*read_file(folder_.path("a.json")))["energy_j"], 35.0);
  EXPECT_NE(run.out.find("optimal"), std::string::npos);
}

TEST_F(AssignCli, ReadsOneOfSeveralModels) {
  const auto systems = kSystems + "large,huge,8,8,99,1\nlarge,huge,8,64,99,1\n";
  expect_refused(assign("", {.systems = systems}),
                 "s.csv: system 'large' has several models, choose one with --model: 'huge', 'm'");
  EXPECT_EQ(assign("--model m", {.systems = systems}).exit_code, 0);
}

TEST_F(AssignCli, RefusesBadInputInOneLine) {
  const std::string header = "arrival_s,input_tokens,output_tokens\n";
  expect_refused(assign("", {.requests = header + "0,8,0\n"}),
                 "r.csv:2: output_tokens is '0', expected a whole number from 1 to 4294967295");
  expect_refused(assign("", {.requests = header + "1,8,8\n0,8,8\n"}),
                 "r.csv:3: arrives before the request above it, expected requests in order of "
                 "arrival");
  expect_refused(assign("", {.systems = "system,model\n"}),
                 "s.csv:1: missing column 'input_tokens', 'output_tokens', 'energy_j', "
                 "'runtime_s'; found system,model");
  expect_refused(assign("--policy best"),
                 "--policy is 'best', expected optimal, input-threshold, output-threshold, "
                 "both-thresholds, random, round-robin, follow-up, or all:NAME");
  expect_refused(assign("--policy all:none"),
                 "s.csv has no system 'none', expected 'small', 'large'");
  expect_refused(assign("--lambda 2"), "lambda is 2, expected 0 (time) to 1 (energy)");
  expect_refused(assign("--format csv"),
                 "--format is 'csv', expected azure, lmsys, vidur, splitwise, mooncake, burstgpt, "
                 "own, lengths");
  expect_refused(
      assign("--capacity small=1.5"),
      "--capacity of 'small' is '1.5', expected a share (0 to 1, or 0% to 100%) or a whole number "
      "of requests (above 1, or 1req)");
  expect_refused(assign("--capacity small"),
                 "--capacity is 'small', expected NAME=SHARE,NAME=SHARE");
  expect_refused(assign("--capacity small=0.1,large=0.1"),
                 "the capacities (small 0, large 0) are too small for 6 requests: the systems have "
                 "room for 0 of 6");
  expect_refused(assign("--threshold input=8"),
                 "--threshold goes with --policy input-threshold, output-threshold or "
                 "both-thresholds of the same name");
  expect_refused(assign("--policy input-threshold --threshold input=x"),
                 "--threshold is 'input=x', expected some of input=TOKENS, output=TOKENS, "
                 "small=NAME");
  expect_refused(assign("--outside refuse", {.requests = header + "0,8,65\n"}),
                 "no system was measured around requests of 8 input and 65 output tokens, of which "
                 "there are 1: without extrapolation they can go nowhere");
}

TEST_F(AssignCli, RefusesWrongUsage) {
  for (const std::string arguments : {"assign", "assign --requests r.csv", "assign --systems s.csv",
                                      "assign --requests none.csv --systems none.csv"}) {
    const auto run = run_negawatt(folder_, arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
  }
}

}  // namespace
}  // namespace negawatt::testing
