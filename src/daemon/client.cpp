// SPDX-License-Identifier: Apache-2.0
#include "daemon/client.hpp"

#include <fmt/core.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "lease/pass_descriptors.hpp"

namespace negawatt::daemon {
namespace {

constexpr std::size_t kMostUnread = std::size_t{256} * 1024;

}  // namespace

Result<bool> read_more(Client& client) {
  std::array<char, 4096> bytes;
  const auto size = ::recv(client.socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size == 0) return false;
  if (size > 0) {
    client.reader.append({bytes.data(), static_cast<std::size_t>(size)});
    return true;
  }
  if (errno == EAGAIN || errno == EINTR) return true;
  return failure(Code::internal, fmt::format("cannot read: {}", std::strerror(errno)));
}

Status send(Client& client, const lease::Message& message) {
  client.out += lease::encode(message);
  NW_CHECK(flush(client));
  if (client.out.size() > kMostUnread)
    return failure(Code::invalid, "the client does not read what it asked for");
  return {};
}

Status send_with(Client& client, const lease::Message& message,
                 const std::array<int, 2>& descriptors) {
  NW_CHECK(flush(client));
  if (!client.out.empty()) return failure(Code::invalid, "the client has not read earlier replies");
  const auto bytes = lease::encode(message);
  const auto sent = lease::send_with_descriptors(client.socket.number(), bytes, descriptors);
  if (sent < 0)
    return failure(Code::internal, fmt::format("cannot write: {}", std::strerror(errno)));
  client.out = bytes.substr(static_cast<std::size_t>(sent));
  return {};
}

Status flush(Client& client) {
  while (!client.out.empty()) {
    const auto sent = ::send(client.socket.number(), client.out.data(), client.out.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return {};
    if (sent < 0)
      return failure(Code::internal, fmt::format("cannot write: {}", std::strerror(errno)));
    client.out.erase(0, static_cast<std::size_t>(sent));
  }
  return {};
}

}  // namespace negawatt::daemon
