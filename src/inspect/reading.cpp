// SPDX-License-Identifier: Apache-2.0
#include "inspect/reading.hpp"

#include <utility>

namespace negawatt::inspect {
namespace {

template <class T>
std::optional<T> value_of(gpu::Answer<T> answer) {
  if (!answer) return std::nullopt;
  return *std::move(answer);
}

}  // namespace

Reading read_all(const gpu::Device& device) {
  Reading reading;
  reading.at = device.clock().now();
  const auto clocks = device.clocks();
  if (!clocks && clocks.error().obstacle == gpu::Obstacle::lost) {
    reading.lost = clocks.error();
    return reading;
  }
  reading.clocks = value_of(clocks);
  reading.energy = value_of(device.energy());
  reading.power_instant = value_of(device.power_instant());
  reading.power_average = value_of(device.power_average());
  reading.power_unspecified = value_of(device.power_unspecified());
  if (const auto limits = device.power_limits()) {
    reading.limit = limits->enforced;
    reading.most_power = limits->most;
  }
  reading.temperature_c = value_of(device.temperature_c());
  reading.utilisation = value_of(device.utilisation());
  reading.reasons = value_of(device.event_reasons());
  reading.processes = value_of(device.compute_processes());
  return reading;
}

}  // namespace negawatt::inspect
