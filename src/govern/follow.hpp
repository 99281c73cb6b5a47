// SPDX-License-Identifier: Apache-2.0
//
// Follows a running program on its position page until it is told to stop: asks for clocks when the
// governor says so, and keeps the ledger. What goes wrong is counted, never passed on to the
// program. Life of a clock change: position -> decision -> request -> (lease, daemon, driver) ->
// effect, one switching latency later. Calls no driver on its own thread, so that it always stops
// soon after it is told to.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "govern/execution.hpp"
#include "govern/governor.hpp"
#include "govern/ledger.hpp"
#include "govern/position_map.hpp"
#include "govern/use_watch.hpp"
#include "gpu/device.hpp"
#include "trace/clocks.hpp"

namespace negawatt::govern {

/// How clocks are asked for: through a lease of the daemon, or a guard of our own. Both return soon
/// when `stop` is requested.
struct Actuator {
  /// Whether clocks can be asked for, now or within a patience on the machine's own clock: a lease
  /// waits for the program to use its GPU, and may end.
  std::function<bool(Seconds patience, const std::stop_token& stop)> is_ready;
  /// Returns when the driver has been asked.
  std::function<Status(trace::ClockPair, const std::stop_token& stop)> ask;
};

struct Followed {
  std::uint64_t requests = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  ///< requests that failed; the last reason:
  std::string last_refusal;
  Punctuality punctuality;
  double pace = 1.0;
  bool became_ready = false;  ///< clocks could be asked for ...
  bool lost_clocks = false;   ///< ... and later not any more, while the program ran
  bool was_off_plan = false;  ///< the program ran another iteration than the plan's
  bool was_seen = false;      ///< it ever said where it is
  std::string problem;        ///< why its position page could not be read, if so
  Use use = Use::unknown;     ///< whether it used the GPU
  Achieved achieved;
  std::vector<RunningMean> segment_times;
};

struct FollowOptions {
  std::uint64_t warm_up = 2;  ///< iterations that do not count
  bool governs = true;        ///< false: only watches
  /// Whether a process belongs to the program; called on another thread, perhaps after the end.
  std::function<bool(std::uint32_t pid)> is_ours = [](std::uint32_t) { return false; };
};

/// Runs until `stop`, or until the program says that it has finished. Joins the device's clock. The
/// clocks of where the program is are asked for as soon as they can be, and again after a refusal.
[[nodiscard]] Followed follow(const Execution& plan, const PositionMap& position,
                              const gpu::Device& device, const Actuator& actuator,
                              const FollowOptions& options, const std::stop_token& stop);

}  // namespace negawatt::govern
