// SPDX-License-Identifier: Apache-2.0
//
// Writes down what the NVML of a machine answers, as a description that the simulated library can
// play: a bug report becomes a test. Changes nothing on the machine; setters are not called. What
// NVML cannot tell (voltages, heat, what kernels do) is filled with assumptions, marked as such.
#pragma once

#include <string>

#include "core/result.hpp"
#include "gpusim/nvml_symbols.hpp"

namespace negawatt::gpusim {

/// The text of the description. Takes about a second a GPU: the sensors' period is measured. Fails
/// when NVML cannot be initialised or shows no GPU.
[[nodiscard]] Result<std::string> record_machine(const NvmlSymbols& nvml);

}  // namespace negawatt::gpusim
