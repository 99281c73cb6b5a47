// SPDX-License-Identifier: Apache-2.0
//
// The pipeline profile: what one forward and one backward pass of one microbatch costs on every
// stage of a pipeline-parallel training job, at every core clock it was measured at. Read from CSV
// `stage,instruction,frequency,time,energy`: MHz, seconds and joules per microbatch and GPU.
// Reading fails with file and line on anything that cannot be a measurement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/evidence.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace negawatt::trace {

/// What a pipeline stage does with a microbatch.
enum class Pass : unsigned char { forward, backward };
inline constexpr std::array<Pass, 2> kPasses = {Pass::forward, Pass::backward};

/// "forward" or "backward", as files name it.
[[nodiscard]] std::string_view name_of(Pass pass);

/// One pass of one microbatch at one core clock.
struct PassOption {
  std::uint32_t mhz = 0;
  Seconds time;
  Joules energy;
};

/// One pipeline stage. Options are sorted by clock, no clock twice, at least one.
struct StageProfile {
  std::array<std::vector<PassOption>, 2> options;  ///< by Pass

  [[nodiscard]] const std::vector<PassOption>& of(Pass pass) const {
    return options[static_cast<std::size_t>(pass)];
  }
};

struct PipelineProfile {
  std::vector<StageProfile> stages;  ///< in pipeline order
  bool last_line_open = false;       ///< no line end after the last record: it may be cut off
  Evidence evidence;
  std::string name;  ///< the file it came from
};

/// Reads a pipeline profile. `file` names it in messages. Every stage from 0 to the highest one
/// must have both passes; times and energies are finite and more than 0.
[[nodiscard]] Result<PipelineProfile> parse_pipeline_profile(std::string_view bytes,
                                                             std::string_view file);

}  // namespace negawatt::trace
