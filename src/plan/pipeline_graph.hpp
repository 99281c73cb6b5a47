// SPDX-License-Identifier: Apache-2.0
//
// One iteration of pipeline-parallel training as a graph: an instruction is one pass of one
// microbatch on one stage. A stage runs its instructions one after the other in the order of the
// schedule; a forward waits for the same microbatch's forward on the stage before, a backward for
// its backward on the stage behind. Sending between stages takes no time of its own (profiles
// include it).
//
//   1F1B, stage s of S, M microbatches: w = min(S - s - 1, M) forwards, then M - w times one
//   forward and one backward, then w backwards. GPipe: M forwards, then M backwards in reverse.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "solve/time_cost.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::plan {

enum class PipelineSchedule : unsigned char { one_f_one_b, gpipe };

inline constexpr std::uint32_t kNoInstruction = std::numeric_limits<std::uint32_t>::max();

struct PipelineInstruction {
  std::uint32_t stage = 0;
  std::uint32_t microbatch = 0;
  trace::Pass pass = trace::Pass::forward;
  std::uint32_t before_on_stage = kNoInstruction;
  std::uint32_t before_in_data = kNoInstruction;
  std::uint32_t after_on_stage = kNoInstruction;
  std::uint32_t after_in_data = kNoInstruction;

  /// Instructions of one kind have the same options.
  [[nodiscard]] std::uint32_t kind() const { return 2 * stage + static_cast<std::uint32_t>(pass); }
};

/// All instructions of an iteration, every instruction after those it waits for.
[[nodiscard]] std::vector<PipelineInstruction> pipeline_instructions(std::uint32_t stages,
                                                                     std::uint32_t microbatches,
                                                                     PipelineSchedule schedule);

/// The events between which every instruction runs. Ends and starts that may coincide without loss
/// are one event.
struct PipelineEvents {
  std::uint32_t count = 0;
  std::uint32_t source = 0;
  std::uint32_t sink = 0;
  std::vector<std::uint32_t> start;  ///< by instruction
  std::vector<std::uint32_t> end;    ///< by instruction
  std::vector<solve::Precedence> precedences;
};

[[nodiscard]] PipelineEvents pipeline_events(const std::vector<PipelineInstruction>& instructions);

}  // namespace negawatt::plan
