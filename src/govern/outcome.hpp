// SPDX-License-Identifier: Apache-2.0
//
// What a run under a plan promised and what came of it, with the reasons for the difference: as
// JSON for programs (docs/formats.md) and as lines for a person. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cost.hpp"
#include "core/evidence.hpp"
#include "govern/execution.hpp"
#include "govern/run.hpp"

namespace negawatt::govern {

struct RunReport {
  const Execution& plan;
  const Ran& ran;
  bool governed = true;  ///< false: the program was only watched
  std::string gpu;       ///< name and UUID
  std::string plan_file;
  std::string command;                             ///< the command line that was run
  EvidenceKind evidence = EvidenceKind::measured;  ///< simulated on a simulated GPU
  std::string note;            ///< why nothing was governed, or not to the end, if so
  bool note_was_said = false;  ///< to the person who reads the lines
};

[[nodiscard]] std::string run_json(const RunReport& report);
/// At most 80 columns, unless a name is longer.
[[nodiscard]] std::string run_text(const RunReport& report);

}  // namespace negawatt::govern
