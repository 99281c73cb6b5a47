// SPDX-License-Identifier: Apache-2.0
// What a snapshot looks like.
#include "inspect/top.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace negawatt::inspect {
namespace {

using testing::HasSubstr;
using testing::Not;

GpuLine busy_gpu() {
  GpuLine gpu;
  gpu.display_index = 0;
  gpu.uuid = "GPU-a";
  gpu.name = "NVIDIA H200";
  gpu.power = {Watts(691.24), PowerSource::instant};
  gpu.limit = Watts(700);
  gpu.asked = lease::ClockPair{lease::Clock::locked_mhz(1410), {}};
  gpu.clocks = gpu::Clocks{{1395}, {3201}};
  gpu.temperature_c = 66;
  gpu.busy_pct = 98;
  gpu.energy = Joules(6912.4);
  gpu.energy_source = EnergySource::counter;
  gpu.reasons = gpu::EventReasons{4};
  gpu.processes = {{{.pid = 4242, .command = "train"}}};
  gpu.lease = lease::Owner{.pid = 4200, .uid = 1000, .command = "negawatt"};
  return gpu;
}

Snapshot snapshot_of(std::vector<GpuLine> gpus) {
  return {.driver_version = "580.159.04",
          .simulated = false,
          .since_start = Seconds(75),
          .daemon = {.reachable = true, .observe_only = false},
          .gpus = std::move(gpus)};
}

TEST(Top, ShowsOneGpuInTwoLines) {
  const auto lines = top_lines(snapshot_of({busy_gpu()}));
  ASSERT_EQ(lines.size(), 4);
  EXPECT_EQ(lines[0], "691.2 W  6912.4 J in 1:15 min  negawattd: 1 lease  driver 580.159.04");
  EXPECT_EQ(lines[1],
            "GPU                   watts sensor    limit   core MHz   mem. MHz     C busy%");
  EXPECT_EQ(lines[2],
            "  0  H200             691.2 instant     700  1410/1395  auto/3201    66    98");
  EXPECT_EQ(lines[3],
            "     6912.4 J; limited by: power cap; lease: negawatt 4200 (user 1000); 1 proc..");
}

TEST(Top, WhatIsUnknownIsADashAndNeverZero) {
  GpuLine gpu;
  gpu.name = "NVIDIA GeForce RTX 3080 Ti";
  const auto lines = top_lines(snapshot_of({gpu}));
  EXPECT_EQ(lines[0], "-  - in 1:15 min  negawattd: 0 leases  driver 580.159.04");
  EXPECT_EQ(lines[2],
            "  0  RTX 3080 Ti          - -             -        -/-        -/-     -     -");
  EXPECT_EQ(lines[3], "     -; limited by: -; processes -");
}

TEST(Top, SumsSayHowManyGpusTheyAreOf) {
  GpuLine unknown;
  const auto lines = top_lines(snapshot_of({busy_gpu(), unknown, busy_gpu()}));
  EXPECT_THAT(lines[0], HasSubstr("1382.5 W (2 of 3)  13824.8 J (2 of 3)"));
}

TEST(Top, EnergySaysWhenItIsNotTheCounters) {
  GpuLine gpu = busy_gpu();
  gpu.energy_source = EnergySource::integrated;
  EXPECT_THAT(top_lines(snapshot_of({gpu}))[3], HasSubstr("6912.4 J (from power)"));
  gpu.energy_source = EnergySource::counter;
  gpu.counter_resets = 2;
  EXPECT_THAT(top_lines(snapshot_of({gpu}))[3], HasSubstr("6912.4 J (2 counter resets)"));
}

TEST(Top, AHangingDriverShowsForHowLong) {
  GpuLine gpu = busy_gpu();
  gpu.power = {};
  gpu.silent = Seconds(12.34);
  EXPECT_THAT(top_lines(snapshot_of({gpu}))[3],
              HasSubstr("6912.4 J; the driver has not answered for 12.3 s"));
}

TEST(Top, ALostGpuKeepsItsLine) {
  GpuLine gpu;
  gpu.display_index = 3;
  gpu.trouble = "nvmlDeviceGetUUID on GPU number 3: the GPU fell off the bus";
  const auto lines = top_lines(snapshot_of({busy_gpu(), gpu}));
  EXPECT_THAT(lines[4], HasSubstr("  3 "));
  EXPECT_THAT(lines[5], HasSubstr("fell off the bus"));
}

TEST(Top, ForeignNamesCannotBreakTheScreen) {
  GpuLine gpu = busy_gpu();
  gpu.name = "NVIDIA \033[2J\n and a very long name of a GPU";
  gpu.lease->command = "\xff\a\033]0;x";
  gpu.processes = std::vector<ProcessLine>(64, {.pid = 4'000'000, .command = "python3"});
  for (const auto& line : top_lines(snapshot_of({gpu}))) {
    EXPECT_LE(line.size(), 80);
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~');
  }
}

TEST(Top, ASimulatedDriverIsNamedFirst) {
  auto snapshot = snapshot_of({busy_gpu()});
  snapshot.simulated = true;
  snapshot.daemon = {};
  EXPECT_THAT(top_lines(snapshot)[0], HasSubstr("SIMULATED  691.2 W"));
  EXPECT_THAT(top_lines(snapshot)[0], HasSubstr("  no negawattd  "));
}

TEST(Top, JsonHasUnitsInItsKeysAndNullForUnknown) {
  const auto text = top_json(snapshot_of({busy_gpu(), GpuLine()}));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  const auto json = nlohmann::json::parse(text);
  EXPECT_DOUBLE_EQ(json.at("time_s"), 75);
  const auto& busy = json.at("gpus").at(0);
  EXPECT_DOUBLE_EQ(busy.at("power_w"), 691.24);
  EXPECT_EQ(busy.at("power_source"), "instant");
  EXPECT_EQ(busy.at("core_asked_mhz"), 1410);
  EXPECT_EQ(busy.at("memory_asked_mhz"), "auto");
  EXPECT_EQ(busy.at("core_mhz"), 1395);
  EXPECT_EQ(busy.at("lease").at("pid"), 4200);
  EXPECT_EQ(busy.at("limited_by"), "power cap");
  const auto& unknown = json.at("gpus").at(1);
  for (const auto* const key : {"power_w", "energy_j", "core_mhz", "core_asked_mhz", "lease",
                                "processes", "temperature_c", "uuid"}) {
    EXPECT_TRUE(unknown.at(key).is_null()) << key;
  }
}

}  // namespace
}  // namespace negawatt::inspect
