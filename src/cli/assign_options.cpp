// SPDX-License-Identifier: Apache-2.0
#include "cli/assign_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
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

enum class CommaIn : std::uint8_t { name, value };

/// "name=value,name=value". A name may end in '=' and more; names or values, as said, may hold
/// commas: what stands between two commas without '=' belongs to the next entry's name, or to the
/// value before.
std::optional<std::vector<Entry>> entries_of(std::string_view text, CommaIn comma_in) {
  std::vector<Entry> entries;
  std::size_t start = 0;
  for (std::size_t end = 0; end < text.size(); ++end) {
    end = std::min(text.find(',', end), text.size());
    const auto next = end < text.size() ? text.substr(end + 1) : std::string_view();
    const bool goes_on = comma_in == CommaIn::value && end < text.size() &&
                         next.substr(0, next.find(',')).find('=') == std::string_view::npos;
    const auto entry = text.substr(start, end - start);
    const auto equals = comma_in == CommaIn::value ? entry.find('=') : entry.rfind('=');
    if (goes_on || (comma_in == CommaIn::name && equals == std::string_view::npos)) continue;
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    entries.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    start = end + 1;
  }
  if (start < text.size()) return std::nullopt;
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

/// "0.33" and "33%" are shares, "40" and "1req" are requests.
std::optional<plan::SystemCapacity> capacity_of(const Entry& entry) {
  constexpr std::string_view kRequests = "req";
  plan::SystemCapacity capacity{.system = std::string(entry.name)};
  auto value = entry.value;
  double unit = 1.0;
  if (value.ends_with('%')) {
    capacity.is_share = true;
    unit = 100.0;
    value.remove_suffix(1);
  }
  const bool is_count = value.ends_with(kRequests);
  if (is_count) value.remove_suffix(kRequests.size());
  const auto amount = number_in<double>(value);
  if (!amount || !(*amount >= 0.0) || (capacity.is_share && is_count)) return std::nullopt;
  capacity.is_share = capacity.is_share || (!is_count && *amount <= 1.0);
  capacity.amount = *amount / unit;
  if (capacity.is_share ? capacity.amount > 1.0 : capacity.amount != std::floor(capacity.amount))
    return std::nullopt;
  return capacity;
}

Status read_capacities(std::string_view text, plan::AssignRequest& request) {
  const auto entries = entries_of(text, CommaIn::name);
  if (!entries)
    return failure(Code::invalid,
                   fmt::format("--capacity is '{}', expected NAME=SHARE,NAME=SHARE", text));
  for (const auto& entry : *entries) {
    auto capacity = capacity_of(entry);
    if (!capacity)
      return failure(Code::invalid,
                     fmt::format("--capacity of '{}' is '{}', expected a share (0 to 1, or 0% to "
                                 "100%) or a whole number of requests (above 1, or 1req)",
                                 entry.name, entry.value));
    request.capacities.push_back(*std::move(capacity));
  }
  return {};
}

Status read_thresholds(std::string_view text, plan::AssignRequest& request) {
  const auto entries = entries_of(text, CommaIn::value);
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
