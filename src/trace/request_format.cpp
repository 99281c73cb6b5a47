// SPDX-License-Identifier: Apache-2.0
#include "trace/request_format.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace negawatt::trace {
namespace {

using enum RequestFormat;

constexpr std::array<std::pair<RequestFormat, std::string_view>, 8> kNames = {{
    {azure, "azure"},
    {lmsys, "lmsys"},
    {vidur, "vidur"},
    {splitwise, "splitwise"},
    {mooncake, "mooncake"},
    {burstgpt, "burstgpt"},
    {own, "own"},
    {lengths, "lengths"},
}};

constexpr std::array<RequestLayout, 9> kLayouts = {{
    {.format = azure,
     .unit = ArrivalUnit::calendar,
     .arrival = "TIMESTAMP",
     .input = "ContextTokens",
     .output = "GeneratedTokens"},
    {.format = lmsys,
     .unit = ArrivalUnit::nanoseconds,
     .arrival = "StartTimeOffset",
     .input = "ContextTokens",
     .output = "GeneratedTokens"},
    {.format = vidur,
     .unit = ArrivalUnit::seconds,
     .arrival = "arrived_at",
     .input = "num_prefill_tokens",
     .output = "num_decode_tokens"},
    {.format = splitwise,
     .unit = ArrivalUnit::seconds,
     .arrival = "arrival_timestamp",
     .input = "prompt_size",
     .output = "token_size",
     .batch = "batch_size"},
    {.format = mooncake,
     .unit = ArrivalUnit::milliseconds,
     .arrival = "timestamp",
     .input = "input_length",
     .output = "output_length"},
    {.format = burstgpt,
     .unit = ArrivalUnit::seconds,
     .arrival = "Timestamp",
     .input = "Request tokens",
     .output = "Response tokens",
     .request_class = "Log Type"},
    {.format = own,
     .unit = ArrivalUnit::seconds,
     .arrival = "arrival_s",
     .input = "input_tokens",
     .output = "output_tokens",
     .request_class = "class",
     .priority = "priority"},
    {.format = lengths,
     .unit = ArrivalUnit::none,
     .input = "num_prefill_tokens",
     .output = "num_decode_tokens"},
    {.format = lengths,
     .unit = ArrivalUnit::none,
     .input = "input_tokens",
     .output = "output_tokens",
     .request_class = "class",
     .priority = "priority"},
}};

}  // namespace

std::string_view name_of(RequestFormat format) {
  return kNames[static_cast<std::size_t>(format)].second;
}

std::optional<RequestFormat> request_format_named(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::second);
  if (found == kNames.end()) return std::nullopt;
  return found->first;
}

std::string request_format_names() {
  std::string text;
  for (const auto& [format, name] : kNames) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

std::span<const RequestLayout> request_layouts() { return kLayouts; }

}  // namespace negawatt::trace
