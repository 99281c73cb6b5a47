// SPDX-License-Identifier: Apache-2.0
//
// All sensors of one GPU at about one moment, for `negawatt top`. What the GPU does not tell is
// empty, never 0. Takes some driver calls (milliseconds, or as long as the driver hangs).
#pragma once

#include <optional>
#include <vector>

#include "gpu/device.hpp"

namespace negawatt::inspect {

struct Reading {
  gpu::TimePoint at;  ///< on the device's clock
  std::optional<gpu::EnergyReading> energy;
  std::optional<gpu::Milliwatts> power_instant;
  std::optional<gpu::Milliwatts> power_average;
  std::optional<gpu::Milliwatts> power_unspecified;
  std::optional<gpu::Milliwatts> limit;       ///< in force
  std::optional<gpu::Milliwatts> most_power;  ///< the highest limit that can be set
  std::optional<gpu::Clocks> clocks;
  std::optional<std::int32_t> temperature_c;
  std::optional<gpu::Utilisation> utilisation;
  std::optional<gpu::EventReasons> reasons;
  std::optional<std::vector<gpu::ComputeProcess>> processes;
  std::optional<gpu::DriverError> lost;  ///< the GPU is gone: all else is empty
};

[[nodiscard]] Reading read_all(const gpu::Device& device);

}  // namespace negawatt::inspect
