// SPDX-License-Identifier: Apache-2.0
//
// Makes foreign text (kernel names, paths, the command line) safe for the place it is written to.
// Foreign text is bytes: it may be no UTF-8 at all, hold markup, terminal escapes or characters
// that reverse the reading order. None of these functions fails.
#pragma once

#include <string>
#include <string_view>

namespace negawatt::report {

/// UTF-8 in which control and bidirectional-override characters and invalid bytes have become
/// U+FFFD, so that a reader sees that something was there and nothing else is affected by it.
[[nodiscard]] std::string displayable(std::string_view foreign);

/// displayable(), with every character outside of ASCII as '?': for the terminal.
[[nodiscard]] std::string ascii_only(std::string_view foreign);

/// displayable(), with & < > " ' as character references: for HTML text and quoted attributes.
[[nodiscard]] std::string html_escaped(std::string_view foreign);

/// JSON text that can stand inside a <script> element: nothing in it can end the element or open
/// a comment. `json` must be ASCII (other characters as \u escapes).
[[nodiscard]] std::string script_safe(std::string_view json);

/// At most `width` characters; a longer text ends in "..". `text` must be ASCII.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

}  // namespace negawatt::report
