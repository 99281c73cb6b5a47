// SPDX-License-Identifier: Apache-2.0
//
// Where a running program is in its iteration: one page of shared memory that the observed process
// writes at the start of every invocation and any number of others read. The page is all that
// passes between them, so that a governor knows nothing of how the position is found. Mapping the
// page is the caller's job. Readers never block the writer; a writer that is killed in the middle
// of an update leaves a page that reads as `busy` from then on.
//
//   page = magic[8] version:u32 sequence:u32 writer_pid:u32 state:u32
//          iteration:u64 invocation:u64 started_ns:u64      ; native byte order
//   sequence is odd while the rest changes (a sequence lock with one writer)
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
};
static_assert(sizeof(PositionPage) == 48);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Makes an empty page of zeroed or foreign memory. Call before anyone reads it.
void format(PositionPage& page, std::uint32_t writer_pid);

/// Only one thread of one process may write a page.
void write(PositionPage& page, const Position& position);

/// What the page said at one instant. Fails with `invalid` when it is no position page, and with
/// `unavailable` when it changes all the time or its writer died while writing.
[[nodiscard]] Result<Position> read(const PositionPage& page);

}  // namespace negawatt::trace
