// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"

#include <cstddef>
#include <cstdint>

namespace negawatt::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0 when the bytes at this place are not UTF-8
};

/// The shortest-form rule of RFC 3629: overlong forms, surrogates and values above U+10FFFF are
/// not UTF-8.
CodePoint decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return {};
    value = (value << 6U) | (byte & 0x3FU);
  }
  const bool is_overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (is_overlong || is_surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

/// Controls, and what changes the order or the presence of the characters around it.
bool is_unprintable(char32_t value) {
  const bool is_control = value < 0x20 || (value >= 0x7F && value < 0xA0);
  const bool is_bidirectional = value == 0x61C || value == 0x200E || value == 0x200F ||
                                (value >= 0x202A && value <= 0x202E) ||
                                (value >= 0x2066 && value <= 0x2069);
  const bool is_invisible =
      (value >= 0x200B && value <= 0x200D) || value == 0x2028 || value == 0x2029 || value == 0xFEFF;
  return is_control || is_bidirectional || is_invisible;
}

/// Calls visit(text, value) for every code point; unprintable ones arrive as U+FFFD.
template <class Visit>
void for_each_printable(std::string_view foreign, Visit visit) {
  while (!foreign.empty()) {
    const auto point = decode(foreign);
    if (point.bytes == 0 || is_unprintable(point.value))
      visit(kReplacement, char32_t{0xFFFD});
    else
      visit(foreign.substr(0, point.bytes), point.value);
    foreign.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
}

std::string_view html_reference(char32_t value) {
  switch (value) {
    case U'&':
      return "&amp;";
    case U'<':
      return "&lt;";
    case U'>':
      return "&gt;";
    case U'"':
      return "&quot;";
    case U'\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string displayable(std::string_view foreign) {
  std::string out;
  for_each_printable(foreign, [&](std::string_view text, char32_t) { out += text; });
  return out;
}

std::string ascii_only(std::string_view foreign) {
  std::string out;
  for_each_printable(foreign, [&](std::string_view text, char32_t value) {
    out += value < 0x80 ? text : std::string_view("?");
  });
  return out;
}

std::string html_escaped(std::string_view foreign) {
  std::string out;
  for_each_printable(foreign, [&](std::string_view text, char32_t value) {
    const auto reference = html_reference(value);
    out += reference.empty() ? text : reference;
  });
  return out;
}

std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (text.size() <= width) return std::string(text);
  return std::string(text.substr(0, width - 2)) + "..";
}

}  // namespace negawatt::report
