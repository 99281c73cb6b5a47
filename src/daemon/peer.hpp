// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end of a connection, as the kernel says it: process, user and groups at the
// time of connecting, a descriptor that becomes readable when the process ends. And who may lease.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "daemon/config.hpp"
#include "daemon/process_tree.hpp"
#include "lease/file_descriptor.hpp"

namespace negawatt::daemon {

struct Peer {
  Process process;
  std::uint32_t uid = 0;
  std::vector<std::uint32_t> groups;  ///< the main one first
  lease::FileDescriptor process_descriptor;
};

/// Fails when the process cannot be seen from here or has ended, or is not who it was.
[[nodiscard]] Result<Peer> peer_of(int socket, const ProcessTree& processes);

/// Users and groups by number.
class Access {
 public:
  /// Fails when a name of the configuration is not known on this machine.
  [[nodiscard]] static Result<Access> from(const Config& config);
  /// Root may always; with neither users nor groups named, whoever could connect may.
  [[nodiscard]] bool allows(const Peer& peer) const;

 private:
  std::vector<std::uint32_t> users_;
  std::vector<std::uint32_t> groups_;
};

/// A group's number by name or number.
[[nodiscard]] Result<std::uint32_t> group_number(const std::string& name);

}  // namespace negawatt::daemon
