// SPDX-License-Identifier: Apache-2.0
#include "trace/calendar_time.hpp"

#include <chrono>

namespace negawatt::trace {
namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::int64_t kTenthOfASecond = kNanoseconds / 10;

/// Walks through a text; once something is not as expected, all_right stays false.
struct Walk {
  std::string_view rest;
  bool all_right = true;

  std::int64_t digits(int count) {
    std::int64_t value = 0;
    for (int i = 0; i < count; ++i) {
      if (rest.empty() || rest.front() < '0' || rest.front() > '9') {
        all_right = false;
        return 0;
      }
      value = 10 * value + (rest.front() - '0');
      rest.remove_prefix(1);
    }
    return value;
  }
  bool skip(char expected) {
    if (!rest.starts_with(expected)) return false;
    rest.remove_prefix(1);
    return true;
  }
  void expect(char expected) { all_right = skip(expected) && all_right; }
  std::int64_t two_digits(std::int64_t most) {
    const auto value = digits(2);
    if (value > most) all_right = false;
    return value;
  }
};

std::int64_t days(Walk& walk) {
  const auto year = walk.digits(4);
  walk.expect('-');
  const auto month = walk.digits(2);
  walk.expect('-');
  const auto day = walk.digits(2);
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (year < 1970 || year > 2199 || !date.ok()) {
    walk.all_right = false;
    return 0;
  }
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::int64_t decimals(Walk& walk) {
  if (!walk.skip('.')) return 0;
  std::int64_t nanoseconds = walk.digits(1) * kTenthOfASecond;
  for (auto unit = kTenthOfASecond / 10;
       unit > 0 && !walk.rest.empty() && walk.rest.front() >= '0' && walk.rest.front() <= '9';
       unit /= 10)
    nanoseconds += walk.digits(1) * unit;
  return nanoseconds;
}

std::int64_t zone_seconds(Walk& walk) {
  if (walk.rest.empty() || walk.skip('Z')) return 0;
  const bool is_east = walk.skip('+');
  if (!is_east) walk.expect('-');
  const auto hours = walk.two_digits(23);
  walk.expect(':');
  const auto seconds = 60 * (60 * hours + walk.two_digits(59));
  return is_east ? seconds : -seconds;
}

}  // namespace

std::optional<std::int64_t> calendar_nanoseconds(std::string_view text) {
  Walk walk{text};
  const auto day = days(walk);
  if (!walk.skip('T')) walk.expect(' ');
  const auto hour = walk.two_digits(23);
  walk.expect(':');
  const auto minute = walk.two_digits(59);
  walk.expect(':');
  const auto second = walk.two_digits(60);  // a leap second
  const auto nanoseconds = decimals(walk);
  const auto zone = zone_seconds(walk);
  if (!walk.all_right || !walk.rest.empty()) return std::nullopt;
  const auto seconds = kSecondsPerDay * day + 60 * (60 * hour + minute) + second - zone;
  return seconds * kNanoseconds + nanoseconds;
}

}  // namespace negawatt::trace
