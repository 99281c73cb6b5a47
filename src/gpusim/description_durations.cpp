// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "core/text.hpp"
#include "gpusim/description_gpu.hpp"

namespace negawatt::gpusim {

Result<Seconds> parse_latency(std::string_view text) {
  if (text == "none") return Seconds(0);
  const auto unit_at = text.find_first_not_of("0123456789.e+-");
  auto unit = unit_at == text.npos ? std::string_view() : text.substr(unit_at);
  const auto digits = text.substr(0, text.size() - unit.size());
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double value = 0;
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const double scale = unit.empty() || unit == "s" ? 1
                       : unit == "ms"              ? 1e-3
                       : unit == "us"              ? 1e-6
                                                   : 0;
  if (problem == std::errc() && stop == digits.data() + digits.size() && scale > 0 && value >= 0 &&
      value * scale <= 1e6)
    return Seconds(value * scale);
  return failure(Code::invalid,
                 fmt::format("'{}': expected a duration as '6 ms', 'none' or a number of seconds",
                             printable(text)));
}

void take_duration(TomlTable& table, std::string_view key, std::int64_t& nanoseconds) {
  double seconds = static_cast<double>(nanoseconds) * 1e-9;
  if (table.kind(key) == TomlTable::Kind::text) {
    std::string text;
    table.take(key, text);
    const auto parsed = parse_latency(text);
    if (!parsed) return table.refuse(key, "a duration as '6 ms', 'none' or a number of seconds");
    seconds = parsed->in_si();
  } else if (table.kind(key) == TomlTable::Kind::absent) {
    return;
  } else {
    table.take(key, seconds, {0, 1e6});
  }
  nanoseconds = std::llround(seconds * 1e9);
}

void need_duration(TomlTable& table, std::string_view key, std::int64_t& nanoseconds) {
  if (table.kind(key) == TomlTable::Kind::absent) return table.refuse(key, "");
  take_duration(table, key, nanoseconds);
}

}  // namespace negawatt::gpusim
