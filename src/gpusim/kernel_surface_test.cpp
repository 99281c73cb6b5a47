// SPDX-License-Identifier: Apache-2.0
#include "gpusim/kernel_surface.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gpusim/description.hpp"
#include "gpusim/gpu_for_test.hpp"
#include "gpusim/physics.hpp"
#include "tests/shared_data.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::gpusim {
namespace {

trace::Kernel kernel_of(std::string_view rows) {
  const auto table = trace::parse_kernel_table(
      "kernel,group,calls,core_mhz,memory_mhz,time_s,energy_j\n" + std::string(rows), "t.csv");
  return table ? table->kernels.at(0) : trace::Kernel{};
}

KernelSurface surface_from(std::string_view rows) {
  return surface_of_table(small_gpu(), kernel_of(rows)).value_or(KernelSurface{});
}

TEST(KernelSurface, ATablesRowsAreReproducedExactly) {
  const auto surface = surface_from(
      "k,g,3,auto,auto,0.001,0.3\nk,g,3,500,auto,0.002,0.3\nk,g,3,500,500,0.003,0.3\n");
  EXPECT_EQ(surface.name_text(), "k");
  EXPECT_EQ(surface.calls, 3);
  EXPECT_EQ(surface.count, 2);
  const auto at = [&](std::uint32_t memory, double core) {
    return operating_point(surface.setting(memory), core);
  };
  EXPECT_EQ(at(0, 1000).time, Seconds(0.001));
  EXPECT_DOUBLE_EQ(at(0, 1000).power.in_si(), 300);
  EXPECT_EQ(at(0, 500).time, Seconds(0.002));
  EXPECT_DOUBLE_EQ(at(500, 500).power.in_si(), 100);
}

TEST(KernelSurface, BetweenNodesItIsStraightInLogarithmsAndAtTheEndsItIsFlat) {
  const auto surface = surface_from("k,g,1,auto,auto,0.001,0.4\nk,g,1,250,auto,0.004,0.4\n");
  const auto& setting = surface.setting(0);
  // Half way in log: 500 MHz, the geometric mean of 1 and 4 ms, and of 400 and 100 W.
  EXPECT_NEAR(operating_point(setting, 500).time.in_si(), 0.002, 1e-15);
  EXPECT_NEAR(operating_point(setting, 500).power.in_si(), 200, 1e-10);
  EXPECT_EQ(operating_point(setting, 100).time, Seconds(0.004));
  EXPECT_EQ(operating_point(setting, 5000).time, Seconds(0.001));
}

TEST(KernelSurface, RowsAtOrAboveTheAutomaticClockGiveWayToTheAutomaticRow) {
  auto model = small_gpu();
  model.clocks.auto_core_mhz = 700;
  const auto surface =
      surface_of_table(model, kernel_of("k,g,1,auto,auto,0.001,0.3\nk,g,1,600,auto,0.002,0.3\n"
                                        "k,g,1,700,auto,0.5,0.3\nk,g,1,900,auto,0.6,0.3\n"));
  ASSERT_TRUE(surface);
  EXPECT_EQ(surface->setting(0).count, 2);
  EXPECT_EQ(operating_point(surface->setting(0), 700).time, Seconds(0.001));
}

TEST(KernelSurface, AMissingMemorySettingIsStoodInForByTheNearest) {
  const auto surface = surface_from("k,g,1,auto,500,0.002,0.3\nk,g,1,auto,1000,0.001,0.3\n");
  EXPECT_EQ(surface.setting(0).memory_mhz, 1000);
  EXPECT_EQ(surface.setting(600).memory_mhz, 500);
  EXPECT_EQ(surface.setting(900).memory_mhz, 1000);
}

TEST(KernelSurface, TheClockWithinALimitIsWherePowerMeetsIt) {
  const auto surface = steep_kernel();
  const auto& setting = surface.setting(0);
  const double clock = clock_within(setting, 1000, Watts(100));
  EXPECT_NEAR(operating_point(setting, clock).power.in_si(), 100, 1e-9);
  EXPECT_EQ(clock_within(setting, 1000, Watts(250)), 1000);
  EXPECT_EQ(clock_within(setting, 300, Watts(150)), 300);
  EXPECT_EQ(clock_within(setting, 1000, Watts(20)), 100);  // the lowest there is
}

TEST(KernelSurface, WhatDoesNotFitIsRefusedByName) {
  std::string rows;
  for (int mhz = 100; mhz < 100 + 25; ++mhz)
    rows += "k,g,1," + std::to_string(mhz) + ",auto,0.001,0.1\n";
  const auto crowded = surface_of_table(small_gpu(), kernel_of(rows));
  ASSERT_FALSE(crowded);
  EXPECT_THAT(crowded.error().message, ::testing::HasSubstr("kernel 'k'"));
  const auto unnamed =
      surface_of_table(small_gpu(), kernel_of(std::string(96, 'k') + ",g,1,auto,auto,1,1\n"));
  EXPECT_FALSE(unnamed);
}

TEST(KernelSurface, EveryPublishedKernelPlaysOnTheSimulated3080Ti) {
  const auto machine = read_machine(NEGAWATT_SOURCE_DIR "/data/gpusim/rtx3080ti.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  const auto table = trace::parse_kernel_table(
      testing::repository_file("data/gpt3-xl-3080ti/kernels.csv"), "kernels.csv");
  ASSERT_TRUE(table) << table.error().message;
  for (const auto& kernel : table->kernels) {
    const auto surface = surface_of_table(machine->gpus[0], kernel);
    ASSERT_TRUE(surface) << surface.error().message;
    DeviceForTest gpu(machine->gpus[0], {*surface});
    gpu.submit_calls(0, 1'000'000'000);
    for (const auto& option : kernel.options) {
      const auto lock = [](trace::Clock clock) { return ClockSetting{clock.mhz(), clock.mhz()}; };
      const auto& [core, memory] = option.clocks;
      core.is_automatic() ? reset_core(gpu.device(), 1) : lock_core(gpu.device(), lock(core), 1);
      memory.is_automatic() ? reset_memory(gpu.device(), 1)
                            : lock_memory(gpu.device(), lock(memory), 1);
      gpu.advance_to(gpu.state().now_ns + kSecond);
      EXPECT_DOUBLE_EQ(gpu.state().conditions.call_s, option.time.in_si()) << kernel.name;
      EXPECT_NEAR(gpu.state().conditions.power_w, (option.energy / option.time).in_si(), 1e-9)
          << kernel.name;
    }
  }
}

TEST(KernelSurface, AKernelWithoutPowerIsRefused) {
  auto model = small_gpu();
  model.power.static_power = model.power.clock_power = Watts(0);
  EXPECT_FALSE(surface_of_demand(model, {.name = "ghost", .compute = Seconds(1)}));
}

TEST(KernelSurface, ADemandIsItsFormulaAtEveryNode) {
  auto model = small_gpu();
  model.clocks.voltage = {{100, 0.5}, {1000, 1.0}};
  const KernelDemand demand{.name = "gemm",
                            .calls = 2,
                            .compute = Seconds(0.003),
                            .memory = Seconds(0.001),
                            .latency = Seconds(0.0005),
                            .overlap = 2,
                            .core_energy = Joules(0.2),
                            .memory_energy = Joules(0.1)};
  const auto surface = surface_of_demand(model, demand);
  ASSERT_TRUE(surface);
  EXPECT_EQ(surface->count, 3);  // automatic, 500, 1000
  // At core 500, memory 500: 6 ms and 2 ms overlap, the voltage is 0.5 + 0.5 * 400 / 900.
  const double volts = 0.5 + 0.5 * 4 / 9;
  const double time = 0.0005 + std::hypot(0.006, 0.002);
  const auto point = operating_point(surface->setting(500), 500);
  EXPECT_NEAR(point.time.in_si(), time, 1e-15);
  EXPECT_NEAR(point.power.in_si(),
              30 + 10 * 0.5 * volts * volts + (0.2 * volts * volts + 0.1) / time, 1e-10);
}

}  // namespace
}  // namespace negawatt::gpusim
