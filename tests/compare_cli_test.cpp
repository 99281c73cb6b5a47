// SPDX-License-Identifier: Apache-2.0
//
// negawatt compare as a person or a program runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

/// A run whose plan promised -10 % of energy in the same time; the baseline is 2 s and 500 J.
std::string run_of(bool governed, double time_s, double energy_j) {
  return nlohmann::json{
      {"governed", governed},
      {"baseline",
       {{"core_mhz", "auto"}, {"memory_mhz", "auto"}, {"time_s", 2.0}, {"energy_j", 500.0}}},
      {"promised", {{"time_s", 2.0}, {"energy_j", 450.0}}},
      {"achieved",
       {{"iterations", 9},
        {"time_s", time_s},
        {"time_sd_s", 1e-3},
        {"energy_j", energy_j},
        {"energy_sd_j", 0.1}}},
      {"segments", nlohmann::json::array()},
      {"why",
       {{"requests", 1},
        {"refused", 0},
        {"changes", 1},
        {"late", 0},
        {"most_late_s", 0.0},
        {"missed_iterations", 0},
        {"pace", 1.0},
        {"off_plan", false}}},
      {"ending", "exit code 0"},
      {"gpu", "GPU-1"},
      {"plan_file", "p.json"},
      {"command", "train"},
      {"evidence", "simulated"},
      {"promised_evidence", "simulated"}}
      .dump();
}

class CompareCli : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.file("auto.json", run_of(false, 2.5, 400.0));
    folder_.file("governed.json", run_of(true, 2.5, 361.0));
  }
  TemporaryFolder folder_;
};

TEST_F(CompareCli, JudgesARunAgainstTheMeasuredBaseline) {
  const auto run = run_negawatt(folder_, "compare governed.json auto.json --json --out c.json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.out, read_file(folder_.path("c.json")));
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["baseline"]["run"], "auto");
  EXPECT_EQ(json["runs"][0]["run"], "governed");
  EXPECT_NEAR(json["runs"][0]["achieved"]["energy_change_pct"], -9.75, 1e-9);
  EXPECT_EQ(json["runs"][0]["verdict"], "holds its promise within 0.25 points");
  EXPECT_EQ(json["command"], "negawatt compare governed.json auto.json --json --out c.json");
}

TEST_F(CompareCli, WritesEveryFormatThatItNames) {
  EXPECT_NE(run_negawatt(folder_, "compare auto.json governed.json").out.find("-9.75 %"),
            std::string::npos);
  const auto csv = run_negawatt(folder_, "compare auto.json governed.json --format csv").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  ASSERT_EQ(
      run_negawatt(folder_, "compare auto.json governed.json --format html --out c.html").exit_code,
      0);
  const auto page = read_file(folder_.path("c.html"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->find("src=\"http"), std::string::npos);
  EXPECT_NE(page->find("Run governed holds its promise within 0.25 points."), std::string::npos);
}

TEST_F(CompareCli, RefusesWhatIsNoRunInOneLine) {
  folder_.file("plan.json", "{\"plan\": {}}");
  const auto expect_refused = [this](const std::string& arguments, const std::string& message) {
    const auto run = run_negawatt(folder_, "compare " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.error, "negawatt: " + message + "\n");
  };
  expect_refused("auto.json none.json", "cannot read 'none.json': No such file or directory");
  expect_refused("auto.json plan.json",
                 "plan.json: no 'governed'; expected the JSON of 'negawatt "
                 "run --out' of this version");
  expect_refused("auto.json --format trace",
                 "a comparison has no trace; expected text, json, csv or html");
  EXPECT_EQ(run_negawatt(folder_, "compare").exit_code, 2);
}

}  // namespace
}  // namespace negawatt::testing
