// SPDX-License-Identifier: Apache-2.0
#include "daemon/listener.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "daemon/peer.hpp"

namespace negawatt::daemon {
namespace {

constexpr int kBacklog = 64;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return failure(Code::invalid, fmt::format("socket path '{}': must have 1 to {} bytes", path,
                                              sizeof address.sun_path - 1));
  path.copy(address.sun_path, path.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// A socket file that nobody answers at is left by a daemon that was killed.
Status remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat file{};
  if (::lstat(path.c_str(), &file) != 0) return {};
  if (!S_ISSOCK(file.st_mode))
    return failure(Code::invalid,
                   fmt::format("socket {}: a file that is no socket is there", path));
  const lease::FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.number(), generic(address), sizeof address) == 0)
    return failure(Code::unavailable, fmt::format("socket {}: another daemon answers there", path));
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Listener::Listener(lease::FileDescriptor socket, std::string path)
    : socket_(std::move(socket)), path_(std::move(path)) {}

Listener::~Listener() {
  if (socket_.is_open()) ::unlink(path_.c_str());
}

Result<Listener> Listener::open(const Config& config) {
  const auto& path = config.socket;
  NW_TRY(const auto address, address_of(path));
  std::error_code ignored;  // bind says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  NW_CHECK(remove_stale(path, address));
  const auto failed = [&](const char* what) {
    return failure(Code::unavailable,
                   fmt::format("socket {}: cannot {}: {}", path, what, std::strerror(errno)));
  };
  lease::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failed("create it");
  // Nobody can connect before listen(), so the order of the rest does not matter.
  if (::bind(socket.number(), generic(address), sizeof address) != 0) return failed("bind it");
  Listener listener(std::move(socket), path);
  if (::chmod(path.c_str(), config.socket_mode) != 0) return failed("set its mode");
  if (!config.socket_group.empty()) {
    NW_TRY(const auto group, group_number(config.socket_group));
    if (::chown(path.c_str(), static_cast<uid_t>(-1), group) != 0) return failed("set its group");
  }
  if (::listen(listener.descriptor(), kBacklog) != 0) return failed("listen on it");
  return listener;
}

Result<lease::FileDescriptor> Listener::accept() const {
  lease::FileDescriptor client(
      ::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool nobody = errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
  if (!client.is_open() && !nobody)
    return failure(Code::internal, fmt::format("cannot accept: {}", std::strerror(errno)));
  return client;
}

}  // namespace negawatt::daemon
