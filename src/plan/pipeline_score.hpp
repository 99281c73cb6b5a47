// SPDX-License-Identifier: Apache-2.0
//
// What a plan of clocks costs by the profile: a simulation of the iteration that shares nothing
// with the planner but the definition of the schedules. Every plan that leaves the room is scored
// here. Fails (`invalid`) when an instruction is missing or runs at a clock the profile lacks.
#pragma once

#include <vector>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "plan/pipeline.hpp"

namespace negawatt::plan {

/// Sets start and end of every instruction (each starts as soon as it can) and returns the
/// iteration's time and energy. `instructions` may be in any order, each once.
[[nodiscard]] Result<Cost> score_pipeline(const PipelineProblem& problem,
                                          std::vector<InstructionChoice>& instructions);

}  // namespace negawatt::plan
