// SPDX-License-Identifier: Apache-2.0
// The part of doctor that judges.
#include "inspect/doctor.hpp"
#include "inspect/gpu_findings.hpp"
#include "inspect/machine_findings.hpp"

namespace negawatt::inspect {

Diagnosis diagnose(const DoctorFacts& facts) {
  Diagnosis diagnosis;
  for (const auto& gpu : facts.gpus) diagnosis.gpus.push_back(findings_of(gpu, facts.quick));
  diagnosis.machine = machine_findings(facts, diagnosis.gpus);
  return diagnosis;
}

}  // namespace negawatt::inspect
