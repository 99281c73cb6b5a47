// SPDX-License-Identifier: Apache-2.0
//
// negawatt run as whoever uses it meets it: the command is theirs, and nothing that goes wrong on
// our side may hold it up, change how it ends, or be reported as a saving.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/closed_loop_world.hpp"

namespace negawatt::testing {
namespace {

using process::Streams;
using std::chrono::steady_clock;

/// A machine like that of the other tests, with more to say about its GPU.
std::string machine(const std::string& gpu) {
  return "anyone_may_set = true\n[[gpu]]\nbase = \"" NEGAWATT_SOURCE_DIR
         "/data/gpusim/rtx3080ti.toml\"\n" +
         gpu;
}

class GovernedRun : public ClosedLoop {
 protected:
  /// A plan in plan.json.
  void plan(const std::string& options = "--slowdown 2 --sequence sequence.csv") {
    const auto planned = run_negawatt(folder_, "plan surface.csv --out plan.json " + options);
    ASSERT_EQ(planned.exit_code, 0) << planned.error;
  }

  [[nodiscard]] json report() const {
    return json::parse(read_file(folder_.path("run.json")).value_or("{}"), nullptr, false);
  }

  /// Runs a command under plan.json; its report is in run.json.
  Finished run(const std::string& command, const std::string& options = "") {
    std::filesystem::remove(folder_.path("run.json"));
    const auto began = steady_clock::now();
    auto finished =
        run_negawatt(folder_, "run --plan plan.json --out run.json " + options + " -- " + command);
    took_ = std::chrono::duration<double>(steady_clock::now() - began).count();
    return finished;
  }

  [[nodiscard]] std::string played(int iterations, const std::string& more = "") const {
    return player("--sequence '" + folder_.path("sequence.csv") + "' --iterations " +
                  std::to_string(iterations) + " " + more);
  }

  double took_ = 0.0;  ///< seconds of the last run
};

TEST_F(GovernedRun, TheCommandKeepsItsStreamsItsExitCodeAndItsSignals) {
  const auto planned = run_negawatt(folder_, "plan surface.csv --out plan.json");
  ASSERT_EQ(planned.exit_code, 0) << planned.error;
  folder_.file("input.txt", "a line\n");
  const auto through = run_negawatt(
      folder_, "run --plan plan.json -- sh -c 'read line; echo \"got $line\"; exit 7' < input.txt");
  EXPECT_EQ(through.exit_code, 7) << through.error;
  EXPECT_EQ(through.out, "got a line\n");
  auto child = Child::start(
      {.command = {NEGAWATT_BINARY, "run", "--plan", folder_.path("plan.json"), "--", "sh", "-c",
                   "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done"},
       .streams = Streams::piped});
  ASSERT_TRUE(child);
  ASSERT_EQ(child->read_line(Seconds(20)).value_or(""), "ready");
  child->signal(SIGTERM);
  EXPECT_EQ(to_string(child->wait()), "exit code 9");
}

TEST_F(GovernedRun, WithoutADriverTheCommandStillRuns) {
  ASSERT_EQ(run_negawatt(folder_, "plan surface.csv --out plan.json").exit_code, 0);
  set("NEGAWATT_NVML", folder_.path("no-such-library.so"));
  const auto run = run_negawatt(folder_, "run --plan plan.json -- sh -c 'echo ran; exit 4'");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(run.out, "ran\n");
  EXPECT_NE(run.error.find("negawatt: runs without us: "), std::string::npos) << run.error;
}

TEST_F(GovernedRun, BadInputIsRefusedBeforeAnythingRuns) {
  folder_.file("plan.json", "{}");
  const auto run = run_negawatt(folder_, "run --plan plan.json -- touch ran");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(
      run.error,
      "negawatt: plan.json: no 'execution'; expected the JSON of 'negawatt plan --out' of this "
      "version\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("ran")));
  const auto nothing = run_negawatt(folder_, "run --plan plan.json");
  EXPECT_EQ(nothing.exit_code, 2);
}

TEST_F(GovernedRun, FollowsAProgramInRealTime) {
  // The first invocation takes 0.4 ms: whoever looks every 20 ms does not see it.
  set("NEGAWATT_GPUSIM_TIME", "real");
  set("NEGAWATT_GPUSIM_LATENCY", "0.001");
  folder_.file("surface.csv", kSurface +
                                  "start,forward,1,auto,auto,0.0004,0.1\n"
                                  "start,forward,1,1680,auto,0.0004,0.09\n"
                                  "start,forward,1,1050,auto,0.0004,0.08\n");
  folder_.file("sequence.csv", "position,kernel\n0,start\n1,gemm\n2,gelu\n3,gemm\n4,copy\n");
  start_daemon();
  plan(
      "--sequence sequence.csv --slowdown 5 --granularity schedule "
      "--switch-latency core=0.001,memory=0.001");
  const auto ran = run(played(150), "--warm-up 10");
  ASSERT_EQ(ran.exit_code, 0) << ran.error;
  const auto made = report();
  EXPECT_TRUE(made["governed"]);
  // Of 140; a busy machine may let some go by at the ends.
  EXPECT_GE(made["achieved"]["iterations"], 125);
  EXPECT_LE(made["why"]["missed_iterations"], 15);
  EXPECT_GT(made["why"]["changes"], 250) << "the plan has no changes: it tests nothing";
  EXPECT_NE(made["why"]["pace"], 1.0);
  // Changes that a busy machine makes late cost time: a GEMM at the lowest clock takes half again.
  EXPECT_NEAR(made["difference"]["time_change_pct"], 0.0, 15.0);
}

TEST_F(GovernedRun, ClaimsNothingForACommandThatUsesAnotherGpu) {
  describe(machine("count = 2\n"));
  start_daemon();
  plan();
  const auto other = played(400, "--gpu GPU-30800000-4e57-4a10-8200-000000000001");
  for (const std::string options : {"", "--watch"}) {
    ASSERT_EQ(run(other, options).exit_code, 0);
    const auto made = report();
    EXPECT_FALSE(made["governed"]);
    EXPECT_GT(made["achieved"]["iterations"], 300) << "its time is its own";
    EXPECT_FALSE(made["achieved"].contains("energy_j"));
    EXPECT_FALSE(made["difference"].contains("energy_change_pct"));
    EXPECT_EQ(made["why"]["changes"], 0);
    EXPECT_EQ(made.contains("note"), options.empty());
    if (options.empty()) {
      EXPECT_NE(made["note"].get<std::string>().find("the command did not use"), std::string::npos)
          << made["note"];
    }
    const auto compared = run_negawatt(folder_, "compare run.json");
    EXPECT_EQ(compared.exit_code, 0) << compared.error;
    EXPECT_NE(compared.out.find(options.empty() ? "ran without clock changes" : "only watched"),
              std::string::npos)
        << compared.out;
  }
}

TEST_F(GovernedRun, ClaimsNothingForAProgramThatSaysNothing) {
  start_daemon();
  plan();
  ASSERT_EQ(run("true").exit_code, 0);
  const auto made = report();
  EXPECT_FALSE(made["governed"]);
  EXPECT_NE(made["note"].get<std::string>().find("never said where it is"), std::string::npos);
  EXPECT_LT(took_, 3.0) << "nobody waits for a measurement of the counter's period";
}

TEST_F(GovernedRun, AProgramThatIsNotThePlansGetsItsClocksBack) {
  start_daemon();
  plan("--slowdown 50 --granularity static --sequence sequence.csv");
  // One GEMM more than the plan's iteration; at the plan's clocks it would take longer.
  folder_.file("sequence.csv", "position,kernel\n0,gemm\n1,gelu\n2,gemm\n3,gemm\n4,copy\n");
  folder_.file("surface.csv", [] {
    auto table = kSurface;
    for (auto at = table.find("forward,2"); at != std::string::npos; at = table.find("forward,2"))
      table.replace(at, 9, "forward,3");
    return table;
  }());
  ASSERT_EQ(run(played(300), "--warm-up 20 --watch").exit_code, 0);
  const auto watched = report();
  ASSERT_EQ(run(played(300), "--warm-up 20").exit_code, 0);
  const auto made = report();
  EXPECT_TRUE(made["why"]["off_plan"]);
  EXPECT_TRUE(watched["why"]["off_plan"]);
  EXPECT_LT(made["promised"]["energy_change_pct"], -5.0);
  EXPECT_NEAR(
      made["achieved"]["time_s"].get<double>() / watched["achieved"]["time_s"].get<double>(), 1.0,
      0.001);
}

TEST_F(GovernedRun, ARefusedRequestIsMadeAgain) {
  describe(
      machine("[gpu.faults]\n"
              "calls = [{call = \"nvmlDeviceSetGpuLockedClocks\", from = 1, to = 1, "
              "returns = \"NO_PERMISSION\"}]\n"));
  start_daemon();
  plan("--slowdown 2 --granularity static --sequence sequence.csv");
  ASSERT_EQ(run(played(6000), "--warm-up 4000").exit_code, 0);
  const auto made = report();
  EXPECT_TRUE(made["governed"]);
  EXPECT_GE(made["why"]["refused"], 1);
  EXPECT_GE(made["why"]["accepted"], 1);
  EXPECT_NEAR(made["difference"]["energy_change_pct"], 0.0, 1.5);
}

TEST_F(GovernedRun, SaysWhenTheLeaseEndedBeforeTheCommand) {
  set("NEGAWATT_GPUSIM_TIME", "real");
  start_daemon();
  plan("--slowdown 2 --granularity static --sequence sequence.csv");
  auto child =
      Child::start({.command = {NEGAWATT_BINARY, "run", "--plan", folder_.path("plan.json"),
                                "--out", folder_.path("run.json"), "--", "sh", "-c", played(150)}});
  ASSERT_TRUE(child);
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  daemon_->signal(SIGKILL);
  (void)daemon_->wait();
  daemon_.reset();
  EXPECT_EQ(child->wait().exit_code, 0);
  const auto made = report();
  EXPECT_TRUE(made["governed"]);
  EXPECT_EQ(made["note"], "The lease ended before the command: negawattd is gone.");
}

TEST_F(GovernedRun, ADriverThatHangsInAReadingKeepsNobody) {
  set("NEGAWATT_GPUSIM_TIME", "real");
  describe(
      machine("[gpu.faults]\n"
              "at = [{at_s = 0, kind = \"hang\", call = \"nvmlDeviceGetTotalEnergyConsumption\", "
              "seconds = 60}]\n"));
  plan();
  EXPECT_EQ(run("sh -c \"" + played(10) + "; exit 5\"", "--watch").exit_code, 5);
  EXPECT_LT(took_, 10.0);
  const auto made = report();
  EXPECT_GT(made["achieved"]["iterations"], 0) << "what is known is reported";
  EXPECT_FALSE(made["achieved"].contains("energy_j"));
}

TEST_F(GovernedRun, ADriverThatHangsAtItsStartHoldsTheCommandUpForASecondOnly) {
  set("NEGAWATT_GPUSIM_TIME", "real");
  describe(
      machine("[gpu.faults]\n"
              "at = [{at_s = 0, kind = \"hang\", call = \"nvmlDeviceGetUUID\", "
              "seconds = 60}]\n"));
  plan();
  const auto ran = run("sh -c 'echo ran; exit 4'");
  EXPECT_EQ(ran.exit_code, 4) << ran.error;
  EXPECT_EQ(ran.out, "ran\n");
  EXPECT_LT(took_, 10.0);
  EXPECT_NE(ran.error.find("negawatt: runs without us: "), std::string::npos) << ran.error;
  const auto made = report();
  EXPECT_FALSE(made["governed"]);
  EXPECT_NE(made["note"].get<std::string>().find("does not answer"), std::string::npos);
}

TEST_F(GovernedRun, ADaemonThatIsStoppedHoldsNobodyUp) {
  set("NEGAWATT_GPUSIM_TIME", "real");
  start_daemon();
  plan();
  daemon_->signal(SIGSTOP);
  EXPECT_EQ(run("sh -c 'exit 4'").exit_code, 4);
  EXPECT_LT(took_, 8.0) << "it would not answer for 10 s";
  // An interrupt that comes before the command does is not lost.
  auto child = Child::start({.command = {NEGAWATT_BINARY, "run", "--plan",
                                         folder_.path("plan.json"), "--", "sleep", "60"}});
  ASSERT_TRUE(child);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto began = steady_clock::now();
  child->signal(SIGINT);
  EXPECT_EQ(child->wait().shell_code(), 130);
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(8));
  daemon_->signal(SIGCONT);
}

TEST_F(GovernedRun, WithoutRoomForThePositionPageTheCommandStillRuns) {
  plan();
  // No file can grow.
  folder_.file("no_room.sh",
               "trap '' XFSZ\nulimit -f 0\n" NEGAWATT_BINARY
               " run --plan plan.json -- sh -c 'echo ran; exit 6'\necho \"code $?\"\n");
  const auto pipe = "cd '" + folder_.path("") + "' && sh no_room.sh 2>&1 | cat >said.txt";
  ASSERT_EQ(std::system(pipe.c_str()), 0);  // NOLINT(bugprone-command-processor)
  const auto said = read_file(folder_.path("said.txt")).value_or("");
  EXPECT_NE(said.find("ran\ncode 6\n"), std::string::npos) << said;
  EXPECT_NE(said.find("negawatt: runs without us: cannot make a position page"), std::string::npos)
      << said;
}

}  // namespace
}  // namespace negawatt::testing
