// SPDX-License-Identifier: Apache-2.0
//
// Runs a command under a clock plan. The command gets our terminal, streams and signals and never
// notices us: whatever goes wrong on our side, it runs on at the clocks it would have had. Its
// ending is ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "govern/execution.hpp"
#include "govern/follow.hpp"
#include "gpu/device.hpp"
#include "process/child.hpp"

namespace negawatt::govern {

struct Ran {
  process::Ending ending;
  Followed followed;
};

/// Blocks the signals that are passed on to the command, from before the first thread until the
/// end of the program. Call first thing in main.
void block_passed_signals();

/// Starts `command` with a position page, follows it, and waits for its end. Signals that are sent
/// to us are passed on; those the terminal sends reach the command by themselves. Fails only when
/// the command cannot be started.
[[nodiscard]] Result<Ran> run(const Execution& plan, const std::vector<std::string>& command,
                              const gpu::Device& device, const Actuator& actuator,
                              const FollowOptions& options);

/// Runs `command` with nobody watching: what is left to do where no GPU can be found.
[[nodiscard]] Result<process::Ending> run_alone(const std::vector<std::string>& command);

}  // namespace negawatt::govern
