// SPDX-License-Identifier: Apache-2.0
#include "gpusim/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gpusim/gpu_for_test.hpp"
#include "tests/shared_data.hpp"

namespace negawatt::gpusim {
namespace {

using ::testing::HasSubstr;

Result<std::string> h200_text(std::string_view name) {
  return testing::repository_file("data/gpusim/" + std::string(name));
}

Result<MachineModel> parse(std::string_view text) {
  return parse_machine(text, "m.toml", h200_text);
}

/// The error that a description has, or that there is none.
std::string problem(std::string_view text) {
  const auto machine = parse(text);
  return machine ? "accepted" : machine.error().message;
}

/// The H200's description with one text in it replaced.
std::string altered(std::string_view from, std::string_view to) {
  auto text = testing::repository_file("data/gpusim/h200.toml");
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// A machine of one H200 with more keys in its GPU.
std::string h200_with(std::string_view keys) {
  return "[[gpu]]\nbase = \"h200.toml\"\n" + std::string(keys);
}

TEST(Description, TheShippedMachinesAreRead) {
  for (const auto* name : {"h200.toml", "eight-h200.toml", "h200-mig.toml", "rtx3080ti.toml"}) {
    const auto machine = read_machine(std::string(NEGAWATT_SOURCE_DIR "/data/gpusim/") + name);
    EXPECT_TRUE(machine) << (machine ? "" : machine.error().message);
  }
}

TEST(Description, WhatItSaysIsWhatTheModelHas) {
  const auto machine = parse(testing::repository_file("data/gpusim/h200.toml"));
  ASSERT_TRUE(machine) << machine.error().message;
  const auto& gpu = machine->gpus.at(0);
  EXPECT_EQ(gpu.identity.name, "NVIDIA H200");
  EXPECT_EQ(gpu.identity.pci_bus, 6);
  EXPECT_EQ(gpu.identity.architecture, 9);
  EXPECT_EQ(gpu.clocks.core_mhz.size(), 110);  // as the driver lists them
  EXPECT_EQ(gpu.clocks.core_mhz.front(), 345);
  EXPECT_EQ(gpu.clocks.core_mhz.back(), 1980);
  EXPECT_EQ(gpu.clocks.core_latency.to(1410), 6 * kMs);
  EXPECT_EQ(gpu.clocks.memory_latency.to(0), 6 * kMs);
  EXPECT_EQ(gpu.limits.least, Watts(200));
  EXPECT_EQ(gpu.sensors.instant_window_ns, 25 * kMs);
  EXPECT_EQ(gpu.sensors.costs.energy_ns, 3'400'000);
  EXPECT_GE(gpu.kernels.size(), 22);
}

TEST(Description, CopiesCountUpUuidAndBus) {
  const auto machine = read_machine(NEGAWATT_SOURCE_DIR "/data/gpusim/eight-h200.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 8);
  EXPECT_EQ(machine->gpus[7].identity.uuid, "GPU-51000000-4e57-4a10-8200-000000000007");
  EXPECT_EQ(machine->gpus[7].identity.pci_bus, 0x0D);
  EXPECT_EQ(machine->gpus[7].identity.minor_number, 7);
}

TEST(Description, MigInstancesBelongToTheirGpu) {
  const auto machine = read_machine(NEGAWATT_SOURCE_DIR "/data/gpusim/h200-mig.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 2);
  EXPECT_TRUE(machine->gpus[0].mig_enabled);
  EXPECT_EQ(machine->gpus[0].mig.size(), 3);
  EXPECT_EQ(machine->gpus[0].mig[2].gpu_instance, 9);
  EXPECT_FALSE(machine->gpus[1].mig_enabled);
}

TEST(Description, AGpuOverridesPartsOfItsBase) {
  const auto machine =
      parse(h200_with("switch_latency = \"150 ms\"\n[gpu.limits]\ninitial_w = 500\n"));
  ASSERT_TRUE(machine) << machine.error().message;
  const auto& gpu = machine->gpus[0];
  EXPECT_EQ(gpu.clocks.core_latency.to(1410), 150 * kMs);
  EXPECT_EQ(gpu.limits.initial, Watts(500));
  EXPECT_EQ(gpu.limits.standard, Watts(700));
}

TEST(Description, LatenciesMayDifferByDomainAndTarget) {
  const auto machine = parse(h200_with(
      "[gpu.switch_latency]\nmemory = \"100 ms\"\n"
      "core = {otherwise = 0.006, to_auto = \"2 ms\", targets = [{mhz = 345, latency = 0.04}]}\n"));
  ASSERT_TRUE(machine) << machine.error().message;
  const auto& clocks = machine->gpus[0].clocks;
  EXPECT_EQ(clocks.core_latency.to(1410), 6 * kMs);
  EXPECT_EQ(clocks.core_latency.to(345), 40 * kMs);
  EXPECT_EQ(clocks.core_latency.to(0), 2 * kMs);
  EXPECT_EQ(clocks.memory_latency.to(2201), 100 * kMs);
}

TEST(Description, FaultsAreReadAndSortedByTime) {
  const auto machine = parse(h200_with(R"([gpu.faults]
not_supported = ["nvmlDeviceSetMemoryLockedClocks"]
no_permission = ["nvmlDeviceSetPowerManagementLimit"]
at = [
  {at_s = 5, kind = "counter_rate", rate = 1.5, for_s = "500 ms"},
  {at_s = 2, kind = "override_lock", mhz = 1200},
  {at_s = 3, kind = "hang", call = "nvmlDeviceGetPowerUsage", seconds = 4},
]
calls = [{call = "nvmlDeviceGetTotalEnergyConsumption", from = 3, to = 5, returns = "NOT_READY"}]
)"));
  ASSERT_TRUE(machine) << machine.error().message;
  const auto& faults = machine->gpus[0].faults;
  EXPECT_EQ(faults.not_supported.size(), 1);
  ASSERT_EQ(faults.timed.size(), 3);
  EXPECT_EQ(faults.timed[0].kind, TimedFault::Kind::override_lock);
  EXPECT_EQ(faults.timed[0].until_ns, kNever);
  EXPECT_EQ(faults.timed[1].function, function_index("nvmlDeviceGetPowerUsage"));
  EXPECT_EQ(faults.timed[2].until_ns, 5'500 * kMs);
  EXPECT_EQ(faults.counted.at(0).last, 5);
  EXPECT_EQ(faults.counted.at(0).returns, NVML_ERROR_NOT_READY);
}

TEST(Description, TheMachineHasATimeAndFaultsOfItsOwn) {
  const auto machine = parse(h200_with("") + R"(
[time]
mode = "scaled"
scale = 50
[faults]
missing_symbols = ["nvmlDeviceSetMemoryLockedClocks"]
calls = [{call = "nvmlInit_v2", returns = "DRIVER_NOT_LOADED"}]
)");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->time_mode, TimeMode::scaled);
  EXPECT_EQ(machine->time_scale, 50);
  EXPECT_EQ(machine->faults.missing_symbols.size(), 1);
  EXPECT_EQ(machine->faults.counted.at(0).first, 1);
}

TEST(Description, AnUnknownKeyIsNamedWithTheNearestKnownOne) {
  EXPECT_EQ(problem(h200_with("swich_latency = 1\n")),
            "m.toml:3: 'gpu.swich_latency' is not known, is 'switch_latency' meant?");
  EXPECT_THAT(problem(h200_with("[gpu.power]\nstatic_W = 1\n")),
              HasSubstr("m.toml:4: 'gpu.power.static_W' is not known, is 'static_w' meant?"));
  EXPECT_THAT(problem(h200_with("") + "[times]\n"), HasSubstr("is 'time' meant?"));
}

TEST(Description, EveryProblemNamesFileLineAndWhatWasExpected) {
  EXPECT_EQ(problem(altered("least_w = 200", "least_w = \"much\"")).substr(0, 7), "m.toml:");
  EXPECT_THAT(problem(altered("least_w = 200", "least_w = -1")),
              HasSubstr("expected a number from 1 to 100000"));
  EXPECT_THAT(problem(altered("least_w = 200", "")), HasSubstr("'gpu.limits.least_w' is missing"));
  EXPECT_THAT(problem(altered("default_w = 700", "default_w = 750")), HasSubstr("default_w"));
  EXPECT_THAT(problem(altered("kelvin_per_watt = 0.055", "kelvin_per_watt = 2")),
              HasSubstr("less than 0.9 / leakage_w_per_k"));
  EXPECT_THAT(problem(altered("average_window_s = 1", "average_window_s = 1.05")),
              HasSubstr("1 to 62 times period_s"));
  EXPECT_THAT(problem(altered("architecture = \"hopper\"", "architecture = \"fermi\"")),
              HasSubstr("volta, turing"));
  EXPECT_THAT(problem(altered("00000000:06:00.0", "06:00")), HasSubstr("an address as"));
  EXPECT_THAT(problem(altered("GPU-51000000", "GPU-5100000")), HasSubstr("a UUID"));
  EXPECT_THAT(problem(altered("\"6 ms\"", "\"6 weeks\"")), HasSubstr("expected a duration"));
  EXPECT_THAT(problem(altered("[2201, 3201]", "[3201, 2201]")), HasSubstr("ascending clocks"));
  EXPECT_THAT(problem(altered("kind = \"feedback\"", "kind = \"magic\"")),
              HasSubstr("'equilibrium' or 'feedback'"));
  EXPECT_EQ(problem(altered("[gpu.clocks]", "[gpu.clocks")).substr(0, 7), "m.toml:");
  EXPECT_EQ(problem("# fine\ndriver = \"\xc3\xa9\"\n"), "m.toml:2: expected plain ASCII");
  EXPECT_EQ(problem("driver = \"1\"\n"), "m.toml:1: [[gpu]] is missing");
  EXPECT_EQ(problem("gpu = 3\n"), "m.toml:1: 'gpu' is 3, expected a list of tables");
}

TEST(Description, ALineOfABaseIsNamedWithTheBase) {
  const auto machine =
      parse_machine("[[gpu]]\nbase = \"b.toml\"\n", "m.toml", [](std::string_view) {
        return Result<std::string>(altered("kind = \"feedback\"", "kinds = \"feedback\""));
      });
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().message, HasSubstr("b.toml:"));
}

TEST(Description, BasesThatGoInCirclesAreRefused) {
  const auto machine = parse_machine(
      "[[gpu]]\nbase = \"m.toml\"\n", "m.toml",
      [](std::string_view) { return Result<std::string>("[[gpu]]\nbase = \"m.toml\"\n"); });
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().message, HasSubstr("at most 4 files"));
}

TEST(Description, NoTwoGpusAreTheSame) {
  EXPECT_THAT(problem(h200_with("") + h200_with("pci = \"00000000:07:00.0\"\n")),
              HasSubstr("no two GPUs with the same UUID"));
  EXPECT_THAT(
      problem(h200_with("") + h200_with("uuid = \"GPU-51000000-4e57-4a10-8200-000000000001\"\n")),
      HasSubstr("no two GPUs with the same PCI address"));
  EXPECT_THAT(problem(h200_with("count = 65\n")), HasSubstr("from 1 to 64"));
}

TEST(Description, AMissingFileIsNamed) {
  const auto machine = read_machine("/nowhere/machine.toml");
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().message, "/nowhere/machine.toml: cannot be read, or is empty");
}

TEST(Description, LatencyPresetsAreWrittenAsTextOrSeconds) {
  EXPECT_EQ(parse_latency("none"), Seconds(0));
  EXPECT_EQ(parse_latency("0"), Seconds(0));
  EXPECT_DOUBLE_EQ(parse_latency("6 ms")->in_si(), 0.006);
  EXPECT_DOUBLE_EQ(parse_latency("150ms")->in_si(), 0.15);
  EXPECT_DOUBLE_EQ(parse_latency("0.015")->in_si(), 0.015);
  EXPECT_DOUBLE_EQ(parse_latency("40 us")->in_si(), 40e-6);
  for (const auto* text : {"", "ms", "-1", "6 weeks", "nan", "1e9", "6 ms or so"})
    EXPECT_FALSE(parse_latency(text)) << text;
}

TEST(Description, OneLatencyReplacesAllOfThem) {
  auto machine =
      parse(h200_with("[gpu.switch_latency]\nmemory = \"100 ms\"\n"
                      "core = {otherwise = 0.006, to_auto = \"2 ms\"}\n"));
  ASSERT_TRUE(machine);
  override_latency(*machine, Seconds(0.015));
  const auto& clocks = machine->gpus[0].clocks;
  for (const auto* latency : {&clocks.core_latency, &clocks.memory_latency}) {
    EXPECT_EQ(latency->to(0), 15 * kMs);
    EXPECT_EQ(latency->to(1980), 15 * kMs);
  }
}

}  // namespace
}  // namespace negawatt::gpusim
