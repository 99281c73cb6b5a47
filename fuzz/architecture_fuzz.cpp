// SPDX-License-Identifier: Apache-2.0
//
// model::parse_architecture on any bytes: what it accepts has counts and sizes that a device can
// be given, without a number below 0 or beyond all bounds.
#include "model/architecture.hpp"

#include <cmath>
#include <string_view>

#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.toml";

bool is_amount(double value) { return std::isfinite(value) && value >= 0.0; }

}  // namespace

bool accepts(std::string_view bytes) {
  const auto a = model::parse_architecture(bytes, kFile);
  require_same_outcome(a, model::parse_architecture(bytes, kFile));
  if (!a) return refused(a.error(), kFile);
  require(is_amount(a->dense_parameters()) && is_amount(a->expert_parameters()),
          "parameters are counts");
  require(a->dense_parameters() <= a->parameters, "no more are read than there are");
  require(is_amount(a->kv_bytes_per_token) && is_amount(a->attention_flop) &&
              is_amount(a->state_bytes_per_sequence) && a->weight_bytes > 0.0,
          "sizes are finite");
  require(a->experts_per_token <= a->experts, "a token uses no more experts than there are");
  return true;
}

}  // namespace negawatt::fuzz
