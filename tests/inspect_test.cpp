// SPDX-License-Identifier: Apache-2.0
// negawatt doctor and negawatt top as processes, on simulated machines in their various states.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>  // setenv is not in <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "core/units.hpp"
#include "process/child.hpp"
#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr int kGone = 3;  // exit code: this machine lacks something

/// A simulated machine of H200s, and negawatt run on it.
class OnSimulatedMachine : public ::testing::Test {
 protected:
  /// `faults`: TOML of the last GPU; `time`: TOML of the machine's clock.
  void build(int gpus, const std::string& faults = "", const std::string& time = "") {
    std::string machine = "driver = \"580.159.04\"\nnvml = \"13.580.159.04\"\n" + time;
    for (int i = 0; i < gpus; ++i) {
      machine += fmt::format(
          "[[gpu]]\nbase = \"{}/data/gpusim/h200.toml\"\n"
          "uuid = \"GPU-51000000-4e57-4a10-8200-{:012}\"\npci = \"00000000:{:02x}:00.0\"\n",
          NEGAWATT_SOURCE_DIR, i, 6 + i);
    }
    if (!faults.empty()) machine += "[gpu.faults]\n" + faults + "\n";
    ::setenv("NEGAWATT_GPUSIM", folder_.file("machine.toml", machine).c_str(), 1);
    ::setenv("NEGAWATT_GPUSIM_STATE", folder_.path("world").c_str(), 1);
    ::setenv("NEGAWATT_NVML", NEGAWATT_SIMULATED_NVML, 1);
    ::setenv("NEGAWATTD_SOCKET", folder_.path("socket").c_str(), 1);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }

  void start_daemon(const std::string& arguments = "") {
    const auto config = folder_.file(
        "negawattd.toml", fmt::format("socket = \"{}\"\njournal = \"{}\"\n", folder_.path("socket"),
                                      folder_.path("journal")));
    auto child = process::Child::start(
        {.command = {"/bin/sh", "-c",
                     fmt::format("exec '{}' --config '{}' {} 2>'{}'", NEGAWATTD_BINARY, config,
                                 arguments, folder_.path("log"))}});
    ASSERT_TRUE(child) << child.error().message;
    daemon_.emplace(std::move(*child));
    for (int i = 0; i < 1000 && !std::filesystem::exists(folder_.path("socket")); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  ~OnSimulatedMachine() override {
    if (!daemon_) return;
    daemon_->signal(SIGTERM);
    (void)daemon_->wait();
  }

  [[nodiscard]] Finished negawatt(const std::string& arguments) const {
    return run_negawatt(folder_, arguments);
  }

  TemporaryFolder folder_;
  std::optional<process::Child> daemon_;
};

Json finding_about(const std::string& subject, const Json& findings) {
  for (const auto& finding : findings) {
    if (finding.at("subject") == subject) return finding;
  }
  ADD_FAILURE() << "no finding about " << subject << " in " << findings.dump(1);
  return {{"state", ""}, {"found", ""}, {"action", ""}};
}

/// The milliseconds behind "changes every ".
double period_ms(const std::string& found) {
  const std::string before = "changes every ";
  const auto at = found.find(before);
  return at == std::string::npos ? -1 : std::strtod(found.c_str() + at + before.size(), nullptr);
}

TEST_F(OnSimulatedMachine, DoctorFindsNothingToDoOnAHealthyMachine) {
  build(1, "", "[time]\nmode = \"virtual\"\n");
  start_daemon();
  const auto finished = negawatt("doctor --json");
  EXPECT_EQ(finished.exit_code, 0) << finished.error << finished.out;
  const auto json = Json::parse(finished.out);
  EXPECT_EQ(json.at("works"), true);
  EXPECT_EQ(finding_about("negawattd", json.at("machine")).at("state"), "good");
  EXPECT_EQ(finding_about("setting clocks", json.at("machine")).at("state"), "good");
  const auto& gpu = json.at("gpus").at(0);
  EXPECT_EQ(gpu.at("name"), "NVIDIA H200");
  for (const auto& finding : gpu.at("findings")) {
    EXPECT_TRUE(finding.at("state") == "good" || finding.at("state") == "unknown") << finding;
  }
}

TEST_F(OnSimulatedMachine, DoctorMeasuresThePeriodOfTheCounter) {
  build(1, "", "[time]\nmode = \"virtual\"\n");
  const auto json = Json::parse(negawatt("doctor --json").out);
  const auto energy = finding_about("energy counter", json.at("gpus").at(0).at("findings"));
  EXPECT_EQ(energy.at("state"), "good");
  EXPECT_NEAR(period_ms(energy.at("found")), 100, 1) << energy;
  EXPECT_THAT(energy.at("found").get<std::string>(), HasSubstr("read in 3.4 ms"));
}

TEST_F(OnSimulatedMachine, DoctorWithoutADriverSaysSoPlainly) {
  build(1);
  ::setenv("NEGAWATT_NVML", folder_.path("libnvidia-ml.so.1").c_str(), 1);
  const auto finished = negawatt("doctor");
  EXPECT_EQ(finished.exit_code, kGone);
  EXPECT_THAT(finished.out, HasSubstr("missing  driver library"));
  EXPECT_THAT(finished.out, HasSubstr("Next: driver library: install the NVIDIA driver"));
  EXPECT_THAT(finished.error, HasSubstr("negawatt: "));
}

TEST_F(OnSimulatedMachine, DoctorWithoutTheDaemonNamesIt) {
  build(1);
  const auto finished = negawatt("doctor --quick");
  EXPECT_EQ(finished.exit_code, kGone);
  EXPECT_THAT(finished.out, HasSubstr("missing  negawattd"));
}

TEST_F(OnSimulatedMachine, DoctorSaysWhenTheDaemonOnlyObserves) {
  build(1);
  start_daemon("--observe-only");
  const auto finished = negawatt("doctor --quick --json");
  EXPECT_EQ(finished.exit_code, kGone);
  const auto daemon = finding_about("negawattd", Json::parse(finished.out).at("machine"));
  EXPECT_EQ(daemon.at("state"), "missing");
  EXPECT_THAT(daemon.at("found").get<std::string>(), HasSubstr("only observes"));
}

TEST_F(OnSimulatedMachine, DoctorMissesTheCounterOfAGpuWithoutOne) {
  build(1,
        "not_supported = [\"nvmlDeviceGetTotalEnergyConsumption\", \"nvmlDeviceGetFieldValues\"]");
  const auto finished = negawatt("doctor --quick --json");
  EXPECT_EQ(finished.exit_code, kGone);
  const auto json = Json::parse(finished.out);
  const auto& findings = json.at("gpus").at(0).at("findings");
  EXPECT_EQ(finding_about("energy counter", findings).at("state"), "missing");
  EXPECT_EQ(finding_about("power", findings).at("state"), "limited");
  EXPECT_EQ(finding_about("GPUs", json.at("machine")).at("state"), "missing");
}

TEST_F(OnSimulatedMachine, DoctorNamesTheLostGpuAndUsesTheOther) {
  build(2, "at = [{kind = \"gpu_lost\", at_s = 0}]");
  start_daemon();
  const auto finished = negawatt("doctor --quick --json");
  const auto json = Json::parse(finished.out);
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  const auto gpus = finding_about("GPUs", json.at("machine"));
  EXPECT_EQ(gpus.at("state"), "limited");
  EXPECT_THAT(gpus.at("found").get<std::string>(), HasSubstr("GPU 1 does not answer"));
  EXPECT_THAT(json.at("next_step").get<std::string>(), HasSubstr("GPU 1"));
}

TEST_F(OnSimulatedMachine, DoctorSaysWhichQueryIsDenied) {
  build(1,
        "no_permission = [\"nvmlDeviceGetComputeRunningProcesses_v3\", "
        "\"nvmlDeviceGetComputeRunningProcesses_v2\"]");
  const auto finished = negawatt("doctor --quick --json");
  EXPECT_EQ(finished.exit_code, kGone);
  const auto json = Json::parse(finished.out);
  const auto processes = finding_about("processes", json.at("gpus").at(0).at("findings"));
  EXPECT_EQ(processes.at("state"), "missing");
  EXPECT_THAT(processes.at("action").get<std::string>(), HasSubstr("root"));
}

TEST_F(OnSimulatedMachine, DoctorReadsCudaVisibleDevicesOfItsShell) {
  build(2);
  ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  const auto json = Json::parse(negawatt("doctor --quick --json").out);
  const auto seen = finding_about("CUDA sees", json.at("machine"));
  EXPECT_EQ(seen.at("state"), "missing");
  EXPECT_THAT(seen.at("found").get<std::string>(), HasSubstr("0 of 2 GPUs"));
}

TEST_F(OnSimulatedMachine, TopShowsEveryGpuOnce) {
  build(2);
  start_daemon();
  const auto finished = negawatt("top --once --json");
  EXPECT_EQ(finished.exit_code, 0) << finished.error;
  const auto json = Json::parse(finished.out);
  ASSERT_EQ(json.at("gpus").size(), 2);
  EXPECT_EQ(json.at("simulated"), true);
  EXPECT_EQ(json.at("negawattd").at("reachable"), true);
  for (const auto& gpu : json.at("gpus")) {
    EXPECT_EQ(gpu.at("power_source"), "instant");
    EXPECT_GT(gpu.at("power_w").get<double>(), 50);
    EXPECT_LT(gpu.at("power_w").get<double>(), 150);  // idle
    EXPECT_TRUE(gpu.at("energy_j").is_null());        // nothing has been counted yet
    EXPECT_TRUE(gpu.at("lease").is_null());
  }
}

TEST_F(OnSimulatedMachine, TopWithoutADriverExitsWithThree) {
  build(1);
  ::setenv("NEGAWATT_NVML", folder_.path("libnvidia-ml.so.1").c_str(), 1);
  const auto finished = negawatt("top --once");
  EXPECT_EQ(finished.exit_code, kGone);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.error, HasSubstr("install the NVIDIA driver"));
}

TEST_F(OnSimulatedMachine, TopShowsTheOthersWhenOneGpuHangs) {
  build(2,
        "at = [{kind = \"hang\", at_s = 0, seconds = 1000, call = \"nvmlDeviceGetPowerUsage\"}]");
  const auto finished = negawatt("top --once --json");
  EXPECT_EQ(finished.exit_code, 0) << finished.error;
  const auto gpus = Json::parse(finished.out).at("gpus");
  EXPECT_GT(gpus.at(0).at("power_w").get<double>(), 50);
  EXPECT_TRUE(gpus.at(1).at("power_w").is_null());
  EXPECT_GT(gpus.at(1).at("silent_s").get<double>(), 1);
}

TEST_F(OnSimulatedMachine, TopCountsJoulesAndEndsAtSigterm) {
  build(1);
  auto top =
      process::Child::start({.command = {NEGAWATT_BINARY, "top", "--json", "--interval", "0.4"},
                             .streams = process::Streams::piped});
  ASSERT_TRUE(top) << top.error().message;
  Json last;
  for (int look = 0; look < 4; ++look) {
    const auto line = top->read_line(Seconds(20));
    ASSERT_TRUE(line) << line.error().message;
    last = Json::parse(*line);
  }
  top->signal(SIGTERM);
  EXPECT_EQ(top->wait().shell_code(), 0);
  const double watts = last.at("gpus").at(0).at("power_w");
  const double joules = last.at("gpus").at(0).at("energy_j");
  // By whole steps of the counter, of which one may be missing or one too many.
  EXPECT_NEAR(joules, watts * last.at("time_s").get<double>(), watts * 0.15);
}

TEST_F(OnSimulatedMachine, TopGivesTheTerminalBackAtControlC) {
  build(1);
  int terminal = -1;
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  const auto pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::setenv("TERM", "xterm", 1);
    ::execl(NEGAWATT_BINARY, "negawatt", "top", "--interval", "0.2", nullptr);
    ::_exit(127);
  }
  std::string shown;
  std::array<char, 4096> buffer;
  bool interrupted = false;
  while (true) {
    const auto got = ::read(terminal, buffer.data(), buffer.size());
    if (got <= 0) break;  // the terminal's other end is closed
    shown.append(buffer.data(), static_cast<std::size_t>(got));
    if (!interrupted && shown.find("H200") != std::string::npos) {
      ASSERT_EQ(::write(terminal, "\003", 1), 1);
      interrupted = true;
    }
  }
  ::close(terminal);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const auto entered = shown.find("\033[?1049h");
  const auto left = shown.rfind("\033[?25h\033[?1049l");
  ASSERT_NE(entered, std::string::npos);
  ASSERT_NE(left, std::string::npos);
  EXPECT_LT(entered, left);
  EXPECT_THAT(shown.substr(left), HasSubstr("H200"));  // the last picture stays
}

}  // namespace
}  // namespace negawatt::testing
