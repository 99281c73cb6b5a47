// SPDX-License-Identifier: Apache-2.0
#include "daemon/peer.hpp"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

namespace negawatt::daemon {
namespace {

std::optional<std::uint32_t> number_in(const std::string& text) {
  std::uint32_t number = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

Result<std::uint32_t> user_number(const std::string& name) {
  if (const auto number = number_in(name)) return *number;
  const passwd* entry = ::getpwnam(name.c_str());
  if (entry == nullptr) return failure(Code::invalid, fmt::format("there is no user '{}'", name));
  return entry->pw_uid;
}

std::vector<std::uint32_t> groups_of(int socket) {
  constexpr std::size_t kMostGroups = 1024;
  std::vector<std::uint32_t> groups(kMostGroups);
  static_assert(sizeof(gid_t) == sizeof(std::uint32_t));
  auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) size = 0;
  groups.resize(size / sizeof(gid_t));
  return groups;
}

/// Of the process that connected, by the kernel's word since Linux 6.5, else by its number.
lease::FileDescriptor descriptor_of_peer(int socket, const ucred& credentials) {
  constexpr int kPeerPidfd = 77;  // SO_PEERPIDFD, which Debian 12's headers do not have
  int descriptor = -1;
  socklen_t size = sizeof descriptor;
  if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &descriptor, &size) == 0)
    return lease::FileDescriptor(descriptor);
  if (errno != ENOPROTOOPT) return {};  // it has ended
  return lease::FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, credentials.pid, 0)));
}

/// Whether the process has not been waited for. Another user's answers EPERM, and is there.
bool still_there(const lease::FileDescriptor& process) {
  return process.is_open() &&
         (::syscall(SYS_pidfd_send_signal, process.number(), 0, nullptr, 0) == 0 || errno == EPERM);
}

}  // namespace

Result<std::uint32_t> group_number(const std::string& name) {
  if (const auto number = number_in(name)) return *number;
  const group* entry = ::getgrnam(name.c_str());
  if (entry == nullptr) return failure(Code::invalid, fmt::format("there is no group '{}'", name));
  return entry->gr_gid;
}

Result<Peer> peer_of(int socket, const ProcessTree& processes) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return failure(Code::internal,
                   fmt::format("cannot see who connected: {}", std::strerror(errno)));
  // 0: the process lives in a namespace that is not below ours.
  if (credentials.pid <= 0)
    return failure(Code::unavailable, "the process that connected cannot be seen from here");
  const auto pid = static_cast<std::uint32_t>(credentials.pid);
  Peer peer;
  peer.uid = credentials.uid;
  peer.groups = groups_of(socket);
  peer.groups.insert(peer.groups.begin(), credentials.gid);
  peer.process_descriptor = descriptor_of_peer(socket, credentials);
  const auto process = processes.find(pid);
  const auto users = processes.users(pid);
  // While the descriptor's process is there, nobody else has its number: what was read is of it.
  if (!process || users.empty() || !still_there(peer.process_descriptor))
    return failure(Code::unavailable, fmt::format("process {} has ended", pid));
  // Where the kernel does not give the descriptor of who connected, the number may have been used
  // again before it was opened.
  if (std::ranges::find(users, peer.uid) == users.end())
    return failure(Code::unavailable, fmt::format("process {} is another one by now", pid));
  peer.process = *process;
  return peer;
}

Result<Access> Access::from(const Config& config) {
  Access access;
  for (const auto& name : config.users) {
    NW_TRY(const auto user, user_number(name));
    access.users_.push_back(user);
  }
  for (const auto& name : config.groups) {
    NW_TRY(const auto group, group_number(name));
    access.groups_.push_back(group);
  }
  return access;
}

bool Access::allows(const Peer& peer) const {
  if (peer.uid == 0 || (users_.empty() && groups_.empty())) return true;
  return std::ranges::find(users_, peer.uid) != users_.end() ||
         std::ranges::find_first_of(groups_, peer.groups) != groups_.end();
}

}  // namespace negawatt::daemon
