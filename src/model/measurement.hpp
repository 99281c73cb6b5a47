// SPDX-License-Identifier: Apache-2.0
//
// Measurements of serving as people make them, and the steps of an engine they consist of. Read
// from CSV (docs/formats.md):
//
//   model,phase,devices,sequences,input_tokens,output_tokens[,time_s][,energy_j][,curve]
//
// An unknown model or phase, devices that cannot share the model, a power that such devices cannot
// draw, and what a measurement cannot be otherwise, is an error with file and line.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "model/architecture.hpp"
#include "model/device_fit.hpp"

namespace negawatt::model {

enum class Phase : std::uint8_t {
  prefill,   ///< one step that computes all prompts
  decode,    ///< one step, halfway through the outputs
  serving,   ///< the mean step of steady serving: prompts come in as outputs end
  request,   ///< everything: one step for the prompts, then one for each further output token
  uncached,  ///< likewise, without a KV cache: each step computes all tokens again
};

struct Measurement {
  const Architecture* architecture = nullptr;
  Phase phase = Phase::serving;
  std::uint32_t devices = 1;
  double sequences = 1;
  double input_tokens = 0;   ///< of a sequence
  double output_tokens = 0;  ///< likewise
  double seconds = 0;        ///< of what the phase says; 0: not measured
  double joules = 0;         ///< of all devices together; likewise
  std::uint32_t curve = 0;
};

[[nodiscard]] Sample sample_of(const Measurement& measurement);

/// Measured on `device`. Samples of one model and number of devices are a curve, unless the file
/// says otherwise. They point into `architectures`.
[[nodiscard]] Result<std::vector<Sample>> parse_measurements(
    std::string_view bytes, std::string_view file, std::span<const Architecture> architectures,
    const Device& device);

}  // namespace negawatt::model
