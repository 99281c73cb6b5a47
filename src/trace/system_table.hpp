// SPDX-License-Identifier: Apache-2.0
//
// The system table: what single requests cost on unlike systems, by their input and output tokens,
// as it was measured. Read from CSV (docs/formats.md); a size that was measured several times has
// several runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost.hpp"
#include "core/evidence.hpp"
#include "core/result.hpp"

namespace negawatt::trace {

/// How large a request is. At least 1 each.
struct RequestSize {
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;

  auto operator<=>(const RequestSize&) const = default;
};

struct SystemRun {
  RequestSize size;
  Cost cost;
};

/// One model on one system.
struct MeasuredSystem {
  std::string name;
  std::string model;
  std::vector<SystemRun> runs;  ///< in the order of the file; at least one
};

struct SystemTable {
  std::vector<MeasuredSystem> systems;  ///< in order of first appearance
  Evidence evidence;
  std::string name;             ///< the file it came from
  bool last_line_open = false;  ///< no line end after the last record: it may be cut off
};

/// Reads `system,model,input_tokens,output_tokens,energy_j,runtime_s`. `file` names it in messages.
/// Fails, naming file and line, on anything a measurement cannot be.
[[nodiscard]] Result<SystemTable> parse_system_table(std::string_view bytes, std::string_view file);

/// The systems with this model alone, so that a name means one system. Without a `model` every
/// system must have one only. Fails, naming the models that there are.
[[nodiscard]] Result<SystemTable> systems_with_model(SystemTable table, std::string_view model);

}  // namespace negawatt::trace
