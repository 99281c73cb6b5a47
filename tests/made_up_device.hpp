// SPDX-License-Identifier: Apache-2.0
//
// What a made-up device does, as samples for tests of fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/device_fit.hpp"
#include "model/measurement.hpp"
#include "tests/serving_energy.hpp"

namespace negawatt::model {

/// A device whose factors are not the typical ones.
inline Device true_device() {
  Device device = testing::shipped_device("l4");
  device.calibrations.clear();
  device.time.step = 3e-3;
  device.time.weights = 1.6;
  device.time.sequence = 9e-5;
  device.time.compute = 1.9;
  device.energy.active *= 1.5;
  device.energy.weights *= 0.6;
  device.energy.compute *= 1.3;
  return device;
}

/// Prompts and decode steps of two small models, as the device does them.
inline std::vector<Sample> measured_on(const Device& device) {
  std::vector<Sample> samples;
  std::uint32_t curve = 0;
  for (const std::string model : {"Qwen/Qwen3-8B", "google/gemma-3-12b-it"}) {
    const Architecture& architecture = testing::architecture_named(model);
    for (const double sequences : {1.0, 4.0, 16.0, 64.0, 200.0, 500.0})
      for (const Phase phase : {Phase::decode, Phase::serving, Phase::prefill}) {
        Sample sample = sample_of({&architecture, phase, 1, sequences, 300, 200, 0, 0, curve});
        const Cost cost = predicted(device, sample);
        sample.seconds = cost.time.in_si();
        sample.joules = cost.energy.in_si();
        samples.push_back(sample);
      }
    ++curve;
  }
  return samples;
}

}  // namespace negawatt::model
