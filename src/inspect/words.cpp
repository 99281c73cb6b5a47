// SPDX-License-Identifier: Apache-2.0
#include "inspect/words.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace negawatt::inspect {

std::string plain(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  const auto all = plain(text);
  const auto lines = negawatt::wrapped(all, width);
  if (lines.empty()) return {""};  // what says nothing has its line, too
  return {lines.begin(), lines.end()};
}

std::string cut(std::string_view text, std::size_t width) {
  std::string result = plain(text);
  if (result.size() <= width) return result;
  result.resize(width);
  if (width >= 2) result.replace(width - 2, 2, "..");
  return result;
}

}  // namespace negawatt::inspect
