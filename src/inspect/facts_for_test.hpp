// SPDX-License-Identifier: Apache-2.0
//
// For tests of this room: a machine and a GPU of which there is nothing to complain, to be changed
// in one point by each test.
#pragma once

#include "inspect/doctor_facts.hpp"

namespace negawatt::inspect {

/// Turns into any Answer without a value.
inline tl::unexpected<gpu::DriverError> no_answer(gpu::Obstacle obstacle) {
  return tl::unexpected<gpu::DriverError>(
      gpu::DriverError{obstacle, "nvmlDeviceGetSomething", 3, "the driver said no"});
}

inline gpu::Refresh refresh_of_100_ms() {
  gpu::Refresh refresh{};
  refresh.period = Seconds(0.1);
  refresh.period_error = Seconds(0.0002);
  refresh.read_cost = Seconds(0.0034);
  return refresh;
}

inline GpuFacts facts_of_healthy_gpu() {
  return {
      .display_index = 0,
      .identity = gpu::Identity{gpu::GpuId("GPU-aaaa0000-1111-2222-3333-444455556666"),
                                "00000000:81:00.0", "NVIDIA H200", 0},
      .lost = {},
      .answers = GpuAnswers{.energy = gpu::EnergyReading{{12'345'678}, {}, Seconds(0.0034)},
                            .power_instant = gpu::Milliwatts{650'000},
                            .power_average = gpu::Milliwatts{640'000},
                            .power_unspecified = gpu::Milliwatts{640'000},
                            .clocks = gpu::Clocks{{1410}, {3201}},
                            .memory_clocks = std::vector<gpu::Megahertz>{{3201}, {2201}},
                            .core_clocks = std::vector<gpu::Megahertz>{{1980}, {1410}, {345}},
                            .reasons = gpu::EventReasons{0},
                            .power_limits = gpu::PowerLimits{.requested = gpu::Milliwatts{700'000},
                                                             .enforced = gpu::Milliwatts{700'000},
                                                             .factory = gpu::Milliwatts{700'000},
                                                             .least = gpu::Milliwatts{200'000},
                                                             .most = gpu::Milliwatts{700'000}},
                            .persistence = true,
                            .mig = gpu::MigMode{},
                            .instances = std::vector<gpu::MigId>{},
                            .processes = std::vector<gpu::ComputeProcess>{}},
      .measured =
          Measured{.energy = refresh_of_100_ms(),
                   .counter_moves = true,
                   .power_instant = refresh_of_100_ms(),
                   .power_average = refresh_of_100_ms(),
                   .cross_check = gpu::CrossCheck{.counter = Joules(1950),
                                                  .integrated = Joules(1940),
                                                  .time = Seconds(3),
                                                  .spread = 0.01,
                                                  .verdict = gpu::CrossCheck::Verdict::agrees}},
      .process_names = {}};
}

inline DoctorFacts facts_of_healthy_machine() {
  DoctorFacts facts;
  facts.machine.privilege = {.user_id = 1000, .sys_admin = false, .container = {}};
  facts.machine.kernel_driver = "580.159.04";
  facts.driver.path = "libnvidia-ml.so.1";
  facts.driver.driver_version = "580.159.04";
  facts.driver.library_version = "13.580.159.04";
  facts.daemon.socket = "/run/negawatt/negawattd.sock";
  facts.daemon.gpus = {{.gpu = "GPU-aaaa0000-1111-2222-3333-444455556666",
                        .name = "NVIDIA H200",
                        .state = lease::GpuState::free,
                        .owner = {},
                        .limits = {}}};
  facts.gpus = {facts_of_healthy_gpu()};
  facts.visible.devices = {{facts.gpus.front().identity->id, {}}};
  return facts;
}

}  // namespace negawatt::inspect
