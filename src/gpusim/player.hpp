// SPDX-License-Identifier: Apache-2.0
//
// Plays a workload on a simulated GPU as a training loop would: launches ahead of the GPU, in
// order, iteration after iteration, and says where it is. Times are simulated; joules are the GPU's
// true energy while the workload's kernels ran.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpusim/position_file.hpp"
#include "gpusim/target.hpp"
#include "gpusim/workload.hpp"
#include "gpusim/world.hpp"

namespace negawatt::gpusim {

struct PlayOrder {
  std::uint64_t iterations = 1;
  /// Starts no iteration that much simulated time after the first; instead of `iterations`.
  std::optional<Seconds> duration;
  std::uint32_t launch_ahead = 8;  ///< invocations queued besides the running one
};

/// One invocation that has run.
struct Played {
  std::uint64_t iteration = 0;
  std::uint64_t invocation = 0;
  std::string_view kernel;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Joules energy;
};
using PlayedSink = std::function<void(const Played&)>;

struct PlaySummary {
  std::uint64_t iterations = 0;
  std::uint64_t invocations = 0;
  Seconds time;  ///< from the begin of the first invocation to the end of the last
  Joules energy;
};

/// The calling thread takes part in virtual time meanwhile. Fails when the GPU does.
[[nodiscard]] Result<PlaySummary> play(World& world, Target target, const Workload& workload,
                                       const PlayOrder& order, const PlayedSink& sink);

}  // namespace negawatt::gpusim
