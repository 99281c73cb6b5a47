// SPDX-License-Identifier: Apache-2.0
//
// What a person or a program gets from the negawatt binary: messages, exit codes, files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

const std::string kHeader = "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n";
const std::string kTable = kHeader +
                           "a,g,2,auto,auto,1,10\n"
                           "a,g,2,900,auto,1.05,8\n"
                           "b,g,1,auto,auto,1,10\n"
                           "b,g,1,900,auto,2,9\n";

class Cli : public ::testing::Test {
 protected:
  /// `negawatt plan` on a table with this content.
  Finished plan(const std::string& table, const std::string& options = "") {
    folder_.file("k.csv", table);
    return run_negawatt(folder_, "plan k.csv " + options);
  }
  /// Bad input: exit code 2, one line on standard error, nothing on standard output.
  void expect_refused(const Finished& run, const std::string& message) {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.error, "negawatt: " + message + "\n");
  }

  TemporaryFolder folder_;
};

TEST_F(Cli, PlansATableAndPrintsJson) {
  const auto run = plan(kTable, "--slowdown 5 --json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_DOUBLE_EQ(json["baseline"]["time_s"], 3.0);
  EXPECT_DOUBLE_EQ(json["baseline"]["energy_j"], 30.0);
  EXPECT_DOUBLE_EQ(json["plan"]["energy_j"], 26.0);
  EXPECT_NEAR(json["plan"]["time_change_pct"], 100.0 / 30.0, 1e-9);
  EXPECT_EQ(json["plan"]["choices"][0]["core_mhz"], 900);
  EXPECT_EQ(json["plan"]["choices"][1]["core_mhz"], "auto");
  EXPECT_EQ(json["gap_pct"], 0.0);
  EXPECT_EQ(json["bound"]["energy_j"], json["plan"]["energy_j"]);
  EXPECT_EQ(json["best_static"]["core_mhz"], "auto");
}

TEST_F(Cli, WritesTheSamePlanToAFile) {
  const auto run = plan(kTable, "--slowdown 5 --out plan.json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto json = nlohmann::json::parse(*read_file(folder_.path("plan.json")));
  EXPECT_DOUBLE_EQ(json["plan"]["energy_j"], 26.0);
  EXPECT_NE(run.out.find("-13.3"), std::string::npos) << run.out;
}

TEST_F(Cli, TextFitsATerminalOfEightyColumns) {
  const auto run = plan(kTable, "--slowdown 5 --frontier");
  std::size_t start = 0;
  for (std::size_t end = 0; (end = run.out.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 80U) << run.out.substr(start, end - start);
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "colour without a terminal";
}

TEST_F(Cli, ReadsTheTableFromAPipe) {
  folder_.file("k.csv", kTable);
  const auto run = run_negawatt(folder_, "plan - --slowdown 5 --json < k.csv");
  EXPECT_EQ(run.exit_code, 0) << run.error;
}

TEST_F(Cli, ReadsWindowsFilesQuotedFieldsAndAByteOrderMark) {
  const auto run = plan(
      "\xEF\xBB\xBFkernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\r\n"
      "\"gemm<128, 256>\",\"pass \"\"one\"\"\",1,auto,auto,1,10\r\n",
      "--json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(nlohmann::json::parse(run.out)["plan"]["choices"][0]["kernel"], "gemm<128, 256>");
}

TEST_F(Cli, AWholeLastRowWithoutLineEndIsAcceptedWithANote) {
  const auto run = plan(kHeader + "a,g,2,auto,auto,1,10", "--json");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.error.find("note: k.csv has no line end after its last row"), std::string::npos);
}

TEST_F(Cli, RefusesBadTablesInOneLine) {
  expect_refused(run_negawatt(folder_, "plan none.csv"),
                 "cannot read 'none.csv': No such file or directory");
  expect_refused(run_negawatt(folder_, "plan ."), "cannot read '.': Is a directory");
  expect_refused(plan(""), "k.csv:1: the file is empty: expected a header line");
  expect_refused(plan("kernel,group,calls,core_mhz,time_s,energy_j\n"),
                 "k.csv:1: missing column 'memory_mhz'; found "
                 "kernel,group,calls,core_mhz,time_s,energy_j");
  expect_refused(plan("kernel,kernel,group\n"), "k.csv:1: column 'kernel' is there twice");
  expect_refused(plan(kHeader + "a,g,1,auto,auto,nan,1\n"),
                 "k.csv:2: time_s is 'nan', expected a finite number");
  expect_refused(plan(kHeader + "a,g,1,auto,auto,-1,1\n"),
                 "k.csv:2: time_s is -1, expected more than 0 (leave out what was not measured)");
  expect_refused(plan(kHeader + "a,g,1,auto,auto,0,1\n"),
                 "k.csv:2: time_s is 0, expected more than 0 (leave out what was not measured)");
  expect_refused(plan(kHeader + "a,g,1,auto,auto,1,1\nb,g,1,900,auto,1,1\n"),
                 "k.csv: kernel 'b' has no row at the baseline (core auto, memory auto)");
  expect_refused(plan(kHeader + "a,g,1,auto,auto,1,1\nb,g,1,9"),
                 "k.csv:3: the last line is cut off: 4 fields, expected 7 "
                 "(kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j)");
}

TEST_F(Cli, RefusesAnImpossibleBudget) {
  const auto run = plan(kTable, "--slowdown -50");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
}

TEST_F(Cli, RefusesASequenceThatNamesAnUnknownKernel) {
  folder_.file("s.csv", "position,kernel\n0,a\n1,gemm\n");
  expect_refused(plan(kTable, "--granularity schedule --sequence s.csv"),
                 "s.csv:3: kernel 'gemm' is not in k.csv");
}

TEST_F(Cli, RefusesWrongUsageInOneLine) {
  for (const std::string arguments :
       {"", "plan", "plam k.csv", "plan k.csv --objective fast", "plan k.csv --slowdown x",
        "plan k.csv --baseline 900", "plan k.csv --lambda 0.5", "plan k.csv --confidence 2",
        "plan k.csv --switch-latency core=0.1", "pipeline k.csv",
        "plan k.csv --granularity schedule --switch-latency disk=1"}) {
    folder_.file("k.csv", kTable);
    const auto run = run_negawatt(folder_, arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
  }
}

TEST_F(Cli, AFailedWriteLeavesTheOldFileAndExitsWithOne) {
  folder_.file("k.csv", kTable);
  const auto run = run_negawatt(folder_, "plan k.csv --json --out none/plan.json");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.error, "negawatt: cannot write 'none/plan.json': No such file or directory\n");
}

TEST_F(Cli, HelpAndVersionGoToStandardOutput) {
  EXPECT_EQ(run_negawatt(folder_, "--version").out, "negawatt " NEGAWATT_VERSION "\n");
  const auto help = run_negawatt(folder_, "plan --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("--switch-latency"), std::string::npos);
}

TEST_F(Cli, TheReportIsOneFileThatFetchesNothing) {
  folder_.file("k.csv", kTable);
  const auto run = run_negawatt(folder_, "report k.csv --slowdown 5");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto page = read_file(folder_.path("report.html"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->find("src=\"http"), std::string::npos);
  EXPECT_NE(page->find("negawatt report k.csv --slowdown 5"), std::string::npos);
}

}  // namespace
}  // namespace negawatt::testing
