// SPDX-License-Identifier: Apache-2.0
//
// Locks that lie in memory shared by processes and survive the death of who holds them, at any
// instruction and by any signal (POSIX robust mutexes: the kernel releases them when the thread
// ends, before its parent can see a zombie).
// Memory must be zeroed or foreign, formatted once by one process, and stay mapped while held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace negawatt::gpusim {

class RobustMutex {
 public:
  enum class Locked : std::uint8_t {
    cleanly,
    after_a_death,  ///< the last holder died inside: look at what it may have left half done
    never,          ///< no mutex lies there: the memory was damaged
  };

  void format();
  [[nodiscard]] Locked lock();
  void unlock();

 private:
  friend class LifeLock;
  alignas(8) std::array<std::byte, 40> mutex_;
};

/// Taken by a thread for as long as it lives: shows every process, without a system call and safe
/// against reused process ids, whether that thread still exists. All calls about one LifeLock are
/// made under one mutex.
class LifeLock {
 public:
  void format() { mutex_.format(); }
  /// The calling thread vouches for itself. False when a living thread already does.
  [[nodiscard]] bool take();
  /// By the thread that took it. Does nothing when another one holds it.
  void release() { mutex_.unlock(); }
  [[nodiscard]] bool holder_lives();

 private:
  RobustMutex mutex_;
};

}  // namespace negawatt::gpusim
