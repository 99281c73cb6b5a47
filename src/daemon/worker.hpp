// SPDX-License-Identifier: Apache-2.0
//
// The thread that makes every driver call for one GPU, so that a call that hangs keeps nobody else
// waiting. It restores what the journal says is outstanding before it serves anything, carries the
// leases that the main thread hands it, one of them active at a time, and tells what became of them
// through an EventQueue. Sleeps without a timer while there is no lease and nothing to restore.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "daemon/counters.hpp"
#include "daemon/lease_session.hpp"
#include "daemon/process_tree.hpp"
#include "daemon/sensors.hpp"
#include "gpu/device.hpp"
#include "gpu/journal.hpp"
#include "lease/file_descriptor.hpp"
#include "lease/mailbox.hpp"

namespace negawatt::daemon {

/// What a worker tells the main thread.
struct WorkerEvent {
  enum class Kind : unsigned char {
    ready,      ///< what a crash left has been tried to restore; `restored` says whether it is back
    activated,  ///< `lease` is the GPU's writer
    ended,      ///< `lease` is over; `restored` says whether the previous state is back
    restored,   ///< after failures, it is back now
    found,      ///< a GPU that had not answered does: `identity`
    finished,   ///< after shut_down(): the thread ends; `restored` as above
  };
  Kind kind = Kind::ready;
  std::size_t gpu = 0;
  std::uint64_t lease = 0;
  lease::EndReason reason = lease::EndReason::none;
  bool restored = true;
  std::string message;     ///< if not restored, or the lease failed: why
  gpu::Identity identity;  ///< with `found`
};

/// From the workers to the main thread. Bounded by the leases there are.
class EventQueue {
 public:
  [[nodiscard]] static Result<EventQueue> create();
  /// Readable when there are events.
  [[nodiscard]] int descriptor() const { return bell_.number(); }
  void push(WorkerEvent event);
  [[nodiscard]] std::vector<WorkerEvent> take();

 private:
  struct Guarded {
    std::mutex mutex;
    std::vector<WorkerEvent> events;
  };
  lease::FileDescriptor bell_;
  std::unique_ptr<Guarded> guarded_;
};

/// Finds the GPU after its driver was reloaded, or when it has not answered before.
using FindDevice = std::function<Result<gpu::Device>(const gpu::GpuId&)>;

struct WorkerSetup {
  std::size_t gpu = 0;  ///< place in the daemon's list, for events
  gpu::Device device;
  bool absent = false;              ///< it has not answered yet: `device` has only its id
  gpu::Journal* journal = nullptr;  ///< none: observe only
  EventQueue* events = nullptr;
  bool machine_restarted = false;  ///< since the journal was written
  FindDevice find_device;
};

class GpuWorker {
 public:
  [[nodiscard]] static Result<std::unique_ptr<GpuWorker>> start(WorkerSetup setup);
  GpuWorker(WorkerSetup setup, std::array<lease::FileDescriptor, 2> bell_and_poll);
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;
  /// Shuts down and waits for the thread, for as long as its driver call may take.
  ~GpuWorker();

  // From any thread; none of them waits for the driver.
  void carry(LeaseOrder order);
  void end(std::uint64_t lease, lease::EndReason reason);
  /// Ends all leases, restores, ends the thread.
  void shut_down();
  /// What the sensors say, or said a moment ago; none when they are not there within `timeout`.
  [[nodiscard]] std::optional<Sensors> read_sensors(Seconds timeout);
  /// How long the driver call that runs now has taken; none runs: none.
  [[nodiscard]] std::optional<Seconds> calling_for() const;
  /// Asks for mig_enabled() to be looked at again.
  void look_at_mig();
  /// Whether the GPU was split between tenants when the driver was last asked.
  [[nodiscard]] bool mig_enabled() const { return mig_enabled_; }
  /// What the GPU is; empty while it is absent.
  [[nodiscard]] std::string model() const;
  /// Whether the GPU has not answered since the daemon started. Once false, it stays so.
  [[nodiscard]] bool is_absent() const { return absent_; }

  GpuCounters counters;

 private:
  struct End {
    std::uint64_t lease = 0;
    lease::EndReason reason = lease::EndReason::none;
    std::string message = {};  ///< with `failed`: what did
  };
  struct Commands {
    std::vector<LeaseOrder> orders;
    std::vector<End> ends;
    bool shut_down = false;
    bool read_sensors = false;
    bool look_at_mig = false;
  };

  void run();
  void wait();
  void ring() const;
  [[nodiscard]] SteadyClock::time_point next_deadline() const;
  [[nodiscard]] LeaseSession* active() const { return active_; }
  void handle(Commands commands);
  void publish_sensors();
  void serve_active();
  void look_around();
  void look_at_active();
  void look_at_pending();
  void activate(LeaseSession& session);
  void end_lease(const End& end);
  /// Asks whether the GPU is split between tenants.
  bool note_mig();
  [[nodiscard]] bool may_be_shared(const LeaseSession& session);
  [[nodiscard]] std::vector<gpu::Backup> outstanding() const;
  void restore_outstanding();
  void report(const gpu::Restoration& restoration);
  void find_device_again();
  [[nodiscard]] bool is_lost();
  void finish();
  void tell(WorkerEvent event);

  // Constant after construction.
  std::size_t gpu_;
  gpu::Journal* journal_;
  EventQueue* events_;
  FindDevice find_device_;
  bool machine_restarted_;
  lease::FileDescriptor bell_;
  lease::FileDescriptor poll_;

  // Of the worker's thread alone.
  gpu::Device device_;
  SensorReader sensor_reader_;
  ProcessTree processes_;
  std::list<LeaseSession> sessions_;
  LeaseSession* active_ = nullptr;  // one of sessions_
  bool clean_ = false;              // nothing outstanding
  SteadyClock::duration restore_pause_{};
  SteadyClock::time_point next_restore_;
  SteadyClock::time_point next_look_;
  SteadyClock::time_point next_find_;
  bool rang_ = false;  // the active lease's doorbell has, and has not been rested for
  bool stopping_ = false;

  std::atomic<bool> absent_;
  std::atomic<bool> mig_enabled_ = false;
  std::atomic<std::int64_t> call_started_ns_ = 0;  // 0: waiting for work

  mutable std::mutex mutex_;
  Commands commands_;                        // guarded by mutex_
  std::string model_;                        // guarded by mutex_
  std::optional<Sensors> sensors_;           // guarded by mutex_
  SteadyClock::time_point sensors_at_;       // guarded by mutex_
  std::uint64_t sensor_readings_ = 0;        // guarded by mutex_
  std::condition_variable sensors_are_new_;  // with mutex_

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace negawatt::daemon
