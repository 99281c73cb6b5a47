// SPDX-License-Identifier: Apache-2.0
//
// What a language model is made of, as far as its time and energy go: counts, bytes and operations.
// Read from TOML (docs/formats.md, data/models); an unknown key, a missing one, and a number that
// cannot be (units mixed up) are errors that name file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace negawatt::model {

enum class Precision : std::uint8_t { fp32, fp16, bf16, fp8, fp4 };
inline constexpr std::size_t kPrecisions = 5;

[[nodiscard]] std::string_view name_of(Precision precision);
/// Bytes of one number.
[[nodiscard]] double bytes_of(Precision precision);

struct Architecture {
  std::string name;
  std::string source;  ///< where these facts come from
  std::uint32_t layers = 0;
  std::uint32_t attention_layers = 0;  ///< those with a KV cache
  std::uint32_t hidden = 0;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_size = 0;
  std::uint32_t vocabulary = 0;
  double parameters = 0;         ///< all of them
  double active_parameters = 0;  ///< those that one token uses; all, in a dense model
  std::uint32_t experts = 0;     ///< of a layer; 0: a dense model
  std::uint32_t experts_per_token = 0;
  std::uint32_t expert_layers = 0;
  Precision precision = Precision::bf16;  ///< of weights and arithmetic
  double weight_bytes = 0;                ///< of one parameter; the mean, where they differ
  double kv_bytes_per_token = 0;
  double state_bytes_per_sequence = 0;      ///< recurrent layers: read and written every step
  double attention_flop = 0;                ///< a (token, attended token) pair, all layers
  bool tied_embeddings = false;             ///< the input embedding is the output projection
  std::uint32_t collectives_per_layer = 2;  ///< 1 where a layer is attention or a mixer alone

  /// Parameters of all routed experts together.
  [[nodiscard]] double expert_parameters() const;
  /// Parameters that every step reads: neither in routed experts nor in a separate input embedding,
  /// of which a token reads one row.
  [[nodiscard]] double dense_parameters() const;
};

[[nodiscard]] Result<Architecture> parse_architecture(std::string_view bytes,
                                                      std::string_view file);

}  // namespace negawatt::model
