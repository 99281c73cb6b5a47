// SPDX-License-Identifier: Apache-2.0
//
// Reading whole input files and writing results so that a reader never sees half of one.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace negawatt::cli {

/// All bytes of `path`; "-" is standard input. Error `invalid` when it cannot be read.
[[nodiscard]] Result<std::string> read_input(const std::string& path);

/// Writes to a temporary file beside `path` and renames it, so that `path` is either the old file
/// or the whole new one. "-" is standard output. Error `internal` when the disk refuses.
[[nodiscard]] Status write_output(const std::string& path, std::string_view bytes);

}  // namespace negawatt::cli
