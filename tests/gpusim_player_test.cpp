// SPDX-License-Identifier: Apache-2.0
//
// The workload player and the recorder as processes: what is played is what the table says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "gpusim/description.hpp"
#include "process/child.hpp"
#include "tests/shared_data.hpp"
#include "tests/simulated_machine.hpp"
#include "trace/kernel_table.hpp"
#include "trace/position.hpp"

namespace negawatt::testing {
namespace {

using ::testing::StartsWith;

constexpr Seconds kPatience(20.0);
const std::string kVirtual = "[time]\nmode = \"virtual\"\n";
const std::string kTable =
    "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n"
    "big gemm,forward,2,auto,auto,0.01,3.5\nbig gemm,forward,2,1050,auto,0.02,2.0\n"
    "copy,forward,1,auto,auto,0.004,1.0\ncopy,forward,1,1050,auto,0.004,0.6\n";

struct Ran {
  int exit_code = 0;
  std::string out;
};

Ran run_player(const SimulatedMachine& machine, const std::string& arguments) {
  const auto output = machine.folder().path("player-output");
  const std::string command = std::string("timeout 20 '") + kSimulatedFolder + "/negawatt-play' " +
                              arguments + " >'" + output + "' 2>&1";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(output).value_or("")};
}

/// A GPU that adds nothing to a kernel's power: it is at its reference temperature for good.
SimulatedMachine machine_without_leakage() {
  return SimulatedMachine(kVirtual + gpu_like("rtx3080ti.toml",
                                              "switch_latency = \"none\"\n"
                                              "[gpu.power]\nleakage_w_per_k = 0\n"));
}

std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    auto& row = rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
  }
  return rows;
}

TEST(Player, PlaysTheTablesTimesAndEnergiesInTheSequencesOrder) {
  const auto machine = machine_without_leakage();
  const auto table = machine.folder().file("kernels.csv", kTable);
  const auto sequence =
      machine.folder().file("sequence.csv", "position,kernel\n0,big gemm\n1,copy\n2,big gemm\n");
  const auto log = machine.folder().path("log.csv");
  const auto ran = run_player(machine, "--table '" + table + "' --sequence '" + sequence +
                                           "' --iterations 3 --log '" + log + "'");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto summary = nlohmann::json::parse(ran.out);
  EXPECT_EQ(summary["iterations"], 3);
  EXPECT_EQ(summary["invocations"], 9);
  EXPECT_NEAR(summary["time_s"], 3 * 0.024, 1e-7);
  EXPECT_NEAR(summary["energy_j"], 3 * 8.0, 1e-4);
  const auto rows = rows_of(read_file(log).value_or(""));
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[1][2], "big gemm");
  EXPECT_EQ(rows[2][2], "copy");
  EXPECT_EQ(rows[2][4], rows[3][3]) << "a gap although launches run ahead";
  EXPECT_NEAR(std::stod(rows[2][5]), 1.0, 1e-4);
}

TEST(Player, FollowsTheClocksThatOthersLock) {
  const auto machine = machine_without_leakage();
  const auto table = machine.folder().file("kernels.csv", kTable);
  {
    const NvmlSession session;
    ASSERT_EQ(nvml().nvmlDeviceSetGpuLockedClocks(session.gpu(0), 1050, 1050), NVML_SUCCESS);
  }
  const auto ran = run_player(machine, "--table '" + table + "' --iterations 2");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto summary = nlohmann::json::parse(ran.out);
  EXPECT_NEAR(summary["time_s"], 2 * 0.044, 1e-7);
  EXPECT_NEAR(summary["energy_j"], 2 * 4.6, 1e-4);
}

TEST(Player, PlaysForATimeAndEndsWithAWholeIteration) {
  const auto machine = machine_without_leakage();
  const auto table = machine.folder().file("kernels.csv", kTable);
  const auto arguments =
      "--table '" + table + "' --seconds 1 --kernel copy --calls 10 --launch-ahead ";
  for (const std::string ahead : {"0", "1", "100"}) {
    const auto ran = run_player(machine, arguments + ahead);
    ASSERT_EQ(ran.exit_code, 0) << ran.out;
    const auto summary = nlohmann::json::parse(ran.out);
    EXPECT_GE(summary["time_s"], 1.0 - 1e-6);
    EXPECT_NEAR(summary["time_s"], summary["iterations"].get<double>() * 0.04, 1e-6);
  }
}

TEST(Player, TellsWhereItIs) {
  const auto machine = machine_without_leakage();
  const auto table = machine.folder().file("kernels.csv", kTable);
  const auto page_path = machine.folder().path("position");
  ::setenv("NEGAWATT_POSITION", page_path.c_str(), 1);
  const auto ran = run_player(machine, "--table '" + table + "' --iterations 2");
  ::unsetenv("NEGAWATT_POSITION");
  ASSERT_EQ(ran.exit_code, 0) << ran.out;
  const auto bytes = read_file(page_path).value_or("");
  ASSERT_GE(bytes.size(), sizeof(trace::PositionPage));
  alignas(trace::PositionPage) std::array<char, sizeof(trace::PositionPage)> copy{};
  std::copy_n(bytes.begin(), copy.size(), copy.begin());
  const auto position = trace::read(*reinterpret_cast<const trace::PositionPage*>(copy.data()));
  ASSERT_TRUE(position) << position.error().message;
  EXPECT_EQ(position->state, trace::ProgramState::finished);
  EXPECT_EQ(position->iteration, 2U);
  EXPECT_EQ(position->started_ns, 48'000'000U);
}

TEST(Player, GoesOnWithoutAPageThatCannotBe) {
  const auto machine = machine_without_leakage();
  const auto table = machine.folder().file("kernels.csv", kTable);
  ::setenv("NEGAWATT_POSITION", "/nonexistent/page", 1);
  const auto ran = run_player(machine, "--table '" + table + "'");
  ::unsetenv("NEGAWATT_POSITION");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, StartsWith("no position page '/nonexistent/page': No such file"));
}

TEST(Player, NamesWhatIsWrong) {
  const auto machine = machine_without_leakage();
  const auto table = machine.folder().file("kernels.csv", kTable);
  EXPECT_EQ(run_player(machine, "--no-such-option").exit_code, 2);
  EXPECT_EQ(run_player(machine, "--table /nonexistent").exit_code, 2);
  EXPECT_EQ(run_player(machine, "--table /").exit_code, 2) << "a folder";
  const auto for_seconds = "--table '" + table + "' --seconds ";
  for (const std::string time : {"nan", "inf", "0", "-1"})
    EXPECT_EQ(run_player(machine, for_seconds + time).exit_code, 2);
  EXPECT_EQ(run_player(machine, "").exit_code, 2) << "the description has no kernels";
  const auto unknown = run_player(machine, "--table '" + table + "' --kernel relu");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.out, "negawatt-play: there is no kernel 'relu'\n");
  EXPECT_EQ(run_player(machine, "--table '" + table + "' --gpu GPU-0").exit_code, 2);
  ::unsetenv("NEGAWATT_GPUSIM");
  EXPECT_EQ(run_player(machine, "--table '" + table + "'").exit_code, 3);
}

class ServedKernels : public ::testing::Test {
 protected:
  ServedKernels()
      : machine_(machine_without_leakage()),
        player_(*process::Child::start(
            {.command = {std::string(kSimulatedFolder) + "/negawatt-play", "--serve", "--table",
                         machine_.folder().file("kernels.csv", kTable)},
             .streams = process::Streams::piped})) {}
  ~ServedKernels() override {
    player_.close_input();
    EXPECT_EQ(player_.wait().exit_code, 0);
  }
  std::string ask(const std::string& line) {
    EXPECT_TRUE(player_.write_line(line));
    return player_.read_line(kPatience).value_or("no answer");
  }

  SimulatedMachine machine_;
  process::Child player_;
};

TEST_F(ServedKernels, AreListed) {
  EXPECT_EQ(ask("kernels"), "kernel big\\ gemm forward 2");
  EXPECT_EQ(player_.read_line(kPatience).value_or(""), "kernel copy forward 1");
  EXPECT_EQ(player_.read_line(kPatience).value_or(""), "end");
}

TEST_F(ServedKernels, RunWhileWhoeverAsksLetsTimePass) {
  const NvmlSession session;
  ASSERT_EQ(nvml().negawattSimJoin(), NVML_SUCCESS);
  ASSERT_EQ(ask("start big\\ gemm"), "started");
  EXPECT_EQ(ask("count"), "count 0 0");
  nvml().negawattSimSleepUntil(1'000'000'000);
  EXPECT_EQ(ask("count"), "count 100 1000000000");
  nvml().negawattSimSleepUntil(1'004'000'000);
  EXPECT_EQ(ask("count"), "count 100 1000000000") << "a call that is not over was counted";
  EXPECT_EQ(ask("stop"), "stopped 100 1.000000000");
  nvml().negawattSimSleepUntil(3'600'000'000'000);
  ASSERT_EQ(ask("start copy"), "started");
  nvml().negawattSimSleepUntil(3'601'000'000'000);
  EXPECT_EQ(ask("stop"), "stopped 250 1.000000000");
  ASSERT_EQ(ask("start copy"), "started");
  EXPECT_EQ(ask("stop"), "stopped 0 0.000000000");
  nvml().negawattSimLeave();
}

TEST_F(ServedKernels, ThatHaveEndedAreNotCountedAsNone) {
  const NvmlSession session;
  ASSERT_EQ(ask("start copy"), "started");
  ASSERT_EQ(nvml().negawattSimJoin(), NVML_SUCCESS);
  nvml().negawattSimSleepUntil(200'000'000'000'000'000);  // six years
  nvml().negawattSimLeave();
  EXPECT_EQ(ask("count"), "error the kernel has ended by itself");
  EXPECT_EQ(ask("start copy"), "started");
}

TEST_F(ServedKernels, RefuseWhatCannotBe) {
  EXPECT_EQ(ask("stop"), "error no kernel is running");
  EXPECT_EQ(ask("count"), "error no kernel is running");
  EXPECT_EQ(ask("start relu"), "error there is no kernel 'relu'");
  EXPECT_THAT(ask("dance"), StartsWith("error 'dance' is none of kernels"));
  EXPECT_EQ(ask("start copy"), "started");
  EXPECT_EQ(ask("start copy"), "error a kernel is running: stop it first");
}

TEST(Recorder, ARecordedMachineAnswersAsItDid) {
  const SimulatedMachine machine(
      kVirtual +
      gpu_like("h200.toml", "[gpu.faults]\nnot_supported = [\"nvmlDeviceGetTemperatureV\"]\n") +
      gpu_like("rtx3080ti.toml"));
  const auto record = machine.folder().path("record.toml");
  const std::string command = std::string("timeout 20 '") + kSimulatedFolder +
                              "/negawatt-record-machine' '" + kSimulatedFolder +
                              "/libnvidia-ml.so.1' >'" + record + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto original = gpusim::read_machine(machine.folder().path("machine.toml"));
  const auto recorded = gpusim::read_machine(record);
  ASSERT_TRUE(original);
  ASSERT_TRUE(recorded) << recorded.error().message << '\n' << read_file(record).value_or("");
  EXPECT_EQ(recorded->driver_version, original->driver_version);
  ASSERT_EQ(recorded->gpus.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& was = original->gpus[i];
    const auto& is = recorded->gpus[i];
    EXPECT_EQ(is.identity.name, was.identity.name);
    EXPECT_EQ(is.identity.uuid, was.identity.uuid);
    EXPECT_EQ(is.identity.pci_bus, was.identity.pci_bus);
    EXPECT_EQ(is.identity.pci_device_id, was.identity.pci_device_id);
    EXPECT_EQ(is.identity.architecture, was.identity.architecture);
    EXPECT_EQ(is.identity.memory_bytes, was.identity.memory_bytes);
    EXPECT_EQ(is.clocks.core_mhz, was.clocks.core_mhz);
    EXPECT_EQ(is.clocks.memory_mhz, was.clocks.memory_mhz);
    EXPECT_EQ(is.clocks.memory_holds.size(), was.clocks.memory_holds.size());
    EXPECT_EQ(is.limits.least, was.limits.least);
    EXPECT_EQ(is.limits.standard, was.limits.standard);
    EXPECT_EQ(is.limits.most, was.limits.most);
    EXPECT_EQ(is.sensors.period_ns, was.sensors.period_ns);
    EXPECT_EQ(is.mig_enabled, was.mig_enabled);
    EXPECT_EQ(is.faults.not_supported, was.faults.not_supported);
  }
}

}  // namespace
}  // namespace negawatt::testing
