// SPDX-License-Identifier: Apache-2.0
//
// The whole job with the real programs on a simulated GPU in virtual time: measure a kernel table,
// plan on it, carry the plan out through negawattd, and compare. The simulated GPU replays a small
// table, so that what must come out is known.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/closed_loop_world.hpp"

namespace negawatt::testing {
namespace {

// The table holds at 77 degrees. A plan that saves energy cools the card, and a cooler card leaks
// less: what is achieved may be better than promised by this much.
constexpr double kLeakagePct = 1.5;

TEST_F(ClosedLoop, SweepMeasuresTheTableThatTheGpuReplays) {
  start_daemon();
  const auto run = sweep("");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto swept = table("swept.csv");
  const auto truth = table("surface.csv");
  EXPECT_EQ(swept.evidence.kind, EvidenceKind::simulated);
  ASSERT_EQ(swept.kernels.size(), truth.kernels.size());
  for (std::size_t k = 0; k < truth.kernels.size(); ++k) {
    EXPECT_EQ(swept.kernels[k].name, truth.kernels[k].name);
    EXPECT_EQ(swept.kernels[k].calls, truth.kernels[k].calls);
    ASSERT_EQ(swept.kernels[k].options.size(), 3U);
    for (const auto& option : truth.kernels[k].options) {
      const auto* measured = swept.kernels[k].at(option.clocks);
      ASSERT_NE(measured, nullptr);
      EXPECT_NEAR(measured->time / option.time, 1.0, 0.001);
      // Temperature and the counter's steps are not the table's.
      EXPECT_NEAR(measured->energy / option.energy, 1.0, 0.02);
    }
  }
}

TEST_F(ClosedLoop, SweepGoesOnAfterAKill) {
  start_daemon();
  auto child = Child::start(
      {.command = {"sh", "-c",
                   "cd '" + folder_.path("") +
                       "' && exec " NEGAWATT_BINARY
                       " sweep --core auto,1680,1050 --memory auto --out swept.csv -- " +
                       player("--serve")}});
  ASSERT_TRUE(child);
  const auto visits = [this] {
    const auto log = read_file(folder_.path("swept.csv.visits")).value_or("");
    return std::ranges::count(log, '\n');
  };
  ASSERT_TRUE(comes_true([&] { return visits() >= 6; }));
  child->signal(SIGKILL);
  EXPECT_EQ(child->wait().signal, SIGKILL);
  const auto before = visits();
  const auto run = sweep("");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  // Two lines of header; nine rows want three visits each.
  EXPECT_GE(visits(), 2 + 27);
  EXPECT_LT(visits(), before + 27);
  EXPECT_EQ(table("swept.csv").kernels.size(), 3U);
  // Of another setup it makes nothing.
  for (const std::string option : {"--window 3", "--settle 0.5"}) {
    const auto other = sweep(option);
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_NE(other.error.find("a sweep of another setup"), std::string::npos) << other.error;
  }
}

TEST_F(ClosedLoop, SweepGoesOnWithACommandOfSeveralLines) {
  const auto runner = runner_behind("# a comment\n% ") + " '' 'ends in a blank '";
  const auto options = std::string("--core auto --memory auto --visits 1 --most-visits 1");
  ASSERT_EQ(sweep_with(options, runner).exit_code, 0);
  const auto again = sweep_with(options, runner);
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_NE(again.out.find("3 visits, 0 failed, 0 s"), std::string::npos) << again.out;
}

// A runner that knows no time before its first call ends, as a CUDA event that was not recorded.
TEST_F(ClosedLoop, SweepOpensNoWindowBeforeTheFirstCallHasEnded) {
  folder_.file("surface.csv",
               "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n"
               "slow,forward,1,auto,auto,1.5,450\n");
  const auto run = sweep_with("--core auto --memory auto --visits 2 --most-visits 2",
                              runner_behind("% | sed -u 's/^count 0 .*/count 0 0/'"));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto swept = table("swept.csv");
  const auto* measured = swept.kernels.at(0).at({});
  ASSERT_NE(measured, nullptr);
  EXPECT_NEAR(measured->time.in_si(), 1.5, 0.001);
  EXPECT_NEAR(measured->energy.in_si(), 450.0, 9.0);
}

TEST_F(ClosedLoop, SweepLeavesOutWhatCannotBeMeasuredAndNamesIt) {
  auto surface = kSurface;
  const std::string endless = "copy,backward,1,1050,auto,0.0101,2.1\n";
  surface.replace(surface.find(endless), endless.size(), "copy,backward,1,1050,auto,200,40000\n");
  folder_.file("surface.csv", surface);
  start_daemon();
  const auto run = sweep_with("--core auto,1680,1050 --memory auto",
                              runner_behind("sed -u 's/^start gelu$/start nothing/' | %"));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.out.find(", 12 failed, 4 rows left out, "), std::string::npos) << run.out;
  for (const std::string pair : {"core auto", "core 1680", "core 1050"})
    EXPECT_NE(run.error.find("negawatt: left out: 'gelu' at " + pair +
                             ", memory auto: the kernel runner says: there is no kernel 'nothing'"),
              std::string::npos)
        << run.error;
  EXPECT_NE(run.error.find("negawatt: left out: 'copy' at core 1050, memory auto: kernel 'copy' "
                           "completed no call in 60 s"),
            std::string::npos)
      << run.error;
  const auto swept = table("swept.csv");
  ASSERT_EQ(swept.kernels.size(), 2U);
  EXPECT_EQ(swept.kernels[0].options.size(), 3U);
  EXPECT_EQ(swept.kernels[1].options.size(), 2U);
}

TEST_F(ClosedLoop, SweepEndsWithItsRunnerAndWhenNothingCanBeMeasured) {
  const std::string options = "--core auto --memory auto";
  const auto dead = sweep_with(options, runner_behind("sed -u '/^start copy$/q' | %"));
  EXPECT_EQ(dead.exit_code, 1);
  EXPECT_TRUE(dead.error == "negawatt: the child ended its output\n" ||
              dead.error == "negawatt: the child no longer reads: Broken pipe\n")
      << dead.error;
  std::filesystem::remove(folder_.path("swept.csv.visits"));
  const auto nothing = sweep_with(options, runner_behind("sed -u 's/^start .*/start it/' | %"));
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_EQ(nothing.error, "negawatt: the kernel runner says: there is no kernel 'it'\n");
}

TEST_F(ClosedLoop, SweepStaysWithinWhatTheAdministratorAllows) {
  start_daemon("memory = false\ncore_max_mhz = 1500\n");
  const std::string quickly = " --visits 1 --most-visits 1 --window 1";
  const auto run = sweep_with(quickly, player("--serve"));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error,
            "negawatt: negawattd allows core clocks from 1 to 1500 MHz: others are not swept\n"
            "negawatt: negawattd does not allow to lock the memory clock: it is not swept\n");
  const auto swept = table("swept.csv");
  ASSERT_EQ(swept.kernels.size(), 3U);
  EXPECT_EQ(swept.kernels[0].options.size(), 11U);
  for (const auto& option : swept.kernels[0].options) {
    EXPECT_LE(option.clocks.core.mhz(), 1500U);
    EXPECT_TRUE(option.clocks.memory.is_automatic());
  }
  // What was asked for by name is dropped pair by pair; with none left there is no table.
  std::filesystem::remove(folder_.path("swept.csv.visits"));
  const auto named =
      sweep_with("--core auto,1680,1050 --memory auto,9501" + quickly, player("--serve"));
  ASSERT_EQ(named.exit_code, 0) << named.error;
  EXPECT_NE(named.out.find(", 4 clock pairs left out, "), std::string::npos) << named.out;
  EXPECT_NE(named.error.find("negawatt: left out: core 1680, memory auto cannot be set: outside "
                             "the lease's limits\n"),
            std::string::npos)
      << named.error;
  EXPECT_EQ(table("swept.csv").kernels.at(0).options.size(), 2U);
  std::filesystem::remove(folder_.path("swept.csv.visits"));
  EXPECT_EQ(sweep_with("--core 1680 --memory auto" + quickly, player("--serve")).exit_code, 2);
}

TEST_F(ClosedLoop, SweepDoesWithoutLocksOfTheMemoryAndWithoutATemperature) {
  take_away(
      "\"nvmlDeviceSetMemoryLockedClocks\", \"nvmlDeviceGetTemperatureV\", "
      "\"nvmlDeviceGetTemperature\"");
  start_daemon();
  const auto run = sweep_with("--core auto,1680 --visits 1 --most-visits 1", player("--serve"));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.out.find(", 10 clock pairs left out, "), std::string::npos) << run.out;
  EXPECT_NE(run.error.find("cannot be set: not supported by the driver\n"), std::string::npos)
      << run.error;
  EXPECT_NE(run.error.find("negawatt: this GPU tells no temperature: it was warmed up for at most "
                           "180 s"),
            std::string::npos)
      << run.error;
  const auto passed = run.out.rfind(", ");
  ASSERT_NE(passed, std::string::npos);
  EXPECT_GT(std::stod(run.out.substr(passed + 2)), 180.0) << run.out;
  const auto swept = table("swept.csv");
  ASSERT_EQ(swept.kernels.size(), 3U);
  EXPECT_EQ(swept.kernels[0].options.size(), 2U);
}

TEST_F(ClosedLoop, SweepEndsWhenItsTimeIsOver) {
  start_daemon();
  const auto run = sweep("--minutes 1");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.out.find("(out of time)"), std::string::npos) << run.out;
  std::filesystem::remove(folder_.path("swept.csv.visits"));
  const auto cold = sweep("--minutes 0.2");
  ASSERT_EQ(cold.exit_code, 0) << cold.error;
  EXPECT_NE(cold.error.find("the temperature did not hold"), std::string::npos) << cold.error;
}

TEST_F(ClosedLoop, APlanIsCarriedOutAsPromised) {
  start_daemon();
  const auto run = execute({.plan_options = "--slowdown 2"});
  EXPECT_TRUE(run["governed"]);
  EXPECT_EQ(run["evidence"], "simulated");
  EXPECT_GE(run["achieved"]["iterations"], 1900);
  EXPECT_LT(run["promised"]["energy_change_pct"], -15.0);
  EXPECT_NEAR(run["difference"]["time_change_pct"], 0.0, 0.1);
  EXPECT_NEAR(run["difference"]["energy_change_pct"], 0.0, kLeakagePct);
  EXPECT_EQ(run["why"]["refused"], 0);
  EXPECT_LE(run["why"]["missed_iterations"], 1);
  for (const auto& segment : run["segments"])
    EXPECT_NEAR(segment["achieved_s"].get<double>() / segment["promised_s"].get<double>(), 1.0,
                0.01);
}

TEST_F(ClosedLoop, ChangesAreAskedForAheadOfTheirLatency) {
  set("NEGAWATT_GPUSIM_LATENCY", "0.005");
  start_daemon();
  const auto run =
      execute({.plan_options =
                   "--slowdown 5 --granularity schedule --switch-latency core=0.005,memory=0.005"});
  EXPECT_GT(run["why"]["changes"], 400) << "the plan has no changes: it tests nothing";
  EXPECT_NEAR(run["difference"]["time_change_pct"], 0.0, 0.2);
  EXPECT_NEAR(run["difference"]["energy_change_pct"], 0.0, kLeakagePct);
}

TEST_F(ClosedLoop, WatchingChangesNothing) {
  start_daemon();
  const auto run = execute({.plan_options = "--slowdown 2", .run_options = "--watch"});
  EXPECT_FALSE(run["governed"]);
  EXPECT_EQ(run["why"]["requests"], 0);
  EXPECT_NEAR(run["achieved"]["time_change_pct"], 0.0, 0.1);
  EXPECT_NEAR(run["achieved"]["energy_change_pct"], 0.0, 1.0);
}

TEST_F(ClosedLoop, WithoutADaemonTheCommandRunsAsItWould) {
  const auto run = execute({.plan_options = "--slowdown 2"});
  EXPECT_FALSE(run["governed"]);
  EXPECT_NE(run["note"].get<std::string>().find("negawattd"), std::string::npos);
  EXPECT_NEAR(run["achieved"]["time_change_pct"], 0.0, 0.1);
}

}  // namespace
}  // namespace negawatt::testing
