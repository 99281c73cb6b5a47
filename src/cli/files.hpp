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

/// Writes to a temporary file and renames it, so that the file that `path` leads to is either the
/// old one or the whole new one; its links and permissions stay. What is no regular file (a device,
/// a pipe) is written to in place. "-" is standard output. Error `internal` when the disk refuses.
[[nodiscard]] Status write_output(const std::string& path, std::string_view bytes);

}  // namespace negawatt::cli
