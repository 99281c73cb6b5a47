// SPDX-License-Identifier: Apache-2.0
#include "core/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "core/result.hpp"

namespace negawatt {
namespace {

// Long enough to recognise the value, short enough for one line of a terminal.
constexpr std::size_t kShownBytes = 40;

/// Length of the printable character that `text` starts with, or 0 when it starts with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto within = [&](std::size_t i, unsigned least, unsigned most) {
    return byte(i) >= least && byte(i) <= most;
  };
  const auto lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  if (lead == 0xC2) return within(1, 0xA0, 0xBF) ? 2 : 0;  // below are control characters
  if (lead > 0xC2 && lead < 0xE0) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    const auto least = lead == 0xE0 ? 0xA0U : 0x80U;  // no shorter form exists
    const auto most = lead == 0xED ? 0x9FU : 0xBFU;   // no surrogate
    return within(1, least, most) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const auto least = lead == 0xF0 ? 0x90U : 0x80U;
    const auto most = lead == 0xF4 ? 0x8FU : 0xBFU;  // not above U+10FFFF
    return within(1, least, most) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

/// Shows the character or the byte that `text` starts with; how many bytes of it that was.
std::size_t show_next(std::string_view text, std::string& shown) {
  const auto length = character_length(text);
  if (length == 0) {
    shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    return 1;
  }
  shown += text.substr(0, length);
  return length;
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    if (i >= kShownBytes) return shown + "...";
    i += show_next(text.substr(i), shown);
  }
  return shown;
}

std::optional<std::size_t> line_beyond_ascii(std::string_view bytes) {
  const auto* const beyond = std::ranges::find_if(bytes, [](char c) { return (c & 0x80) != 0; });
  if (beyond == bytes.end()) return std::nullopt;
  return 1 + static_cast<std::size_t>(std::count(bytes.begin(), beyond, '\n'));
}

std::vector<std::string_view> wrapped(std::string_view text, std::size_t width) {
  NW_ASSERT(width > 0);
  std::vector<std::string_view> lines;
  while (text.size() > width) {
    const auto space = text.rfind(' ', width);
    const bool is_one_word = space == std::string_view::npos || space == 0;
    lines.push_back(text.substr(0, is_one_word ? width : space));
    text.remove_prefix(is_one_word ? width : space + 1);
  }
  if (!text.empty()) lines.push_back(text);
  return lines;
}

std::string in_quotes(std::string_view text) {
  std::string shown = "'";
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\'' || text[i] == '\\') shown += '\\';
    i += show_next(text.substr(i), shown);
  }
  return shown + "'";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  return word + "'";
}

}  // namespace negawatt
