// SPDX-License-Identifier: Apache-2.0
//
// One lease on one GPU, from granted to ended: pending until a process of the client's tree uses
// the GPU, then active, in which the newest request of the mailbox is checked and set. Runs on the
// GPU's worker thread alone; every driver call of it may hang, and then only this GPU waits. Errors
// of the driver become outcomes for the client, lines in the log and counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "daemon/config.hpp"
#include "daemon/counters.hpp"
#include "daemon/process_tree.hpp"
#include "gpu/clock_guard.hpp"
#include "gpu/device.hpp"
#include "gpu/journal.hpp"
#include "lease/mailbox.hpp"
#include "lease/protocol.hpp"

namespace negawatt::daemon {

using SteadyClock = std::chrono::steady_clock;

/// What the main thread hands to a GPU's worker.
struct LeaseOrder {
  std::uint64_t id = 0;
  Process client;
  std::uint32_t uid = 0;
  lease::Terms terms;  ///< as granted
  GpuPolicy policy;
  lease::ServiceEnd mailbox;
};

class LeaseSession {
 public:
  /// All three must outlive it.
  struct Surroundings {
    const gpu::Device* device;
    gpu::Journal* journal;
    GpuCounters* counters;
  };
  LeaseSession(LeaseOrder order, Surroundings around);

  [[nodiscard]] std::uint64_t id() const { return order_.id; }
  [[nodiscard]] bool is_active() const { return guard_.has_value(); }
  [[nodiscard]] int doorbell() const { return order_.mailbox.doorbell(); }

  /// Looks whether the client's tree is on the GPU. False when it has not been for the grace
  /// period.
  [[nodiscard]] bool check_on_gpu(const ProcessTree& tree);
  [[nodiscard]] bool on_gpu() const { return on_gpu_; }

  /// Becomes the writer: reads the GPU's limits, and sets the power limit that was granted.
  [[nodiscard]] Status activate();
  /// Tells the client so.
  void say_active();
  /// Life of a clock change: takes the newest request, checks it, sets it, says what became of it.
  /// Active leases only. False when the GPU is lost.
  [[nodiscard]] bool serve();
  /// The earliest time at which serve() may change the clocks again.
  [[nodiscard]] SteadyClock::time_point next_change() const { return next_change_; }
  /// Compares what was asked with what is. Active leases only. False when the GPU is lost.
  [[nodiscard]] bool observe();
  /// Puts the previous state back and tells the client. An error: it is not all back yet.
  Status end(lease::EndReason reason);

 private:
  [[nodiscard]] lease::Outcome set(lease::ClockPair clocks);
  [[nodiscard]] bool within_terms(lease::ClockPair clocks) const;
  [[nodiscard]] bool is_lost();
  void note_enforcement(const gpu::Observation& seen);

  LeaseOrder order_;
  const gpu::Device* device_;
  gpu::Journal* journal_;
  GpuCounters* counters_;
  std::optional<gpu::ClockGuard> guard_;  // set: active

  lease::ClockPair asked_;  // the newest that the driver accepted
  lease::ClockPair set_;    // as rounded to clocks that the device has
  bool on_gpu_ = false;
  SteadyClock::time_point last_on_gpu_;
  SteadyClock::time_point next_change_;
  SteadyClock::time_point last_change_;
  int observed_astray_ = 0;  // in a row
  bool not_honoured_ = false;
};

}  // namespace negawatt::daemon
