// SPDX-License-Identifier: Apache-2.0
#include "trace/position.hpp"

#include <fmt/core.h>

#include <atomic>

namespace negawatt::trace {
namespace {

constexpr std::array<char, 8> kMagic = {'N', 'W', 'P', 'O', 'S', '\r', '\n', '\0'};
constexpr std::uint32_t kVersion = 2;
// An update takes nanoseconds: who sees this many in a row looks at a dead or a foreign writer.
constexpr int kMostTries = 1000;

}  // namespace

void format(PositionPage& page, std::uint32_t writer_pid) {
  if (page.magic != kMagic || page.version != kVersion) page.waiting = 0;
  page.magic = kMagic;
  page.version = kVersion;
  page.sequence = 0;
  page.writer_pid = writer_pid;
  page.state = static_cast<std::uint32_t>(ProgramState::starting);
  page.iteration = 0;
  page.invocation = 0;
  page.started_ns = 0;
  page.iteration_started_ns = 0;
  page.previous_invocations = 0;
}

bool write(PositionPage& page, const Position& position) {
  const auto sequence = page.sequence.load(std::memory_order_relaxed);
  page.sequence.store(sequence | 1U, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  page.state.store(static_cast<std::uint32_t>(position.state), std::memory_order_relaxed);
  page.iteration.store(position.iteration, std::memory_order_relaxed);
  page.invocation.store(position.invocation, std::memory_order_relaxed);
  page.started_ns.store(position.started_ns, std::memory_order_relaxed);
  page.iteration_started_ns.store(position.iteration_started_ns, std::memory_order_relaxed);
  page.previous_invocations.store(position.previous_invocations, std::memory_order_relaxed);
  page.sequence.store((sequence | 1U) + 1U, std::memory_order_release);
  // Either this sees who has just begun to wait, or they see the new sequence and do not.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return page.waiting.load(std::memory_order_relaxed) != 0;
}

Result<Position> read(const PositionPage& page) {
  if (page.magic != kMagic) return failure(Code::invalid, "not a position page");
  if (page.version != kVersion)
    return failure(Code::invalid, fmt::format("a position page of version {}, expected {}",
                                              page.version, kVersion));
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto before = page.sequence.load(std::memory_order_acquire);
    const auto state = page.state.load(std::memory_order_relaxed);
    const Position position{
        .iteration = page.iteration.load(std::memory_order_relaxed),
        .invocation = page.invocation.load(std::memory_order_relaxed),
        .started_ns = page.started_ns.load(std::memory_order_relaxed),
        .iteration_started_ns = page.iteration_started_ns.load(std::memory_order_relaxed),
        .previous_invocations = page.previous_invocations.load(std::memory_order_relaxed),
        .state = static_cast<ProgramState>(state)};
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool is_whole =
        before % 2 == 0 && page.sequence.load(std::memory_order_relaxed) == before;
    if (!is_whole) continue;
    if (state > static_cast<std::uint32_t>(ProgramState::finished))
      return failure(Code::invalid, "a position page with an unknown state");
    return position;
  }
  return failure(Code::unavailable, "the position page's writer stopped while writing");
}

}  // namespace negawatt::trace
