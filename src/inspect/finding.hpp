// SPDX-License-Identifier: Apache-2.0
//
// What `negawatt doctor` says: one finding per subject, with what was found and what to do about
// it. `missing` stops planning, measuring or running on the machine or on one GPU; `limited` does
// not. Nothing here fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace negawatt::inspect {

enum class State : unsigned char { good, limited, missing, unknown };
/// "good", "limited", "missing", "unknown".
[[nodiscard]] std::string_view name_of(State state);

struct Finding {
  std::string subject;
  State state = State::unknown;
  std::string found;   ///< one line, printable
  std::string action;  ///< one line; empty: nothing to do
};

struct GpuFindings {
  unsigned display_index = 0;
  std::string name;  ///< "NVIDIA H200"; empty when it does not answer
  std::string uuid;  ///< empty when it does not answer
  std::vector<Finding> findings;
};

struct Diagnosis {
  std::vector<Finding> machine;
  std::vector<GpuFindings> gpus;
};

[[nodiscard]] bool has_missing(const std::vector<Finding>& findings);
/// Whether planning, measuring and running work: nothing that the machine needs is missing, and at
/// least one GPU has all that it needs.
[[nodiscard]] bool works(const Diagnosis& diagnosis);
/// The action of the gravest finding; the machine's before the GPUs'.
[[nodiscard]] std::string next_step(const Diagnosis& diagnosis);

}  // namespace negawatt::inspect
