// SPDX-License-Identifier: Apache-2.0
//
// model::parse_device on any bytes: what it accepts serves a model at finite cost, draws no more
// than its highest power, and is written as it was read.
#include "model/device.hpp"

#include <string_view>

#include "fuzz/reader.hpp"
#include "model/deployment.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.toml";

model::Architecture small_model() {
  model::Architecture a;
  a.name = "small";
  a.layers = a.attention_layers = 2;
  a.hidden = 64;
  a.heads = a.kv_heads = 4;
  a.head_size = 16;
  a.vocabulary = 100;
  a.parameters = a.active_parameters = 1e6;
  a.weight_bytes = 2;
  a.kv_bytes_per_token = 512;
  a.attention_flop = 512;
  return a;
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto device = model::parse_device(bytes, kFile);
  require_same_outcome(device, model::parse_device(bytes, kFile));
  if (!device) return refused(device.error(), kFile);
  const auto c = model::coefficients_of(small_model(), *device, 1);
  const Cost cost = model::ServingModel(c).step({10, 55, 3, 100});
  require(cost.time.is_finite() && cost.time >= Seconds(0), "a step takes a finite time");
  require(cost.energy.in_si() <= device->max_power * cost.time.in_si() * (1 + 1e-9),
          "no step draws more than the device can");
  const auto again = model::parse_device(model::to_toml(*device), kFile);
  require(again.has_value(), "what is written is read");
  require(model::to_toml(*again) == model::to_toml(*device), "and is the same");
  return true;
}

}  // namespace negawatt::fuzz
