// SPDX-License-Identifier: Apache-2.0
//
// Runs a command under a clock plan. The command gets our terminal, streams and signals and never
// notices us: whatever goes wrong on our side, it runs on at the clocks it would have had. Its
// ending is ours. The driver and the daemon are met on a thread of its own: the command waits for
// them at most a second before it starts, and its ending at most a second after it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/evidence.hpp"
#include "core/result.hpp"
#include "govern/execution.hpp"
#include "govern/follow.hpp"
#include "govern/leased_clocks.hpp"
#include "gpu/device.hpp"
#include "process/child.hpp"

namespace negawatt::govern {

/// What a program is followed with.
struct Attached {
  gpu::Device device;
  std::string gpu;  ///< name and UUID
  EvidenceKind evidence = EvidenceKind::measured;
  std::optional<LeasedClocks> clocks;  ///< none: the program is only watched ...
  std::string note;                    ///< ... because of this, unless that was asked for
};

struct RunOrder {
  Execution plan;
  std::vector<std::string> command;
  std::uint64_t warm_up = 2;
  /// Opens the driver and asks for a lease. Called on another thread, which may be left behind in
  /// it: it must own what it uses.
  std::function<Result<Attached>()> attach;
  /// Takes a line for the user: why the command runs without us, or without clock changes. Called
  /// on the caller's thread, before the command starts.
  std::function<void(const std::string&)> say;
};

struct Ran {
  process::Ending ending;
  bool was_started = true;    ///< false: a signal came before the command was
  bool was_attached = false;  ///< to a GPU; else nothing is known but the ending
  bool governed = false;      ///< a request for clocks was accepted
  std::string gpu;
  EvidenceKind evidence = EvidenceKind::unstated;
  std::string note;  ///< why nothing was governed, unless that was asked for, or not to the end
  bool note_was_said = false;
  std::string energy_note;  ///< why no energy is claimed, if so
  std::string problem;      ///< in giving the clocks back, if any
  Followed followed;
};

/// Blocks the signals that are passed on to the command, from before the first thread until the
/// end of the program. Call first thing in main.
void block_passed_signals();

/// Starts the command with a position page, follows it, and waits for its end. Signals that are
/// sent to us are passed on; those the terminal sends reach the command by themselves. Fails only
/// when the command cannot be started. Threads may be left behind: see apart.hpp.
[[nodiscard]] Result<Ran> run(const RunOrder& order);

}  // namespace negawatt::govern
