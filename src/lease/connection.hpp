// SPDX-License-Identifier: Apache-2.0
//
// A client's end of the socket: one request at a time, its reply, and the heartbeats beside it.
// Used by client.cpp only. Thread-safe. Once the stream is broken, every call fails with the same
// reason.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "core/result.hpp"
#include "core/units.hpp"
#include "lease/file_descriptor.hpp"
#include "lease/protocol.hpp"

namespace negawatt::lease {

/// The id of a request whose reply nobody waits for. Not 0: a refusal with that is a farewell.
inline constexpr std::uint32_t kNobodyWaits = ~std::uint32_t{0};

/// No connect and no send waits longer: a daemon that has been stopped neither accepts nor reads.
void limit_sends(const FileDescriptor& socket, Seconds timeout);

class Connection {
 public:
  /// A socket with limited sends.
  Connection(FileDescriptor socket, Seconds reply_timeout);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  struct Reply {
    Message message;
    std::array<FileDescriptor, 2> descriptors;  ///< what came with it, if anything
  };
  /// Sends `request`, with an id of its own, and waits for the reply to it.
  [[nodiscard]] Result<Reply> ask(Message request);
  /// Sends what has no reply, or whose reply nobody waits for.
  Status send_only(const Message& message);
  Status heartbeat() { return send_only(Heartbeat{}); }
  /// From now on a thread sends heartbeats, `interval` apart, until the connection ends. Of several
  /// calls the shortest interval holds.
  void keep_alive(Seconds interval);
  [[nodiscard]] bool is_lost() const { return lost_.load(std::memory_order_acquire); }

  /// Looks whether the daemon is still there.
  void check();

 private:
  void beat(const std::stop_token& stop);
  Status send(const std::string& frame);
  [[nodiscard]] Result<Reply> receive(std::uint32_t id);
  [[nodiscard]] Result<std::size_t> read_some(std::array<FileDescriptor, 2>& descriptors);
  [[nodiscard]] tl::unexpected<Error> lose(std::string why);

  FileDescriptor socket_;
  Seconds reply_timeout_;
  std::atomic<bool> lost_ = false;

  std::mutex asking_;  // guards the replies: reader_, last_id_
  FrameReader reader_;
  std::uint32_t last_id_ = 0;

  std::mutex sending_;  // one frame at a time on the socket

  std::mutex beating_;
  Seconds beat_interval_{0};  // guarded by beating_
  std::condition_variable_any stop_waiting_;
  std::jthread heart_;  // last: it uses all of the above
};

}  // namespace negawatt::lease
