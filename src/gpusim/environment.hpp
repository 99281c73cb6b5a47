// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine as the environment of a process names it:
//   NEGAWATT_GPUSIM          the machine's description; required
//   NEGAWATT_GPUSIM_STATE    the file of shared memory, readable by all users; default: a private
//   one
//                            in /dev/shm, named by user, description and the two that follow
//   NEGAWATT_GPUSIM_LATENCY  replaces the switching latencies: "6 ms", seconds
//   NEGAWATT_GPUSIM_TIME     replaces the description's: "real", "virtual", or a factor ("20")
// The last one counts for who makes the file; a world keeps its time.
#pragma once

#include <memory>

#include "core/result.hpp"
#include "gpusim/world.hpp"

namespace negawatt::gpusim {

/// Opens or makes the world. Error `unavailable` when no description is named.
[[nodiscard]] Result<std::unique_ptr<World>> world_of_environment();

/// "real", "virtual", or a factor above 0.
[[nodiscard]] Result<TimeFlow> parse_time_flow(std::string_view text);

}  // namespace negawatt::gpusim
