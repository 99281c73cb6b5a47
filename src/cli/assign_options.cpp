// SPDX-License-Identifier: Apache-2.0
#include "cli/assign_options.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace negawatt::cli {
namespace {

using plan::AssignRule;

constexpr std::array<std::pair<std::string_view, AssignRule>, 7> kRules = {{
    {"optimal", AssignRule::optimal},
    {"input-threshold", AssignRule::input_threshold},
    {"output-threshold", AssignRule::output_threshold},
    {"both-thresholds", AssignRule::both_thresholds},
    {"random", AssignRule::random},
    {"round-robin", AssignRule::round_robin},
    {"follow-up", AssignRule::follow_up},
}};

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

struct Entry {
  std::string_view name;
  std::string_view value;
};

/// "name=value,name=value"; a name may hold '='.
std::optional<std::vector<Entry>> entries_of(std::string_view text) {
  std::vector<Entry> entries;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto entry = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const auto equals = entry.rfind('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    entries.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
  }
  return entries;
}

Status read_policy(std::string_view text, plan::AssignRequest& request) {
  constexpr std::string_view kAll = "all:";
  if (text.starts_with(kAll)) {
    request.rule = AssignRule::all;
    request.system = text.substr(kAll.size());
    return {};
  }
  std::string names;
  for (const auto& [name, rule] : kRules) {
    if (name == text) {
      request.rule = rule;
      return {};
    }
    names += fmt::format("{}, ", name);
  }
  return failure(Code::invalid,
                 fmt::format("--policy is '{}', expected {}or all:NAME", text, names));
}

Status read_capacities(std::string_view text, plan::AssignRequest& request) {
  const auto entries = entries_of(text);
  if (!entries)
    return failure(Code::invalid,
                   fmt::format("--capacity is '{}', expected NAME=SHARE,NAME=SHARE", text));
  for (const auto& [name, value] : *entries) {
    const auto amount = number_in<double>(value);
    const bool is_share = amount && *amount <= 1.0;
    if (!amount || !(*amount >= 0.0) || (!is_share && *amount != std::floor(*amount)))
      return failure(Code::invalid,
                     fmt::format("--capacity of '{}' is '{}', expected a share from 0 to 1 or a "
                                 "whole number of requests above 1",
                                 name, value));
    request.capacities.push_back({std::string(name), *amount, is_share});
  }
  return {};
}

Status read_thresholds(std::string_view text, plan::AssignRequest& request) {
  const auto entries = entries_of(text);
  bool is_right = entries.has_value();
  auto& fixed = request.threshold;
  for (const auto& [name, value] : entries.value_or(std::vector<Entry>{})) {
    if (name == "small") {
      is_right = is_right && fixed.small.empty() && !value.empty();
      fixed.small = value;
      continue;
    }
    const auto tokens = number_in<std::uint32_t>(value);
    auto& threshold = name == "input" ? fixed.input_tokens : fixed.output_tokens;
    is_right = is_right && tokens && !threshold && (name == "input" || name == "output");
    threshold = tokens;
  }
  if (!is_right)
    return failure(
        Code::invalid,
        fmt::format("--threshold is '{}', expected some of input=TOKENS, output=TOKENS, small=NAME",
                    text));
  const bool for_input = request.rule == AssignRule::input_threshold;
  const bool for_output = request.rule == AssignRule::output_threshold;
  const bool for_both = request.rule == AssignRule::both_thresholds;
  if ((fixed.input_tokens && !for_input && !for_both) ||
      (fixed.output_tokens && !for_output && !for_both) ||
      (!fixed.small.empty() && !for_input && !for_output && !for_both))
    return failure(Code::invalid,
                   "--threshold goes with --policy input-threshold, output-threshold or "
                   "both-thresholds of the same name");
  return {};
}

}  // namespace

Result<plan::AssignRequest> assign_request_of(const AssignArguments& arguments) {
  plan::AssignRequest request{.lambda = arguments.lambda,
                              .normalise = arguments.normalise,
                              .extrapolate = arguments.outside == "extrapolate",
                              .seed = arguments.seed};
  NW_CHECK(read_policy(arguments.policy, request));
  NW_CHECK(read_capacities(arguments.capacity, request));
  NW_CHECK(read_thresholds(arguments.threshold, request));
  return request;
}

}  // namespace negawatt::cli
