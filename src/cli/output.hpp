// SPDX-License-Identifier: Apache-2.0
//
// Where a result goes: to the terminal, to a file, or to both.
#pragma once

#include <functional>
#include <string>

#include "cli/arguments.hpp"
#include "core/result.hpp"

namespace negawatt::cli {

/// A result in every format. `bytes` is asked for JSON where the user wants text in a file too.
struct Rendering {
  std::function<Result<std::string>(Format)> bytes;
  std::function<std::string(bool colour)> text;
};

/// Without `out`, everything goes to standard output. With it, text and JSON are shown and the JSON
/// is kept in the file; the other formats go to the file, and its name is printed.
[[nodiscard]] Status deliver(const Rendering& rendering, Format format, const std::string& out);

}  // namespace negawatt::cli
