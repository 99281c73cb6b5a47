// SPDX-License-Identifier: Apache-2.0
//
// What the answers of one GPU mean. Pure: the same facts give the same words. Numbers carry their
// units, and an answer that did not come is never a 0.
#pragma once

#include "inspect/doctor_facts.hpp"
#include "inspect/finding.hpp"

namespace negawatt::inspect {

/// `quick`: periods were left out on purpose.
[[nodiscard]] GpuFindings findings_of(const GpuFacts& facts, bool quick);

}  // namespace negawatt::inspect
