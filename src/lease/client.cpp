// SPDX-License-Identifier: Apache-2.0
#include "lease/client.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <variant>

#include "lease/connection.hpp"

namespace negawatt::lease {

std::string default_socket() {
  const char* path = std::getenv("NEGAWATTD_SOCKET");
  return path != nullptr && *path != '\0' ? path : "/run/negawatt/negawattd.sock";
}

std::string_view name_of(EndReason reason) {
  switch (reason) {
    case EndReason::none:
      return "not ended";
    case EndReason::released:
      return "released";
    case EndReason::disconnected:
      return "the client disconnected";
    case EndReason::died:
      return "the client died";
    case EndReason::silent:
      return "no heartbeat of the client";
    case EndReason::expired:
      return "its duration is over";
    case EndReason::not_on_gpu:
      return "no process of the client's tree uses the GPU";
    case EndReason::busy:
      return "another client holds the GPU";
    case EndReason::failed:
      return "the GPU or the restore journal failed";
    case EndReason::shutdown:
      return "negawattd stops";
    case EndReason::denied:
      return "the GPU is split between tenants, and its clocks are everybody's";
  }
  return "unknown";
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::none:
      return "not handled";
    case Outcome::applied:
      return "applied";
    case Outcome::unchanged:
      return "unchanged";
    case Outcome::outside_limits:
      return "outside the lease's limits";
    case Outcome::unsupported:
      return "not supported by the driver";
    case Outcome::failed:
      return "failed";
  }
  return "unknown";
}

namespace {

/// Where the daemon does not accept and others wait already, connecting waits too, within the time.
Result<FileDescriptor> connect_socket(const std::string& path, Seconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return failure(Code::invalid, fmt::format("the socket path '{}' is too long", path));
  path.copy(address.sun_path, path.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.is_open()) limit_sends(socket, patience);
  if (!socket.is_open() ||
      ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failure(Code::unavailable,
                   fmt::format("cannot reach negawattd at {}: {}; is it running, and may this user "
                               "open that socket?",
                               path, std::strerror(errno)));
  return socket;
}

Code code_of(Refusal reason) {
  switch (reason) {
    case Refusal::invalid:
    case Refusal::unknown_gpu:
    case Refusal::limits:
      return Code::invalid;
    case Refusal::denied:
    case Refusal::busy:
    case Refusal::unavailable:
    case Refusal::too_many:
    case Refusal::version:
      break;
  }
  return Code::unavailable;
}

/// The reply as the message that was hoped for, or the refusal as an error.
template <class Wanted>
Result<Wanted> expect(Message message) {
  if (auto* wanted = std::get_if<Wanted>(&message)) return std::move(*wanted);
  if (const auto* refused = std::get_if<Refused>(&message))
    return failure(code_of(refused->reason), "negawattd: " + refused->message);
  return failure(Code::internal, "negawattd answers with a message that does not fit");
}

// How often a waiting client looks whether the daemon is still there.
constexpr Seconds kLook{0.05};

using SteadyClock = std::chrono::steady_clock;

class Deadline {
 public:
  explicit Deadline(Seconds timeout)
      : end_(SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                      std::chrono::duration<double>(timeout.in_si()))) {}
  [[nodiscard]] Seconds left() const {
    return Seconds(std::chrono::duration<double>(end_ - SteadyClock::now()).count());
  }

 private:
  SteadyClock::time_point end_;
};

}  // namespace

struct Lease::Held {
  Held(std::shared_ptr<Connection> to, const Granted& grant, RequestEnd end)
      : connection(std::move(to)), granted(grant), mailbox(std::move(end)) {}

  /// Waits until `done()` or the end of the lease, the connection or the time.
  template <class Done>
  Status wait(Seconds timeout, Done done) const {
    const Deadline deadline(timeout);
    while (true) {
      const auto seen = mailbox.publications();
      if (done()) return {};
      NW_CHECK(usable());
      const auto left = deadline.left();
      if (left <= Seconds(0))
        return failure(Code::unavailable,
                       fmt::format("negawattd has not answered within {:g} s", timeout.in_si()));
      mailbox.wait(seen, std::min(left, kLook));
      if (mailbox.publications() == seen) connection->check();
    }
  }

  Status usable() const {
    if (mailbox.state() == LeaseState::ended)
      return failure(Code::unavailable, fmt::format("the lease of {} has ended: {}", gpu,
                                                    name_of(mailbox.end_reason())));
    if (connection->is_lost())
      return failure(Code::unavailable, fmt::format("the lease of {} is lost with negawattd", gpu));
    return {};
  }

  std::shared_ptr<Connection> connection;
  Granted granted;
  RequestEnd mailbox;
  std::string gpu;
  std::uint32_t newest = 0;  // sequence of the last request
  bool released = false;
};

Lease::Lease(std::unique_ptr<Held> held) : held_(std::move(held)) {}
Lease::Lease(Lease&&) noexcept = default;
Lease& Lease::operator=(Lease&& other) noexcept {
  std::swap(held_, other.held_);
  return *this;
}

Lease::~Lease() {
  if (!held_ || held_->released || held_->connection->is_lost()) return;
  // Nobody waits for the reply to this; the daemon says in its log when it cannot restore.
  (void)held_->connection->send_only(Release{kNobodyWaits, held_->granted.lease});
}

Result<std::uint32_t> Lease::request(ClockPair clocks) {
  NW_CHECK(held_->usable());
  return held_->newest = held_->mailbox.request(clocks);
}

Result<Applied> Lease::wait_applied(Seconds timeout) const {
  Result<Applied> last = Applied{};
  NW_CHECK(held_->wait(timeout, [&] {
    last = held_->mailbox.applied();
    return !last || at_or_after(last->sequence, held_->newest);
  }));
  return last;
}

Status Lease::wait_active(Seconds timeout) const {
  return held_->wait(timeout, [&] { return held_->mailbox.state() == LeaseState::active; });
}

LeaseState Lease::state() const {
  return held_->connection->is_lost() ? LeaseState::ended : held_->mailbox.state();
}
EndReason Lease::end_reason() const { return held_->mailbox.end_reason(); }
const Terms& Lease::terms() const { return held_->granted.terms; }
Status Lease::renew() { return held_->connection->heartbeat(); }

Status Lease::release() {
  if (held_->released) return {};
  held_->released = true;
  NW_TRY(auto reply, held_->connection->ask(Release{0, held_->granted.lease}));
  NW_TRY(const auto released, expect<Released>(std::move(reply.message)));
  if (!released.restored)
    return failure(Code::internal, "the previous state is not back: " + released.message);
  return {};
}

Result<Client> Client::connect(const ConnectOptions& options) {
  NW_TRY(auto socket, connect_socket(options.socket, options.reply_timeout));
  Client client(std::make_shared<Connection>(std::move(socket), options.reply_timeout));
  client.heartbeats_ = options.heartbeats;
  NW_TRY(auto reply, client.connection_->ask(Hello{0, kProtocolVersion, options.program}));
  NW_TRY(const auto welcome, expect<Welcome>(std::move(reply.message)));
  client.observe_only_ = welcome.observe_only;
  return client;
}

Result<std::vector<GpuEntry>> Client::gpus() {
  NW_TRY(auto reply, connection_->ask(ListGpus{}));
  NW_TRY(auto list, expect<Gpus>(std::move(reply.message)));
  return std::move(list.gpus);
}

Result<Lease> Client::acquire(const std::string& gpu, const Terms& terms) {
  NW_TRY(auto reply, connection_->ask(Acquire{0, gpu, terms}));
  NW_TRY(const auto granted, expect<Granted>(std::move(reply.message)));
  NW_TRY(auto mailbox, RequestEnd::open(std::move(reply.descriptors)));
  // Three beats may be lost before the daemon takes the client for stopped.
  if (heartbeats_ == Heartbeats::automatic) connection_->keep_alive(granted.heartbeat / 4);
  auto held = std::make_unique<Lease::Held>(connection_, granted, std::move(mailbox));
  held->gpu = gpu;
  return Lease(std::move(held));
}

}  // namespace negawatt::lease
