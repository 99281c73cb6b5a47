// SPDX-License-Identifier: Apache-2.0
//
// Sleeping on a word of memory that processes share, and on the machine's monotonic clock.
// Times are nanoseconds. A wait may return early for no reason: callers look again.
#pragma once

#include <atomic>
#include <cstdint>

namespace negawatt::gpusim {

[[nodiscard]] std::int64_t monotonic_ns();

/// What a sleep lasts for: while the word holds `expected`, until `deadline_ns` on the monotonic
/// clock at the latest.
struct FutexWait {
  std::uint32_t expected = 0;
  std::int64_t deadline_ns = 0;
};
/// False when the deadline has passed.
bool futex_wait(std::atomic<std::uint32_t>& word, FutexWait wait);
void futex_wake_all(std::atomic<std::uint32_t>& word);

/// Waits for that long in real time, whatever signals arrive; exact to a microsecond or so for
/// short waits, because these burn the processor instead of sleeping.
void wait_exactly_ns(std::int64_t duration_ns);

}  // namespace negawatt::gpusim
