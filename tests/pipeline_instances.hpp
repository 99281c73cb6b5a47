// SPDX-License-Identifier: Apache-2.0
//
// Pipelines for tests and benchmarks that ship with the code: random small ones, and one modelled
// on a GPT-3 175B run on A100s (eight stages, 38 clocks, the last stage does the language-model
// head), with the measurement noise that real profiles have. All deterministic.
#pragma once

#include <cstdint>

#include "plan/pipeline.hpp"

namespace negawatt::testing {

/// 8 stages at 855..1410 MHz in steps of 15. Modelled, not measured: time a + b / f, power
/// c + d f^3, 0.2 % noise.
plan::PipelineProblem a100_like_pipeline(std::uint32_t microbatches,
                                         plan::PipelineSchedule schedule);

struct RandomPipeline {
  std::uint32_t stages = 2;
  std::uint32_t microbatches = 2;
  std::uint32_t clocks = 3;  ///< at most; every pass has at least one
  std::uint64_t seed = 1;
};

/// Options on a coarse grid, so that ties in time and energy are common; blocking power may be 0.
plan::PipelineProblem random_pipeline(const RandomPipeline& shape, plan::PipelineSchedule schedule);

}  // namespace negawatt::testing
