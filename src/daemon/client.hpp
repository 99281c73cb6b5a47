// SPDX-License-Identifier: Apache-2.0
//
// One connection as the daemon sees it: bytes in and out without ever waiting, in bounded memory.
// Descriptors that a client sends along are dropped by the kernel, since nobody asks for them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "daemon/peer.hpp"
#include "lease/file_descriptor.hpp"
#include "lease/protocol.hpp"

namespace negawatt::daemon {

/// Connections of root beyond those that are configured.
inline constexpr std::size_t kReservedForRoot = 8;

struct Client {
  std::uint64_t id = 0;
  lease::FileDescriptor socket;
  Peer peer;
  std::chrono::steady_clock::time_point connected;
  lease::FrameReader reader;
  std::string out;                ///< what the client has not read yet
  bool greeted = false;           ///< it said hello
  bool farewell = false;          ///< close when `out` is gone
  bool watched_for_room = false;  ///< the loop waits until it can take more
};

/// Reads once. False at the end of the stream.
[[nodiscard]] Result<bool> read_more(Client& client);

/// Sends what fits and keeps the rest. Fails when the client has left too much unread.
Status send(Client& client, const lease::Message& message);

/// Sends it with two descriptors, at once or not at all.
Status send_with(Client& client, const lease::Message& message,
                 const std::array<int, 2>& descriptors);

/// Sends what was kept.
Status flush(Client& client);

}  // namespace negawatt::daemon
