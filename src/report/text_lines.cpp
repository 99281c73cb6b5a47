// SPDX-License-Identifier: Apache-2.0
#include "report/text_lines.hpp"

#include "core/text.hpp"
#include "report/escape.hpp"

namespace negawatt::report {

void TextLines::add(std::string_view line) {
  // Columns that are empty at the end of a row leave spaces behind.
  const auto last = line.find_last_not_of(' ');
  text_ += shortened(line.substr(0, last == std::string_view::npos ? 0 : last + 1), kWidth);
  text_ += '\n';
}

void TextLines::strong(std::string_view line) {
  if (colour_) text_ += "\x1b[1;32m";
  text_ += shortened(line, kWidth);
  if (colour_) text_ += "\x1b[0m";
  text_ += '\n';
}

void TextLines::wrapped(std::string_view sentence) {
  for (const auto line : negawatt::wrapped(sentence, kWidth)) add(line);
}

void TextLines::strong_wrapped(std::string_view sentence) {
  for (const auto line : negawatt::wrapped(sentence, kWidth)) strong(line);
}

}  // namespace negawatt::report
