// SPDX-License-Identifier: Apache-2.0
//
// Where a running program is in its iteration: one page of shared memory that the observed process
// writes at the start of every invocation and any number of others read. The page is all that
// passes between them, so that a governor knows nothing of how the position is found. Mapping the
// page and the system calls of waiting are the caller's. Readers never block the writer; a writer
// that is killed in the middle of an update leaves a page that cannot be read from then on.
//
//   page = magic[8] version:u32 sequence:u32 writer_pid:u32 state:u32
//          iteration:u64 invocation:u64 started_ns:u64 iteration_started_ns:u64
//          previous_invocations:u32 waiting:u32             ; native byte order
//   sequence is odd while the rest changes (a sequence lock with one writer), and the futex
//   (shared) of those who wait for the next position: a reader counts itself in `waiting`
//   meanwhile, and a writer that finds somebody there after an update wakes them
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/result.hpp"

namespace negawatt::trace {

enum class ProgramState : std::uint8_t { starting, running, finished };

struct Position {
  std::uint64_t iteration = 0;   ///< from 0
  std::uint64_t invocation = 0;  ///< within the iteration, from 0: this one runs
  std::uint64_t started_ns = 0;  ///< when it started, on the clock of its device
  /// When this iteration's first invocation started: who missed that one still knows.
  std::uint64_t iteration_started_ns = 0;
  std::uint32_t previous_invocations = 0;  ///< that the iteration before had; 0: not known
  ProgramState state = ProgramState::starting;

  auto operator<=>(const Position&) const = default;
};

struct PositionPage {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::atomic<std::uint32_t> sequence;
  std::atomic<std::uint32_t> writer_pid;
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint64_t> iteration;
  std::atomic<std::uint64_t> invocation;
  std::atomic<std::uint64_t> started_ns;
  std::atomic<std::uint64_t> iteration_started_ns;
  std::atomic<std::uint32_t> previous_invocations;
  std::atomic<std::uint32_t> waiting;
};
static_assert(sizeof(PositionPage) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Makes an empty page of zeroed or foreign memory. Those who already wait on a page of ours stay.
void format(PositionPage& page, std::uint32_t writer_pid);

/// Only one thread of one process may write a page. True when somebody waits for what was written:
/// the caller then wakes all of the futex `page.sequence`.
bool write(PositionPage& page, const Position& position);

/// What the page said at one instant. Fails with `invalid` when it is no position page, and with
/// `unavailable` when it changes all the time or its writer died while writing.
[[nodiscard]] Result<Position> read(const PositionPage& page);

}  // namespace negawatt::trace
