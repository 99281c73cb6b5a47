// SPDX-License-Identifier: Apache-2.0
//
// What a person or a program gets from the negawatt binary: messages, exit codes, files.
#include <gtest/gtest.h>

#include <algorithm>
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
  Finished plan(const std::string& text, const std::string& options = "") {
    folder_.file("k.csv", text);
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

TEST_F(Cli, AScheduleListsSegmentsThatCoverTheSequence) {
  folder_.file("s.csv", "position,kernel\n1,a\n2,b\n3,a\n");
  const auto run = plan(kTable,
                        "--sequence s.csv --granularity schedule --slowdown 5 --json "
                        "--switch-latency core=0.5,memory=2");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto plan = nlohmann::json::parse(run.out)["plan"];
  EXPECT_FALSE(plan.contains("choices"));
  // 0.5 s pass within any call, so that both calls of a get their slow clock: 16 J + 10 J.
  EXPECT_DOUBLE_EQ(plan["energy_j"], 26.0);
  ASSERT_EQ(plan["segments"].size(), 3U);
  EXPECT_EQ(plan["segments"][0]["first"], 0);
  EXPECT_EQ(plan["segments"][1]["core_mhz"], "auto");
  EXPECT_EQ(plan["segments"][2]["last"], 2);
  EXPECT_EQ(plan["switches"], 2);
}

TEST_F(Cli, ReadsLatenciesPerTargetFromAFile) {
  folder_.file("l.csv", "domain,target_mhz,latency_s\ncore,any,0.5\ncore,900,1.01\nmemory,any,0\n");
  folder_.file("s.csv", "position,kernel\n0,a\n1,b\n2,a\n");
  const auto run = plan(
      kTable, "--sequence s.csv --granularity schedule --slowdown 5 --json --switch-latency l.csv");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  // b's 1.0 s are too short to have 900 MHz ready behind it; b and one call of a are not: 28 J.
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(run.out)["plan"]["energy_j"], 28.0);
}

TEST_F(Cli, AConfidenceAddsAPromiseThatIsNoBetterThanTheSearch) {
  const auto run = plan(
      "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j,time_sd_s,energy_sd_j\n"
      "a,g,1,auto,auto,1,10,0.001,0.01\na,g,1,900,auto,1.01,8,0.001,0.01\n",
      "--slowdown 5 --confidence 0.95 --json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["plan"]["choices"][0]["core_mhz"], 900);
  const auto& promise = json["promise"];
  EXPECT_EQ(promise["confidence"], 0.95);
  EXPECT_LE(promise["time_at_confidence_s"], json["budget_s"]);
  EXPECT_GT(promise["time_at_confidence_s"], json["plan"]["time_s"]);
  EXPECT_NEAR(promise["expected"]["energy_change_pct"], -20.0, 1.0);
  EXPECT_GT(promise["expected_sd"]["energy_j"], 0.0);
}

class PipelineCli : public Cli {
 protected:
  Finished pipeline(const std::string& text, const std::string& options) {
    folder_.file("p.csv", text);
    return run_negawatt(folder_, "pipeline p.csv " + options);
  }
  const std::string header = "stage,instruction,frequency,time,energy\n";
  const std::string profile = header +
                              "0,forward,1400,1,10\n0,forward,700,2,5\n"
                              "0,backward,1400,2,20\n0,backward,700,4,10\n"
                              "1,forward,1400,1,10\n1,forward,700,2,5\n"
                              "1,backward,1400,2,20\n1,backward,700,4,10\n";
};

TEST_F(PipelineCli, PlansForASlowdownAndAFrontier) {
  const auto run =
      pipeline(profile, "--microbatches 1 --slowdown 100 --blocking-watts 1 --frontier --json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto json = nlohmann::json::parse(run.out);
  // One microbatch runs through both stages in turn: 6 s, 60 J, and 2 * 6 - 6 s of waiting.
  EXPECT_DOUBLE_EQ(json["baseline"]["time_s"], 6.0);
  EXPECT_DOUBLE_EQ(json["baseline"]["energy_j"], 66.0);
  EXPECT_DOUBLE_EQ(json["plan"]["time_s"], 12.0);
  EXPECT_DOUBLE_EQ(json["plan"]["energy_j"], 42.0);
  EXPECT_EQ(json["plan"]["instructions"].size(), 4U);
  EXPECT_EQ(json["plan"]["instructions"][0]["frequency"], 700);
  EXPECT_DOUBLE_EQ(json["frontier"].front()["time_s"], 6.0);
  EXPECT_DOUBLE_EQ(json["frontier"].back()["energy_j"], 42.0);
}

TEST_F(PipelineCli, RefusesBadProfilesAndImpossibleDeadlinesInOneLine) {
  expect_refused(pipeline(header + "0,forward,1400,0,10\n", "--microbatches 1"),
                 "p.csv:2: time is 0, expected more than 0 (leave out what was not measured)");
  EXPECT_EQ(pipeline(profile, "--microbatches 1 --deadline 5.9").exit_code, 2);
  EXPECT_EQ(pipeline(profile, "--microbatches 0").exit_code, 2);
  EXPECT_EQ(pipeline(profile, "--microbatches 1 --blocking-watts -1").exit_code, 2);
  EXPECT_EQ(pipeline(profile, "--microbatches 1 --deadline nan").exit_code, 2);
}

TEST_F(Cli, NumbersThatAreNoneOrOutOfRangeAreUsageErrors) {
  for (const std::string option :
       {"--half-width nan", "--half-width -1", "--half-width inf", "--window nan", "--window 0",
        "--settle nan", "--settle -1", "--minutes nan", "--minutes inf", "--minutes 0"}) {
    const auto run = run_negawatt(folder_, "sweep --out s.csv " + option + " -- true");
    EXPECT_EQ(run.exit_code, 2) << option;
    EXPECT_NE(run.error.find("is no number from"), std::string::npos) << run.error;
  }
  EXPECT_EQ(run_negawatt(folder_, "top --once --interval nan").exit_code, 2);
  EXPECT_EQ(run_negawatt(folder_, "top --interval nan").exit_code, 2);
  folder_.file("k.csv", kTable);
  for (const std::string option : {"--slowdown nan", "--slowdown inf",
                                   "--objective weighted --lambda nan", "--confidence nan"})
    EXPECT_EQ(run_negawatt(folder_, "plan k.csv " + option).exit_code, 2) << option;
  folder_.file("p.csv",
               "stage,instruction,frequency,time,energy\n0,forward,1,1,1\n"
               "0,backward,1,1,1\n");
  for (const std::string option : {"--slowdown nan", "--blocking-watts nan", "--deadline inf"})
    EXPECT_EQ(run_negawatt(folder_, "pipeline p.csv --microbatches 1 " + option).exit_code, 2)
        << option;
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

TEST_F(Cli, LearnsADeviceFromMeasurements) {
  const std::string data = NEGAWATT_SOURCE_DIR "/data/";
  const std::string header =
      "model,phase,devices,sequences,input_tokens,output_tokens,time_s,energy_j\n";
  const std::string options =
      " --device " + data + "devices/l4.toml --models " + data + "models/qwen3-8b.toml";
  folder_.file("s.csv", header +
                            "Qwen/Qwen3-8B,serving,1,1,300,200,0.09,6\n"
                            "Qwen/Qwen3-8B,serving,1,8,300,200,0.10,7\n"
                            "Qwen/Qwen3-8B,serving,1,32,300,200,0.13,9\n"
                            "Qwen/Qwen3-8B,prefill,1,1,2000,1,0.9,62\n");
  const auto run = run_negawatt(folder_, "fit s.csv --out d.toml" + options);
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.error.find("4 measurements, 1 curves"), std::string::npos) << run.error;
  const auto device = *read_file(folder_.path("d.toml"));
  EXPECT_NE(device.find("[[calibration]]\nmodel = \"Qwen/Qwen3-8B\""), std::string::npos);
  EXPECT_NE(device.find("[error.energy]"), std::string::npos);

  folder_.file("bad.csv", header + "Qwen/Qwen3-8b,serving,1,1,300,200,0.09,6\n");
  expect_refused(run_negawatt(folder_, "fit bad.csv" + options),
                 "bad.csv:2: model 'Qwen/Qwen3-8b' is not known, is 'Qwen/Qwen3-8B' meant?");
  expect_refused(run_negawatt(folder_, "fit s.csv --hold computer" + options),
                 "--hold: 'computer' is no factor of a device, is 'compute' meant?");
  const std::string model = data + "models/qwen3-8b.toml";
  expect_refused(run_negawatt(folder_, "fit s.csv" + options + " --models " + model),
                 model + ": the model 'Qwen/Qwen3-8B' is there twice");
}

}  // namespace
}  // namespace negawatt::testing
