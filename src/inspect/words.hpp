// SPDX-License-Identifier: Apache-2.0
//
// Words for a terminal: plain ASCII, broken into lines or cut to a width. Counts bytes; what is not
// printable ASCII becomes '?', so that a name from outside can neither move the cursor nor widen a
// line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace negawatt::inspect {

inline constexpr std::size_t kScreenWidth = 80;

[[nodiscard]] std::string plain(std::string_view text);
/// Lines of at most `width`, broken between words; a longer word is cut into pieces.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// At most `width`; what was cut ends in "..".
[[nodiscard]] std::string cut(std::string_view text, std::size_t width);

}  // namespace negawatt::inspect
