// SPDX-License-Identifier: Apache-2.0
//
// Counts allocations of the whole test binary, by replacing the global operator new.
#pragma once

#include <cstddef>

namespace negawatt::route::testing {

/// Since the process started.
[[nodiscard]] std::size_t allocations();

}  // namespace negawatt::route::testing
