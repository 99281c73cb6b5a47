// SPDX-License-Identifier: Apache-2.0
//
// Small files read at once: /proc, notes, the configuration. By plain calls: a C++ stream throws,
// whatever its exception mask, where a read fails after the open (a process that ends meanwhile, a
// folder, a broken disk). Never throws for what the outside world does.
#pragma once

#include <cstddef>
#include <string>

#include "core/result.hpp"

namespace negawatt::daemon {

/// The bytes of a file, at most `most` and one (so that longer ones can be told). Fails, with the
/// system's reason, when it cannot be opened or read to there.
[[nodiscard]] Result<std::string> whole_file(const std::string& path, std::size_t most);

}  // namespace negawatt::daemon
