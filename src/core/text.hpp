// SPDX-License-Identifier: Apache-2.0
//
// Text from outside, on its way to a person, a terminal or JSON: it must be UTF-8 without control
// characters, or be shown so that it is harmless. Works on bytes; nothing here fails.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace negawatt {

/// Whether `text` is valid UTF-8 (Unicode 15, table 3-7) and holds no control character.
[[nodiscard]] bool is_printable(std::string_view text);

/// `text` as it may stand in a one-line message: every byte that is no part of a printable
/// character becomes \xNN, and what is longer than some forty bytes ends in "...".
[[nodiscard]] std::string printable(std::string_view text);

/// The line, from 1, of the first byte that is not ASCII; none: all of them are.
[[nodiscard]] std::optional<std::size_t> line_beyond_ascii(std::string_view bytes);

/// `text` in lines of at most `width` bytes, broken at spaces; a word that is longer is cut. The
/// lines refer to `text`.
[[nodiscard]] std::vector<std::string_view> wrapped(std::string_view text, std::size_t width);

/// `text` between single quotes, whole and on one line: bytes that are no part of a printable
/// character become \xNN, and a quote or a backslash gets a backslash. No two texts look the same.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// `text` as one word of a POSIX shell: as it is, or between single quotes where the shell would
/// see more in it.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace negawatt
