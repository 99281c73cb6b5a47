// SPDX-License-Identifier: Apache-2.0
//
// The clock of a simulated machine, shared by its processes. In `real` time it follows the
// machine's monotonic clock, in `scaled` time that times a factor. In `virtual` time it stands
// still while a thread that joined is awake; when all of them sleep, the one that is due first (of
// several: that fell asleep first) runs, alone, and the clock jumps to its time. What happens then
// depends on nothing but the order in which the threads joined and what they do: runs repeat
// exactly. A thread that blocks on anything but this clock must leave first. Times are nanoseconds
// since the world was made. ClockState lies in shared memory and survives a kill at any
// instruction.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gpusim/description.hpp"
#include "gpusim/robust_mutex.hpp"

namespace negawatt::gpusim {

inline constexpr std::size_t kMostJoined = 256;  // threads, of all processes

struct TimeFlow {
  TimeMode mode = TimeMode::real;
  double factor = 1.0;  ///< simulated seconds per real second; `scaled` only
};

struct ClockState {
  enum class Place : std::uint8_t { empty, awake, asleep };
  struct alignas(64) Chair {
    LifeLock life;
    std::atomic<std::uint32_t> called;  ///< 0 while its thread shall sleep; the sleeper's futex
    Place place;
    std::int64_t due_ns;
    std::uint64_t order;  ///< of falling asleep: who slept first is called first
    std::uint32_t hears;  ///< 0: sleeps through notifications
  };

  RobustMutex mutex;  ///< guards what follows, except atomics
  TimeFlow flow;
  std::int64_t started_ns;             ///< of the monotonic clock
  std::atomic<std::int64_t> now_ns;    ///< virtual time only
  std::atomic<std::uint32_t> notices;  ///< notifications so far
  std::atomic<std::uint32_t> moves;   ///< notifications and jumps so far: futex of who has no chair
  std::atomic<std::uint32_t> guests;  ///< about how many wait on it
  std::uint32_t chairs_used;          ///< no chair behind this one was ever taken
  std::uint64_t sleeps;
  std::array<Chair, kMostJoined> chairs;
};

/// A thread's place at the clock. Belongs to one thread, which must live on one clock only.
struct Seat {
  std::int32_t chair = -1;  ///< -1: not joined
  std::int32_t pid = 0;     ///< who joined: a forked child has its parent's seat in memory
  std::uint32_t seen = 0;   ///< notifications that it has woken up for
  bool is_new = true;

  [[nodiscard]] bool joined() const { return chair >= 0; }
};

class WorldClock {
 public:
  /// `state` must be formatted and outlive this.
  explicit WorldClock(ClockState& state) : state_(&state) {}
  static void format(ClockState& state, TimeFlow flow);

  [[nodiscard]] TimeFlow flow() const { return state_->flow; }
  [[nodiscard]] std::int64_t now_ns() const;

  /// The calling thread takes part in virtual time until it leaves or ends; in other times this
  /// does nothing. False when kMostJoined threads already do.
  [[nodiscard]] bool join(Seat& seat);
  void leave(Seat& seat);
  /// Until `time_ns`, or a notification since the seat last woke up, whichever is first.
  /// Who has not joined in virtual time waits until others move the clock.
  void sleep_until(Seat& seat, std::int64_t time_ns);
  /// Lets that much time pass for this thread, notifications or not. Costs nothing for who has not
  /// joined in virtual time.
  void spend(Seat& seat, std::int64_t duration_ns);
  /// Wakes every sleeper of every process, to look at what has changed.
  void notify(Seat& seat);

 private:
  class Lock;
  [[nodiscard]] bool is_virtual() const { return state_->flow.mode == TimeMode::virtual_time; }
  [[nodiscard]] std::int64_t guest_deadline_ns(std::int64_t time_ns) const;
  void sleep_in_chair(Seat& seat, std::int64_t time_ns, bool hears);
  void sleep_as_guest(Seat& seat, std::int64_t time_ns);

  ClockState* state_;
};

}  // namespace negawatt::gpusim
