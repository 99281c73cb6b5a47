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
                   "cd '" + folder.path("") +
                       "' && exec " NEGAWATT_BINARY
                       " sweep --core auto,1680,1050 --memory auto --out swept.csv -- " +
                       player("--serve")}});
  ASSERT_TRUE(child);
  const auto visits = [this] {
    const auto log = read_file(folder.path("swept.csv.visits")).value_or("");
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
  const auto other = sweep("--window 3");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.error.find("a sweep of another setup"), std::string::npos) << other.error;
}

TEST_F(ClosedLoop, SweepEndsWhenItsTimeIsOver) {
  start_daemon();
  const auto run = sweep("--minutes 1");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.out.find("(out of time)"), std::string::npos) << run.out;
}

TEST_F(ClosedLoop, APlanIsCarriedOutAsPromised) {
  start_daemon();
  const auto run = execute("surface.csv", "--slowdown 2");
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
      execute("surface.csv",
              "--slowdown 5 --granularity schedule --switch-latency core=0.005,memory=0.005");
  EXPECT_GT(run["why"]["changes"], 400) << "the plan has no changes: it tests nothing";
  EXPECT_NEAR(run["difference"]["time_change_pct"], 0.0, 0.2);
  EXPECT_NEAR(run["difference"]["energy_change_pct"], 0.0, kLeakagePct);
}

TEST_F(ClosedLoop, WatchingChangesNothing) {
  start_daemon();
  const auto run = execute("surface.csv", "--slowdown 2", "--watch");
  EXPECT_FALSE(run["governed"]);
  EXPECT_EQ(run["why"]["requests"], 0);
  EXPECT_NEAR(run["achieved"]["time_change_pct"], 0.0, 0.1);
  EXPECT_NEAR(run["achieved"]["energy_change_pct"], 0.0, 1.0);
}

TEST_F(ClosedLoop, WithoutADaemonTheCommandRunsAsItWould) {
  const auto run = execute("surface.csv", "--slowdown 2");
  EXPECT_FALSE(run["governed"]);
  EXPECT_NE(run["note"].get<std::string>().find("negawattd"), std::string::npos);
  EXPECT_NEAR(run["achieved"]["time_change_pct"], 0.0, 0.1);
}

}  // namespace
}  // namespace negawatt::testing
