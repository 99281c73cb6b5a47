// SPDX-License-Identifier: Apache-2.0
//
// model::parse_measurements on any bytes, with one architecture: every sample has steps, and a time
// or an energy above 0.
#include "model/measurement.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.csv";

void check(const model::Sample& sample) {
  require(sample.seconds > 0.0 || sample.joules > 0.0, "something was measured");
  require(!sample.steps.empty(), "a sample has steps");
  for (const auto& [load, count] : sample.steps)
    require(load.prompt_tokens >= 0.0 && load.prompt_attention >= 0.0 && load.sequences >= 0.0 &&
                load.context_tokens >= 0.0 && count >= 0.0,
            "loads and counts are not negative");
}

model::Device device() {
  model::Device device;
  device.name = "d";
  device.peak[static_cast<std::size_t>(model::Precision::bf16)] = 1e14;
  device.link_bandwidth = 1e11;
  device.idle_power = 50;
  device.max_power = 500;
  return device;
}

}  // namespace

bool accepts(std::string_view bytes) {
  std::array<model::Architecture, 1> architectures;
  architectures.front().name = "m";
  const auto samples = model::parse_measurements(bytes, kFile, architectures, device());
  require_same_outcome(samples, model::parse_measurements(bytes, kFile, architectures, device()));
  if (!samples) return refused(samples.error(), kFile);
  for (const auto& sample : *samples) check(sample);
  return true;
}

}  // namespace negawatt::fuzz
