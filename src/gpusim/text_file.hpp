// SPDX-License-Identifier: Apache-2.0
//
// Files that a person wrote for the simulator: descriptions, kernel tables, sequences.
#pragma once

#include <string>

#include "core/result.hpp"

namespace negawatt::gpusim {

/// The bytes of a file. Fails when it cannot be read (a folder, for one) or is empty.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

}  // namespace negawatt::gpusim
