// SPDX-License-Identifier: Apache-2.0
//
// A connection to negawattd that sends whatever bytes a test wants.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lease/file_descriptor.hpp"

namespace negawatt::testing {

class RawClient {
 public:
  explicit RawClient(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = ::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address),
                           sizeof address) == 0;
    const timeval patience{5, 0};
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  [[nodiscard]] bool connected() const { return connected_; }
  /// Bytes that were taken without waiting.
  std::size_t send(std::string_view bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto part = ::send(socket_.number(), bytes.data() + sent, bytes.size() - sent,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (part <= 0) break;
      sent += static_cast<std::size_t>(part);
    }
    return sent;
  }
  /// Everything until the daemon closes the connection; fails the test when it does not.
  [[nodiscard]] std::string read_to_the_end() const {
    std::string all;
    std::array<char, 4096> part;
    while (true) {
      const auto size = ::recv(socket_.number(), part.data(), part.size(), 0);
      if (size == 0 || (size < 0 && errno == ECONNRESET)) return all;
      if (size < 0) {
        ADD_FAILURE() << "the connection stays open";
        return all;
      }
      all.append(part.data(), static_cast<std::size_t>(size));
    }
  }
  [[nodiscard]] std::string read_once() const {
    std::array<char, 4096> part;
    const auto size = ::recv(socket_.number(), part.data(), part.size(), 0);
    return size <= 0 ? "" : std::string(part.data(), static_cast<std::size_t>(size));
  }
  /// The descriptors that come with the next bytes.
  [[nodiscard]] std::vector<lease::FileDescriptor> read_descriptors() const {
    std::array<char, 4096> bytes;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 2)> control{};
    iovec part{bytes.data(), bytes.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    std::vector<lease::FileDescriptor> descriptors;
    if (::recvmsg(socket_.number(), &header, MSG_CMSG_CLOEXEC) <= 0) return descriptors;
    const auto* rights = CMSG_FIRSTHDR(&header);
    if (rights == nullptr || rights->cmsg_len != CMSG_LEN(sizeof(int) * 2)) return descriptors;
    std::array<int, 2> numbers{};
    std::memcpy(numbers.data(), CMSG_DATA(rights), sizeof numbers);
    for (const int number : numbers) descriptors.emplace_back(number);
    return descriptors;
  }

 private:
  lease::FileDescriptor socket_;
  bool connected_ = false;
};

}  // namespace negawatt::testing
