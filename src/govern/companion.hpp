// SPDX-License-Identifier: Apache-2.0
//
// What goes along with a command that is run under a plan: meets the driver and the daemon, follows
// the program, and gives the clocks back, all on a thread that may be left behind. Its owner waits
// for each of these only as long as it likes, and takes what there is.
#pragma once

#include <memory>
#include <string>

#include "core/result.hpp"
#include "core/units.hpp"
#include "govern/apart.hpp"
#include "govern/position_map.hpp"
#include "govern/run.hpp"

namespace negawatt::govern {

class Companion {
 public:
  /// Sends this process SIGCHLD, which it must have blocked, when it has met the driver and the
  /// daemon or has failed to. Fails when the system gives no thread.
  [[nodiscard]] static Result<Companion> start(RunOrder order, PositionMap position);

  /// Whether it has met them, or failed to.
  [[nodiscard]] bool has_met() const;
  /// Why it runs without us or without clock changes, as far as is known yet; empty: it does not.
  [[nodiscard]] std::string reason() const;
  /// The process that belongs to the program, with those it starts.
  void accompany(int pid);
  /// Tells it that the program has ended, waits at most so long for it to give the clocks back, and
  /// takes what it knows.
  [[nodiscard]] Ran finish(Seconds patience);

 private:
  struct Shared;
  Companion(std::shared_ptr<Shared> shared, Apart thread)
      : shared_(std::move(shared)), thread_(std::move(thread)) {}

  std::shared_ptr<Shared> shared_;
  Apart thread_;
};

}  // namespace negawatt::govern
