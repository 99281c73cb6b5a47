// SPDX-License-Identifier: Apache-2.0
#include "gpusim/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>

namespace negawatt::gpusim {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
// The timer slack of a normal thread is 50 us: a shorter sleep would overshoot by its own length.
constexpr std::int64_t kShortestSleepNs = 200'000;
constexpr std::int64_t kWakeEarlyNs = 100'000;

timespec timespec_of(std::int64_t ns) {
  return {.tv_sec = static_cast<time_t>(ns / kNsPerS), .tv_nsec = static_cast<long>(ns % kNsPerS)};
}

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

bool futex_wait(std::atomic<std::uint32_t>& word, FutexWait wait) {
  const auto deadline = timespec_of(wait.deadline_ns);
  // FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock; FUTEX_WAIT a relative one.
  const auto result = ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, wait.expected, &deadline,
                                nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wait_exactly_ns(std::int64_t duration_ns) {
  const auto end = monotonic_ns() + duration_ns;
  if (duration_ns > kShortestSleepNs) {
    const auto wake = timespec_of(end - kWakeEarlyNs);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
    }
  }
  while (monotonic_ns() < end) {
  }
}

}  // namespace negawatt::gpusim
