// SPDX-License-Identifier: Apache-2.0
#include "report/numbers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace negawatt::report {
namespace {

// Costs are sums of doubles: a relative gap of this size is rounding.
constexpr double kRoundingGapPct = 1e-7;

struct Prefix {
  int exponent;
  std::string_view text;
};
constexpr std::array<Prefix, 7> kPrefixes = {
    {{9, "G"}, {6, "M"}, {3, "k"}, {0, ""}, {-3, "m"}, {-6, "u"}, {-9, "n"}}};

/// Decimal exponent of `value` after rounding to `digits` digits: 9.996 rounds to 10.0, so 1.
int rounded_exponent(double value, int digits) {
  const auto text = fmt::format("{:.{}e}", value, digits - 1);
  return std::atoi(text.c_str() + text.find('e') + 1);
}

std::string with_prefix(double value, std::string_view unit, int digits) {
  if (value == 0.0) return fmt::format("0 {}", unit);
  const int exponent = rounded_exponent(value, digits);
  const Prefix* prefix = &kPrefixes.back();
  for (const auto& candidate : kPrefixes) {
    if (exponent < candidate.exponent) continue;
    prefix = &candidate;
    break;
  }
  return fmt::format("{} {}{}", significant(value / std::pow(10.0, prefix->exponent), digits),
                     prefix->text, unit);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

std::string significant(double value, int digits) {
  if (value == 0.0) return "0";
  const int decimals = std::max(0, digits - 1 - rounded_exponent(value, digits));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string quantity(Seconds value, int digits) { return with_prefix(value.in_si(), "s", digits); }
std::string quantity(Joules value, int digits) { return with_prefix(value.in_si(), "J", digits); }
std::string quantity(Watts value, int digits) { return with_prefix(value.in_si(), "W", digits); }

std::string change(double percent) {
  if (std::abs(percent) < kShownChange) percent = 0.0;
  // Five digits are enough for a change by a factor of 10 and more.
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 999.995 ? 2 : 0);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  auto digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  if (noun.empty()) return digits;
  return fmt::format("{} {}{}", digits, noun,
                     count == 1                                     ? ""
                     : noun.ends_with("ch") || noun.ends_with("ss") ? "es"
                                                                    : "s");
}

std::string time_clause(double percent) {
  if (std::abs(percent) < kShownChange) return "in the same time";
  return fmt::format("and {} {} % {}", percent > 0 ? "takes" : "is", significant(std::abs(percent)),
                     percent > 0 ? "longer" : "faster");
}

std::string proof_of_gap(double gap_pct) {
  if (gap_pct < kRoundingGapPct) return "proven optimal";
  return fmt::format("at most {} % above the optimum", significant(gap_pct, 2));
}

std::string typographic(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "&minus;");
  return replaced(replaced(std::move(number), " u", " &micro;"), " ", "&nbsp;");
}

}  // namespace negawatt::report
