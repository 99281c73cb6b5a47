// SPDX-License-Identifier: Apache-2.0
//
// What the machine's answers mean: driver, GPUs as a whole, permission, negawattd, other tools.
// Pure: the same facts give the same words.
#pragma once

#include <vector>

#include "inspect/doctor_facts.hpp"
#include "inspect/finding.hpp"

namespace negawatt::inspect {

/// `gpus` are the findings of each GPU, for the line that sums them up.
[[nodiscard]] std::vector<Finding> machine_findings(const DoctorFacts& facts,
                                                    const std::vector<GpuFindings>& gpus);

/// Of the driver functions that a library lacks, those that no older or newer one stands in for.
[[nodiscard]] std::vector<std::string> without_substitute(const std::vector<std::string>& missing);

}  // namespace negawatt::inspect
