// SPDX-License-Identifier: Apache-2.0
//
// How a program asks negawattd for a GPU's clocks: connect, acquire a lease, leave requests in it,
// release it. A lease that is destroyed, or whose process dies, is released by the daemon, and the
// GPU's previous state returns. Nothing here blocks longer than its timeout. Errors are one line;
// unavailable: no daemon, busy, denied; invalid: what was asked for makes no sense or is not
// allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "lease/clock_pair.hpp"
#include "lease/mailbox.hpp"
#include "lease/protocol.hpp"

namespace negawatt::lease {

class Connection;

/// NEGAWATTD_SOCKET, or /run/negawatt/negawattd.sock.
[[nodiscard]] std::string default_socket();

enum class Heartbeats : std::uint8_t {
  automatic,  ///< a thread of ours, from the first lease on
  manual,     ///< the caller calls renew(); a program that hangs then loses its lease
};

struct ConnectOptions {
  std::string socket = default_socket();
  std::string program = "unnamed";  ///< for the daemon's log
  Heartbeats heartbeats = Heartbeats::automatic;
  Seconds reply_timeout = Seconds(10);
};

/// The right to set one GPU's clocks. Move-only; the destructor releases without waiting.
class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();

  /// Asks for `clocks`; replaces a request that has not been taken yet. A microsecond or two; the
  /// answer comes by wait_applied(). Fails when the lease has ended or the daemon is gone. From one
  /// thread at a time.
  Result<std::uint32_t> request(ClockPair clocks);
  /// Waits for what became of the newest request. Fails when it does not come within `timeout`, or
  /// the lease ends before.
  [[nodiscard]] Result<Applied> wait_applied(Seconds timeout) const;
  /// Waits until the lease is active.
  Status wait_active(Seconds timeout) const;
  [[nodiscard]] LeaseState state() const;
  [[nodiscard]] EndReason end_reason() const;
  /// What was granted: at most what was asked, within the administrator's limits.
  [[nodiscard]] const Terms& terms() const;
  /// Says that this program is alive; needed with Heartbeats::manual only.
  Status renew();
  /// Ends the lease and waits until the previous state is back. Fails when it is not.
  Status release();

 private:
  friend class Client;
  struct Held;
  explicit Lease(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

class Client {
 public:
  [[nodiscard]] static Result<Client> connect(const ConnectOptions& options = {});

  [[nodiscard]] Result<std::vector<GpuEntry>> gpus();
  /// `gpu` is a UUID. The lease is pending until a process of this one's tree uses the GPU.
  [[nodiscard]] Result<Lease> acquire(const std::string& gpu, const Terms& terms = {});
  /// Whether the daemon never changes anything.
  [[nodiscard]] bool observe_only() const { return observe_only_; }

 private:
  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  std::shared_ptr<Connection> connection_;
  Heartbeats heartbeats_ = Heartbeats::automatic;
  bool observe_only_ = false;
};

/// "released", "the client died", ...
[[nodiscard]] std::string_view name_of(EndReason reason);
/// "applied", "outside the lease's limits", ...
[[nodiscard]] std::string_view name_of(Outcome outcome);

}  // namespace negawatt::lease
