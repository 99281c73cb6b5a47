// SPDX-License-Identifier: Apache-2.0
//
// Sleeping on a word of memory that processes share, and on the machine's monotonic clock.
// Times are nanoseconds. A wait may return early for no reason: callers look again.
#pragma once

#include <atomic>
#include <cstdint>

namespace negawatt::gpusim {

[[nodiscard]] std::int64_t monotonic_ns();

/// Sleeps while `word` holds `expected`, until `deadline_ns` on the monotonic clock at the latest.
/// False when the deadline has passed.
bool futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t deadline_ns);
void futex_wake_all(std::atomic<std::uint32_t>& word);

/// Waits for that long in real time, whatever signals arrive; exact to a microsecond or so for
/// short waits, because these burn the processor instead of sleeping.
void wait_exactly_ns(std::int64_t duration_ns);

}  // namespace negawatt::gpusim
