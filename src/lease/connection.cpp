// SPDX-License-Identifier: Apache-2.0
#include "lease/connection.hpp"

#include <fmt/core.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <variant>

namespace negawatt::lease {
namespace {

using SteadyClock = std::chrono::steady_clock;

SteadyClock::duration to_duration(Seconds time) {
  return std::chrono::duration_cast<SteadyClock::duration>(
      std::chrono::duration<double>(time.in_si()));
}

std::uint32_t id_of(const Message& message) {
  return std::visit(
      [](const auto& m) -> std::uint32_t {
        if constexpr (requires { m.id; })
          return m.id;
        else
          return 0;
      },
      message);
}

/// A refusal of the connection itself.
bool is_farewell(const Message& message) {
  const auto* refused = std::get_if<Refused>(&message);
  return refused != nullptr && refused->id == 0;
}

void set_id(Message& message, std::uint32_t id) {
  std::visit(
      [&](auto& m) {
        if constexpr (requires { m.id; }) m.id = id;
      },
      message);
}

/// Takes over the descriptors of a control message; those beyond two are closed.
void take_descriptors(msghdr& header, std::array<FileDescriptor, 2>& descriptors) {
  for (auto* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
      FileDescriptor taken(number);
      if (i < descriptors.size()) descriptors.at(i) = std::move(taken);
    }
  }
}

}  // namespace

void limit_sends(const FileDescriptor& socket, Seconds timeout) {
  const double whole = std::floor(timeout.in_si());
  const timeval limit{static_cast<time_t>(whole),
                      static_cast<suseconds_t>((timeout.in_si() - whole) * 1e6) + 1};
  ::setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Connection::Connection(FileDescriptor socket, Seconds reply_timeout)
    : socket_(std::move(socket)), reply_timeout_(reply_timeout) {}

// Ends a send that still waits; what was sent before is delivered.
Connection::~Connection() { ::shutdown(socket_.number(), SHUT_RDWR); }

Result<Connection::Reply> Connection::ask(Message request) {
  const std::scoped_lock lock(asking_);
  if (is_lost()) return lose("the connection to negawattd is lost");
  if (++last_id_ == kNobodyWaits) last_id_ = 1;
  set_id(request, last_id_);
  // A daemon that refuses a connection says why and closes it, perhaps before it has read anything.
  auto sent = send(encode(request));
  auto reply = receive(last_id_);
  if (!sent && !reply) return tl::unexpected(std::move(sent).error());
  return reply;
}

Status Connection::send_only(const Message& message) {
  if (is_lost()) return lose("the connection to negawattd is lost");
  return send(encode(message));
}

Status Connection::send(const std::string& frame) {
  const std::scoped_lock lock(sending_);
  std::string_view rest = frame;
  while (!rest.empty()) {
    const auto sent = ::send(socket_.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return lose(fmt::format("cannot write to negawattd: {}", std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<Connection::Reply> Connection::receive(std::uint32_t id) {
  const auto deadline = SteadyClock::now() + to_duration(reply_timeout_);
  std::array<FileDescriptor, 2> descriptors;
  while (true) {
    auto read = reader_.next();
    if (!read) return lose("negawattd answers what cannot be read: " + read.error().message);
    if (std::optional<Message> message = *std::move(read); message) {
      if (id_of(*message) == id || is_farewell(*message))
        return Reply{*std::move(message), std::move(descriptors)};
      continue;  // the reply to what was sent without waiting
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now())
            .count();
    pollfd ready{socket_.number(), POLLIN, 0};
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left) + 1) == 0)
      // What comes later, with its descriptors, must not be taken for the reply to another request.
      return lose(fmt::format("negawattd has not answered within {:g} s", reply_timeout_.in_si()));
    if (ready.revents == 0) continue;  // a signal
    NW_TRY(const auto size, read_some(descriptors));
    if (size == 0) return lose("negawattd has closed the connection");
  }
}

Result<std::size_t> Connection::read_some(std::array<FileDescriptor, 2>& descriptors) {
  std::array<char, 4096> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 8)> control;
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const auto size = ::recvmsg(socket_.number(), &header, MSG_CMSG_CLOEXEC);
  if (size < 0) return lose(fmt::format("cannot read from negawattd: {}", std::strerror(errno)));
  take_descriptors(header, descriptors);
  reader_.append({bytes.data(), static_cast<std::size_t>(size)});
  return static_cast<std::size_t>(size);
}

tl::unexpected<Error> Connection::lose(std::string why) {
  lost_.store(true, std::memory_order_release);
  return failure(Code::unavailable, std::move(why));
}

void Connection::check() {
  pollfd peer{socket_.number(), POLLRDHUP, 0};
  if (::poll(&peer, 1, 0) > 0 && peer.revents != 0) lost_.store(true, std::memory_order_release);
}

void Connection::keep_alive(Seconds interval) {
  const std::scoped_lock lock(beating_);
  beat_interval_ = heart_.joinable() ? std::min(beat_interval_, interval) : interval;
  if (heart_.joinable()) return stop_waiting_.notify_all();
  heart_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

void Connection::beat(const std::stop_token& stop) {
  std::unique_lock waiting(beating_);
  while (!stop.stop_requested()) {
    // A lease with a shorter interval may come while we wait; then the next beat is due at once.
    const auto interval = beat_interval_;
    stop_waiting_.wait_for(waiting, stop, to_duration(interval),
                           [&] { return beat_interval_ != interval; });
    if (stop.stop_requested()) return;
    waiting.unlock();
    if (!heartbeat()) return;
    waiting.lock();
  }
}

}  // namespace negawatt::lease
