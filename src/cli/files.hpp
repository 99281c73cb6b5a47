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

/// Whether write_output() could begin: for before hours of work. Leaves everything as it was. Error
/// `invalid`.
[[nodiscard]] Status check_output(const std::string& path);

/// Writes behind what `path` has. Error `internal`; part of `bytes` may stand there then.
[[nodiscard]] Status append_output(const std::string& path, std::string_view bytes);

/// Of the path itself: a link is `other`, wherever it leads.
enum class PathKind : unsigned char { absent, regular, other };
[[nodiscard]] PathKind kind_of(const std::string& path);

}  // namespace negawatt::cli
