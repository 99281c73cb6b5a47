// SPDX-License-Identifier: Apache-2.0
//
// Reads the description of made-up requests from TOML (docs/formats.md says every key). A stream
// that takes its lengths from a trace names the file, which the caller reads. Fails, naming file
// and line, on an unknown key (with the nearest known one), a missing one, and a value that cannot
// be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sim/cluster_file.hpp"
#include "trace/generator.hpp"

namespace negawatt::sim {

struct WorkloadDescription {
  trace::Workload workload;
  std::vector<std::string> classes;  ///< names, at least one
};

[[nodiscard]] Result<WorkloadDescription> parse_workload(std::string_view bytes,
                                                         std::string_view file,
                                                         const ReadFile& read);

}  // namespace negawatt::sim
