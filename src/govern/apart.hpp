// SPDX-License-Identifier: Apache-2.0
//
// Work that may hang (a driver call on a GPU that falls off the bus, a daemon that was stopped) on
// a thread of its own. It is asked to stop and waited for only so long. One that does not come back
// is left behind: it owns all that it uses, and the process must then end without running its
// destructors (all_ended_within()).
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "core/result.hpp"
#include "core/units.hpp"

namespace negawatt::govern {

class Apart {
 public:
  /// `work` must own what it uses, or share it; it does not throw, and is gone when it has ended.
  /// Fails (`internal`) when the system gives no thread.
  [[nodiscard]] static Result<Apart> start(std::function<void(const std::stop_token&)> work);
  Apart(Apart&& other) noexcept = default;
  Apart& operator=(Apart&& other) = delete;
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;
  /// Asks the work to stop and waits for nothing.
  ~Apart() { stop_.request_stop(); }

  /// Asks the work to stop and waits for its end at most so long; whether it has ended.
  [[nodiscard]] bool ends_within(Seconds patience);
  /// Whether no work of this process runs any more, after waiting at most so long. Otherwise end by
  /// _exit: the driver's library must not be unloaded under a thread.
  [[nodiscard]] static bool all_ended_within(Seconds patience);

 private:
  struct End;
  explicit Apart(std::shared_ptr<End> end) : end_(std::move(end)) {}

  std::stop_source stop_;
  std::shared_ptr<End> end_;
};

}  // namespace negawatt::govern
