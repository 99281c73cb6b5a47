// SPDX-License-Identifier: Apache-2.0
#include "model/architecture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/toml_reader.hpp"
#include "model/quantity.hpp"

namespace negawatt::model {
namespace {

constexpr NumberRange kCount{1, 1e6};

/// Models that exist have 3 to 9 times the parameters of their attention and embeddings in what a
/// token uses, and up to 140 times in all experts. What is beyond these is in other units.
constexpr double kMostActive = 40;
constexpr double kMostInAll = 500;

void read_shape(TomlTable& table, Architecture& a) {
  table.need("layers", a.layers, {1, 1000});
  a.attention_layers = a.layers;
  table.take("attention_layers", a.attention_layers, {0, 1000});
  if (a.attention_layers > a.layers) table.refuse("attention_layers", "at most as many as layers");
  table.need("hidden", a.hidden, {16, 1e6});
  table.need("heads", a.heads, kCount);
  a.kv_heads = a.heads;
  table.take("kv_heads", a.kv_heads, kCount);
  if (a.kv_heads > a.heads) table.refuse("kv_heads", "at most as many as heads");
  if (a.kv_heads > 0 && a.heads % a.kv_heads != 0)
    table.refuse("kv_heads", fmt::format("a divisor of the {} heads", a.heads));
  table.need("head_size", a.head_size, {1, 1e5});
  table.need("vocabulary", a.vocabulary, {2, 1e8});
  table.take("tied_embeddings", a.tied_embeddings);
  table.take("collectives_per_layer", a.collectives_per_layer, {1, 4});
}

/// The parameters of the attention of `layers` layers: four matrices.
double attention_parameters(const Architecture& a, std::uint32_t layers) {
  return 2.0 * a.hidden * a.head_size * (a.heads + a.kv_heads) * layers;
}

double embedding_parameters(const Architecture& a) { return 1.0 * a.vocabulary * a.hidden; }

/// The most that a token of a model of such layers uses.
double most_active(const Architecture& a) {
  return kMostActive * (attention_parameters(a, a.layers) + embedding_parameters(a));
}

/// What is neither in experts nor in a separate input embedding has to hold the attention.
void check_experts(TomlTable& table, const Architecture& a) {
  const double embedding = a.tied_embeddings ? 0.0 : embedding_parameters(a);
  const double dense = a.parameters - a.expert_parameters() - embedding;
  if (dense >= 0.5 * attention_parameters(a, a.attention_layers)) return;
  table.refuse("active_parameters_billion",
               fmt::format("enough for the routed experts of a token and the attention: as it is, "
                           "the experts of all layers have {:.4g} of {:.4g} (1e9) parameters",
                           a.expert_parameters() / 1e9, a.parameters / 1e9));
}

void read_experts(TomlTable& table, Architecture& a) {
  table.take("experts", a.experts, {2, 1e5});
  if (a.experts == 0) return;
  table.need("experts_per_token", a.experts_per_token, {1, 1e5});
  if (a.experts_per_token > a.experts)
    table.refuse("experts_per_token", "at most as many as experts");
  a.expert_layers = a.layers;
  table.take("expert_layers", a.expert_layers, {1, 1000});
  if (a.expert_layers > a.layers) table.refuse("expert_layers", "at most as many as layers");
  table.need("active_parameters_billion", a.active_parameters, {1e-6, 1e6});
  a.active_parameters *= 1e9;
  if (a.active_parameters > a.parameters)
    table.refuse("active_parameters_billion", "no more than parameters_billion");
  if (a.active_parameters > most_active(a))
    table.refuse("active_parameters_billion",
                 fmt::format("at most {:.3g} (1e9) with such layers; are units mixed up?",
                             most_active(a) / 1e9));
  check_experts(table, a);
}

/// Before anything is known of experts.
void read_size(TomlTable& table, Architecture& a) {
  table.need("parameters_billion", a.parameters, {});
  a.parameters *= 1e9;
  a.active_parameters = a.parameters;
  const bool dense = table.kind("experts") == TomlTable::Kind::absent;
  const double attention = attention_parameters(a, a.attention_layers);
  const double most = dense ? most_active(a) : most_active(a) * kMostInAll / kMostActive;
  if (a.parameters >= 0.5 * attention && a.parameters <= most) return;
  table.refuse("parameters_billion",
               fmt::format("about the parameters of such layers, {:.3g} to {:.3g} (1e9), of which "
                           "the attention alone has {:.3g}; are units mixed up?",
                           0.5 * attention / 1e9, most / 1e9, attention / 1e9));
}

void read_bytes(TomlTable& table, Architecture& a) {
  take_precision(table, "precision", a.precision);
  a.weight_bytes = bytes_of(a.precision);
  table.take("weight_bytes", a.weight_bytes, {0.1, 8});
  double element = 2.0;
  table.take("kv_element_bytes", element, {0.1, 8});
  double elements = 2.0 * a.attention_layers * a.kv_heads * a.head_size;
  table.take("kv_elements_per_token", elements, {1, 1e9});
  a.kv_bytes_per_token = element * elements;
  if (take_quantity(table, "state_megabytes_per_sequence", a.state_bytes_per_sequence,
                    {1e-3, 1e5, "megabytes"}))
    a.state_bytes_per_sequence *= 1e6;
  a.attention_flop = 4.0 * a.attention_layers * a.heads * a.head_size;
  table.take("attention_flop_per_pair", a.attention_flop, {1, 1e12});
}

}  // namespace

std::string_view name_of(Precision precision) {
  constexpr std::array<std::string_view, kPrecisions> kNames{"fp32", "fp16", "bf16", "fp8", "fp4"};
  return kNames[static_cast<std::size_t>(precision)];
}

double bytes_of(Precision precision) {
  constexpr std::array<double, kPrecisions> kBytes{4.0, 2.0, 2.0, 1.0, 0.5};
  return kBytes[static_cast<std::size_t>(precision)];
}

double Architecture::expert_parameters() const {
  if (experts == 0 || experts == experts_per_token) return 0.0;
  // All but the active ones are experts that a token does not use.
  return (parameters - active_parameters) / (1.0 - 1.0 * experts_per_token / experts);
}

double Architecture::dense_parameters() const {
  const double embedding = tied_embeddings ? 0.0 : 1.0 * vocabulary * hidden;
  return std::max(0.0, parameters - expert_parameters() - embedding);
}

Result<Architecture> parse_architecture(std::string_view bytes, std::string_view file) {
  NW_TRY(const auto document, TomlDocument::parse(bytes, file));
  auto root = document.root();
  Architecture a;
  root.need("name", a.name);
  root.need("source", a.source);
  read_shape(root, a);
  read_size(root, a);
  read_experts(root, a);
  read_bytes(root, a);
  root.finish();
  NW_CHECK(root.status());
  return a;
}

}  // namespace negawatt::model
