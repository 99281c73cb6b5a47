// SPDX-License-Identifier: Apache-2.0
// Server: connections, from accept to close.
#include <fmt/core.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/log.hpp"
#include "daemon/server.hpp"

namespace negawatt::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAcceptedAtOnce = 16;  // then the clients that are there have their turn
constexpr std::chrono::seconds kAcceptPause{1};
// What clients do wrong may fill a log; more than this a second is only counted.
constexpr int kComplaintsPerSecond = 10;

}  // namespace

void Server::accept_clients() {
  NW_ASSERT(listener_.has_value());
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    auto socket = listener_->accept();
    if (!socket) {  // out of descriptors: the waiting connection would wake us for ever
      log(Level::error, "cannot accept connections", {{"error", socket.error().message}});
      ::epoll_ctl(poll_.number(), EPOLL_CTL_DEL, listener_->descriptor(), nullptr);
      accept_again_ = Clock::now() + kAcceptPause;
      return;
    }
    if (!socket->is_open()) return;
    admit(*std::move(socket));
  }
}

void Server::admit(lease::FileDescriptor socket) {
  ++counters_.connections;
  Client client;
  client.id = ++last_client_;
  client.socket = std::move(socket);
  client.connected = Clock::now();
  auto peer = peer_of(client.socket.number(), processes_);
  std::optional<lease::Refused> refused;
  if (!peer)
    refused = {.reason = lease::Refusal::denied, .message = peer.error().message};
  else if (!has_room_for(peer->uid))
    refused = {.reason = lease::Refusal::too_many,
               .message = "too many connections to negawattd, of this user or in all"};
  if (peer) client.peer = *std::move(peer);
  if (refused) {
    ++counters_.connections_refused;
    complain(client, refused->message);
    (void)send(client, *refused);  // it is gone either way
    return;
  }
  const auto id = client.id;
  const bool watched =
      watch(client.socket.number(), {Source::client, id}, EPOLLIN | EPOLLRDHUP).has_value() &&
      watch(client.peer.process_descriptor.number(), {Source::process, id}, EPOLLIN).has_value();
  if (!watched) return;
  clients_.emplace(id, std::move(client));
  counters_.clients = clients_.size();
}

bool Server::has_room_for(std::uint32_t uid) const {
  if (uid == 0) return clients_.size() < config_.max_clients + kReservedForRoot;
  const auto of_user = std::ranges::count_if(
      clients_, [&](const auto& entry) { return entry.second.peer.uid == uid; });
  return clients_.size() < config_.max_clients &&
         static_cast<std::size_t>(of_user) < config_.max_clients_per_user;
}

void Server::serve(Client& client, std::uint32_t events) {
  const auto id = client.id;
  const auto malformed = [&](const Error& error) {
    ++counters_.malformed;
    complain(client, error.message);
    close(id, lease::EndReason::disconnected, error.message);
  };
  if ((events & EPOLLOUT) != 0 || client.farewell) {
    if (const auto flushed = flush(client); !flushed) return malformed(flushed.error());
  }
  // Nothing of it is read any more; what does not fit now is not waited for.
  if (client.farewell) return close(id, lease::EndReason::disconnected, "refused");
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    const auto more = read_more(client);
    if (!more || !*more) return close(id, lease::EndReason::disconnected, "it has disconnected");
    while (!client.farewell) {
      const auto message = client.reader.next();
      if (!message) return malformed(message.error());
      const auto& complete = *message;
      if (!complete) break;
      leases_.heard(id, Clock::now());
      if (const auto answered = answer(client, *complete); !answered)
        return malformed(answered.error());
    }
  }
  if (client.farewell && client.out.empty())
    return close(id, lease::EndReason::disconnected, "refused");
  watch_for_room(client);
}

/// Asks the loop to say when the client can take what is kept for it, or no longer to.
void Server::watch_for_room(Client& client) {
  const bool wanted = !client.out.empty();
  if (wanted == client.watched_for_room) return;
  client.watched_for_room = wanted;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | (wanted ? EPOLLOUT : 0U);
  event.data.u64 = std::uint64_t{static_cast<std::uint8_t>(Source::client)} << 56U | client.id;
  ::epoll_ctl(poll_.number(), EPOLL_CTL_MOD, client.socket.number(), &event);
}

void Server::close(std::uint64_t client, lease::EndReason reason, std::string_view why) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  const auto& peer = found->second.peer;
  log(Level::debug, "connection closed",
      {{"pid", peer.process.pid}, {"uid", peer.uid}, {"why", why}});
  for (const auto id : leases_.of_client(client)) {
    auto* record = leases_.find(id);
    record->client = 0;
    record->release_request.reset();
    end(*record, reason);
  }
  clients_.erase(found);  // closes its descriptors, which takes them out of the loop
  counters_.clients = clients_.size();
}

void Server::complain(const Client& client, std::string_view what) {
  const auto now = Clock::now();
  if (now - complaints_since_ >= std::chrono::seconds(1)) {
    complaints_since_ = now;
    complaints_ = 0;
  }
  if (++complaints_ > kComplaintsPerSecond) return;
  log(Level::warn, "client refused",
      {{"pid", client.peer.process.pid},
       {"uid", client.peer.uid},
       {"command", client.peer.process.command},
       {"why", what}});
}

}  // namespace negawatt::daemon
