// SPDX-License-Identifier: Apache-2.0
//
// Lines of a terminal report: at most 80 ASCII characters each, strong ones in bold where colour
// is wanted. Escape sequences are written here and nowhere else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace negawatt::report {

class TextLines {
 public:
  static constexpr std::size_t kWidth = 80;

  explicit TextLines(bool colour) : colour_(colour) {}

  /// `line` must be ASCII without control characters; what does not fit is cut off.
  void add(std::string_view line);
  void strong(std::string_view line);
  /// A sentence of any length, broken between words.
  void wrapped(std::string_view sentence);
  void strong_wrapped(std::string_view sentence);

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  bool colour_;
  std::string text_;
};

}  // namespace negawatt::report
