// SPDX-License-Identifier: Apache-2.0
#include "sweep/pair_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include "core/text.hpp"

namespace negawatt::sweep {
namespace {

constexpr std::size_t kMostClocks = 1000;
constexpr std::uint32_t kHighestMhz = 100'000;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint32_t> mhz_in(std::string_view text) {
  std::uint32_t mhz = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), mhz);
  const bool is_whole = code == std::errc{} && end == text.data() + text.size();
  if (!is_whole || mhz == 0 || mhz > kHighestMhz) return std::nullopt;
  return mhz;
}

/// "1410" or "1500:1980:60"; empty when it is neither.
std::vector<std::uint32_t> range_in(std::string_view text) {
  const auto parts = split(text, ':');
  const auto first = mhz_in(parts[0]);
  if (first && parts.size() == 1) return {*first};
  if (!first || parts.size() != 3) return {};
  const auto last = mhz_in(parts[1]);
  const auto step = mhz_in(parts[2]);
  std::vector<std::uint32_t> clocks;
  if (!last || !step || *last < *first) return clocks;
  for (auto mhz = *first; mhz <= *last && clocks.size() <= kMostClocks; mhz += *step)
    clocks.push_back(mhz);
  return clocks;
}

}  // namespace

Result<std::vector<trace::Clock>> parse_clocks(std::string_view text) {
  std::vector<trace::Clock> clocks;
  const auto add = [&clocks](trace::Clock clock) {
    if (std::ranges::find(clocks, clock) == clocks.end()) clocks.push_back(clock);
  };
  for (const auto part : split(text, ',')) {
    if (part == "auto") {
      add(trace::Clock::automatic());
      continue;
    }
    const auto range = range_in(part);
    if (range.empty())
      return failure(Code::invalid,
                     fmt::format("clocks are '{}', expected for example auto,1410,1500:1980:60",
                                 printable(text)));
    for (const auto mhz : range) add(trace::Clock::locked_mhz(mhz));
    if (clocks.size() > kMostClocks)
      return failure(Code::invalid,
                     fmt::format("clocks are '{}': more than {}", printable(text), kMostClocks));
  }
  return clocks;
}

std::vector<trace::Clock> spread(const std::vector<std::uint32_t>& supported_mhz,
                                 std::size_t most) {
  auto sorted = supported_mhz;
  std::ranges::sort(sorted, std::greater<>());
  std::vector<trace::Clock> clocks = {trace::Clock::automatic()};
  const auto count = std::min(most, sorted.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto share = count == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const auto at = std::llround(share * static_cast<double>(sorted.size() - 1));
    clocks.push_back(trace::Clock::locked_mhz(sorted[static_cast<std::size_t>(at)]));
  }
  return clocks;
}

std::vector<trace::ClockPair> pairs_of(const std::vector<trace::Clock>& core,
                                       const std::vector<trace::Clock>& memory) {
  std::vector<trace::ClockPair> pairs;
  pairs.reserve(core.size() * memory.size());
  for (const auto of_core : core)
    for (const auto of_memory : memory) pairs.push_back({of_core, of_memory});
  return pairs;
}

}  // namespace negawatt::sweep
