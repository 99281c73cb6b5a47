// SPDX-License-Identifier: Apache-2.0
//
// An NVML library, real or simulated, as its functions: each is looked up by itself and null when
// the library lacks it. For the recorder; negawatt itself speaks to NVML through the room gpu.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"
#include "nvml/nvml.hpp"
#include "nvml/simulated_time.hpp"

namespace negawatt::gpusim {

// NOLINTBEGIN(readability-identifier-naming): the names of what they point to
// NOLINTBEGIN(bugprone-macro-parentheses): a declarator's parameter list cannot stand in more
struct NvmlSymbols {
#define NW_POINTER(symbol, parameters) nvmlReturn_t(*symbol) parameters = nullptr;
  NW_NVML_FUNCTIONS(NW_POINTER)
  NW_SIMULATED_TIME_FUNCTIONS(NW_POINTER)
#undef NW_POINTER
  std::vector<std::string> missing;  ///< of NW_NVML_FUNCTIONS
};
// NOLINTEND(bugprone-macro-parentheses)
// NOLINTEND(readability-identifier-naming)

/// Loads the library for the rest of the process. Error `unavailable` with the loader's reason.
[[nodiscard]] Result<NvmlSymbols> load_nvml(const std::string& library);

}  // namespace negawatt::gpusim
