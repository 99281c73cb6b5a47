// SPDX-License-Identifier: Apache-2.0
//
// negawattd's main thread: one loop over the socket, the clients and their processes, signals, one
// timer and the workers' events. It makes no driver call and waits for nobody, so no client and no
// GPU can keep it from the others. It wakes for nothing while there are no leases, except for
// systemd's watchdog.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "daemon/client.hpp"
#include "daemon/config.hpp"
#include "daemon/lease_book.hpp"
#include "daemon/listener.hpp"
#include "daemon/metrics.hpp"
#include "daemon/peer.hpp"
#include "daemon/process_tree.hpp"
#include "daemon/rate_limit.hpp"
#include "daemon/worker.hpp"
#include "gpu/driver.hpp"
#include "gpu/journal.hpp"
#include "lease/file_descriptor.hpp"

namespace negawatt::daemon {

/// Signals that the loop takes; the caller blocks them before it starts a thread.
[[nodiscard]] sigset_t handled_signals();

class Server {
 public:
  /// Loads the driver, opens the journal and the socket, starts a worker for each GPU.
  /// `config_path` is read again on SIGHUP; empty: there is none.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(Config config,
                                                             std::string config_path);
  ~Server();

  enum class Outcome : unsigned char {
    done,        ///< every GPU is in its previous state
    unrestored,  ///< some are not; the journal keeps what is missing
    hung,        ///< a driver call has not returned: this object must not be destroyed
  };
  /// Serves until SIGTERM or SIGINT.
  [[nodiscard]] Outcome run();

 private:
  struct Gpu {
    gpu::Identity identity;
    std::unique_ptr<GpuWorker> worker;
    bool ready = false;
    bool dirty = false;  // not in its previous state
    bool hung = false;   // its driver call takes too long
    bool finished = false;
  };
  enum class Source : std::uint8_t { listener, signals, timer, watchdog, workers, client, process };
  /// What an event of the loop is about.
  struct Origin {
    Source source = Source::listener;
    std::uint64_t client = 0;  // of the last two sources
  };

  explicit Server(Config config, std::string config_path);
  Status open();
  Status open_driver();
  Status open_loop();
  Status start_workers();
  Status start_worker(gpu::Device device, bool absent);
  Status start_absent_workers();
  Status watch(int descriptor, Origin origin, std::uint32_t events);

  // The loop (server.cpp).
  void handle(Origin origin, std::uint32_t events);
  void take_signal();
  void reload();
  Status adopt(Config config);
  void warn_of_unknown_gpus() const;
  void begin_stopping();
  [[nodiscard]] bool has_stopped();
  void tick();
  void set_timer();
  void look_for_hangs();
  void say_ready();

  // Clients (server_clients.cpp).
  void accept_clients();
  void admit(lease::FileDescriptor socket);
  [[nodiscard]] bool has_room_for(std::uint32_t uid) const;
  void serve(Client& client, std::uint32_t events);
  void close(std::uint64_t client, lease::EndReason reason, std::string_view why);
  void watch_for_room(Client& client);
  void complain(const Client& client, std::string_view what);

  // Requests (server_requests.cpp).
  Status answer(Client& client, const lease::Message& message);
  Status answer(Client& client, const lease::Hello& hello);
  Status answer(Client& client, const lease::ListGpus& list);
  Status answer(Client& client, const lease::Acquire& acquire);
  Status answer(Client& client, const lease::Release& release);
  [[nodiscard]] std::optional<lease::Refused> refusal(const Client& client,
                                                      const lease::Acquire& acquire) const;
  [[nodiscard]] bool may_lease_now(std::uint32_t uid);
  Status grant(Client& client, const lease::Acquire& acquire, const lease::Terms& terms);
  [[nodiscard]] const Gpu* find_gpu(const std::string& uuid) const;
  [[nodiscard]] std::size_t place_of(const Gpu& gpu) const;
  [[nodiscard]] lease::GpuState state_of(const Gpu& gpu) const;
  void end(LeaseRecord& record, lease::EndReason reason);
  void take_worker_events();
  void take(const WorkerEvent& event);
  void tell_released(LeaseRecord& record, bool restored, const std::string& message);

  Config config_;
  std::string config_path_;
  Access access_;
  ProcessTree processes_;
  std::shared_ptr<gpu::Driver> driver_;
  std::optional<gpu::Journal> journal_;
  std::optional<EventQueue> events_;
  bool machine_restarted_ = false;  // since the journal was written
  std::vector<Gpu> gpus_;
  std::string why_no_leases_;  // empty: leases are given
  std::optional<Listener> listener_;
  ServerCounters counters_;
  std::optional<Metrics> metrics_;
  lease::FileDescriptor poll_;
  lease::FileDescriptor signals_;
  lease::FileDescriptor timer_;
  lease::FileDescriptor watchdog_;

  std::map<std::uint64_t, Client> clients_;
  std::uint64_t last_client_ = 0;
  LeaseBook leases_;
  RateLimit leases_a_user_{{.burst = 32, .per_second = 1}};
  bool said_ready_ = false;
  std::optional<TimePoint> stop_by_;       // set: stopping
  std::optional<TimePoint> next_look_;     // for drivers that hang; none: nothing is under way
  std::optional<TimePoint> accept_again_;  // set: out of descriptors until then
  TimePoint started_;
  TimePoint complaints_since_;
  int complaints_ = 0;
};

}  // namespace negawatt::daemon
