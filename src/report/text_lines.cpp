// SPDX-License-Identifier: Apache-2.0
#include "report/text_lines.hpp"

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

template <class Add>
void TextLines::wrap(std::string_view sentence, Add add) {
  while (sentence.size() > kWidth) {
    auto space = sentence.rfind(' ', kWidth);
    const bool is_one_word = space == std::string_view::npos || space == 0;
    add(sentence.substr(0, is_one_word ? kWidth : space));
    sentence.remove_prefix(is_one_word ? kWidth : space + 1);
  }
  if (!sentence.empty()) add(sentence);
}

void TextLines::wrapped(std::string_view sentence) {
  wrap(sentence, [this](std::string_view line) { add(line); });
}

void TextLines::strong_wrapped(std::string_view sentence) {
  wrap(sentence, [this](std::string_view line) { strong(line); });
}

}  // namespace negawatt::report
