// SPDX-License-Identifier: Apache-2.0
#include "inspect/words.hpp"

#include <algorithm>

#include "core/result.hpp"

namespace negawatt::inspect {

std::string plain(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  NW_ASSERT(width > 0);
  std::vector<std::string> lines;
  const std::string all = plain(text);
  std::string_view rest = all;
  while (rest.size() > width) {
    // A blank just behind the width is a place to break, too.
    const std::size_t blank = rest.substr(0, width + 1).rfind(' ');
    const bool between_words = blank != std::string_view::npos && blank > 0;
    const std::size_t end = between_words ? blank : width;
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(between_words ? end + 1 : end);
  }
  lines.emplace_back(rest);
  return lines;
}

std::string cut(std::string_view text, std::size_t width) {
  std::string result = plain(text);
  if (result.size() <= width) return result;
  result.resize(width);
  if (width >= 2) result.replace(width - 2, 2, "..");
  return result;
}

}  // namespace negawatt::inspect
