// SPDX-License-Identifier: Apache-2.0
//
// A simulated GPU that replays a small table, so that what must come out is known; negawattd on it;
// and the real programs as a user runs them. Time is virtual unless a test says otherwise.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "process/child.hpp"
#include "tests/process.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::testing {

using nlohmann::json;
using process::Child;

// A GEMM that wants its core clock, and two kernels that wait for memory: 24 ms an iteration.
inline const std::string kSurface =
    "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n"
    "gemm,forward,2,auto,auto,0.004,1.36\n"
    "gemm,forward,2,1680,auto,0.0042,1.26\n"
    "gemm,forward,2,1050,auto,0.0064,1.28\n"
    "gelu,forward,1,auto,auto,0.006,1.98\n"
    "gelu,forward,1,1680,auto,0.006,1.68\n"
    "gelu,forward,1,1050,auto,0.0061,1.22\n"
    "copy,backward,1,auto,auto,0.010,3.0\n"
    "copy,backward,1,1680,auto,0.010,2.7\n"
    "copy,backward,1,1050,auto,0.0101,2.1\n";
inline const std::string kSequence = "position,kernel\n0,gemm\n1,gelu\n2,gemm\n3,copy\n";

class ClosedLoop : public ::testing::Test {
 protected:
  void SetUp() override {
    set("NEGAWATT_NVML", NEGAWATT_SIMULATED_NVML);
    set("NEGAWATT_GPUSIM", NEGAWATT_SOURCE_DIR "/data/gpusim/rtx3080ti.toml");
    set("NEGAWATT_GPUSIM_STATE", folder_.path("machine"));
    set("NEGAWATT_GPUSIM_TIME", "virtual");
    set("NEGAWATT_GPUSIM_LATENCY", "0");
    set("NEGAWATTD_SOCKET", folder_.path("socket"));
    folder_.file("surface.csv", kSurface);
    folder_.file("sequence.csv", kSequence);
    folder_.file("negawattd.toml", "socket = \"" + folder_.path("socket") + "\"\njournal = \"" +
                                       folder_.path("journal") + "\"\n");
  }

  void TearDown() override {
    if (!daemon_) return;
    daemon_->signal(SIGTERM);
    EXPECT_EQ(to_string(daemon_->wait()), "exit code 0");
  }

  static void set(const char* name, const std::string& value) {
    ASSERT_EQ(::setenv(name, value.c_str(), 1), 0);
  }

  void start_daemon(const std::string& limits = "") {
    if (!limits.empty())
      folder_.file("negawattd.toml",
                   read_file(folder_.path("negawattd.toml")).value_or("") + "[limits]\n" + limits);
    auto child = Child::start(
        {.command = {"sh", "-c",
                     "exec " NEGAWATT_DAEMON " --config '" + folder_.path("negawattd.toml") +
                         "' 2>'" + folder_.path("negawattd.log") + "'"}});
    ASSERT_TRUE(child) << child.error().message;
    daemon_.emplace(std::move(*child));
    // It serves once it listens.
    ASSERT_TRUE(comes_true([this] { return std::filesystem::exists(folder_.path("socket")); }));
  }

  /// A machine of its own: this description of it, from its next start on.
  void describe(const std::string& description) {
    set("NEGAWATT_GPUSIM", folder_.file("machine.toml", description));
  }

  static bool comes_true(const std::function<bool()>& condition) {
    using namespace std::chrono_literals;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < deadline) {
      if (condition()) return true;
      std::this_thread::sleep_for(2ms);
    }
    return false;
  }

  [[nodiscard]] std::string player(const std::string& arguments) const {
    return NEGAWATT_PLAYER " --table '" + folder_.path("surface.csv") + "' " + arguments;
  }

  Finished sweep(const std::string& options) {
    return sweep_with("--core auto,1680,1050 --memory auto " + options, player("--serve"));
  }
  Finished sweep_with(const std::string& options, const std::string& runner) {
    return run_negawatt(folder_, "sweep --out swept.csv " + options + " -- " + runner);
  }
  /// A runner with programs between it and us: shell text with %, the player, in it.
  [[nodiscard]] std::string runner_behind(std::string script) const {
    const auto place = script.find('%');
    return "sh -c \"" + script.replace(place, 1, player("--serve")) + "\"";
  }
  /// The simulated card, some of whose functions the driver does not have.
  void take_away(const std::string& functions) {
    describe("[[gpu]]\nbase = \"" NEGAWATT_SOURCE_DIR
             "/data/gpusim/rtx3080ti.toml\"\n[gpu.faults]\nnot_supported = [" +
             functions + "]\n");
  }

  struct Execution {
    std::string plan_options;
    std::string run_options = {};
  };
  /// A plan by the card's surface, carried out until the card has been warm for a while; its
  /// report.
  json execute(const Execution& options) {
    const auto planned =
        run_negawatt(folder_, "plan surface.csv --sequence sequence.csv --out plan.json " +
                                  options.plan_options);
    EXPECT_EQ(planned.exit_code, 0) << planned.error;
    const auto ran = run_negawatt(
        folder_, "run --plan plan.json --warm-up 4000 --out run.json " + options.run_options +
                     " -- " +
                     player("--sequence '" + folder_.path("sequence.csv") + "' --iterations 6000"));
    EXPECT_EQ(ran.exit_code, 0) << ran.error;
    return json::parse(read_file(folder_.path("run.json")).value_or("{}"));
  }

  trace::KernelTable table(const std::string& name) {
    auto table = trace::parse_kernel_table(read_file(folder_.path(name)).value_or(""), name);
    EXPECT_TRUE(table) << table.error().message;
    return std::move(table).value();
  }

  TemporaryFolder folder_;
  std::optional<Child> daemon_;
};

}  // namespace negawatt::testing
