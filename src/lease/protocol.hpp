// SPDX-License-Identifier: Apache-2.0
//
// What a client and negawattd say to each other over a Unix stream socket, version 1. Numbers are
// little-endian. Decoding is total: any bytes give a message or an error, memory stays bounded, and
// after an error the stream is not to be read further. Powers are mW and times ms on the wire.
//
//   frame   = length:u32 type:u16 payload           ; length of the payload, at most 65536
//   payload = the fields of the message named by type, in the order they stand below, no more
//   bool    = u8                                    ; 0 or 1
//   text    = length:u16 bytes                      ; at most 256, printable UTF-8
//   list    = count:u16 element*                    ; at most 64
//   clock   = mhz:u16                               ; 0: automatic
//   clocks  = bool, and if true core:clock memory:clock
//
// A request carries an id that its reply repeats. A client says hello first. The reply `granted`
// carries two file descriptors: the mailbox page and its doorbell (lease/mailbox.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "lease/clock_pair.hpp"

namespace negawatt::lease {

inline constexpr std::uint16_t kProtocolVersion = 1;
inline constexpr std::size_t kMaxPayload = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxText = 256;
inline constexpr std::size_t kMaxGpus = 64;
inline constexpr std::size_t kFrameHeader = 6;

/// What a lease may do: asked for by the client, cut to the administrator's limits when granted.
struct Terms {
  std::uint32_t core_min_mhz = 1;
  std::uint32_t core_max_mhz = kMaxMegahertz;
  bool memory = false;               ///< whether the memory clock may be locked
  std::optional<Watts> power_limit;  ///< board power limit while the lease is active
  std::optional<Seconds> duration;   ///< the lease ends by itself then; none: until it is released
};

/// Why a request was refused: each one changes what a client does next.
enum class Refusal : std::uint8_t {
  invalid = 1,      ///< the request makes no sense: fix it
  denied = 2,       ///< this user may not, or observe-only: ask the administrator
  busy = 3,         ///< somebody else holds it: wait
  unknown_gpu = 4,  ///< there is no such GPU
  limits = 5,       ///< the administrator's limits leave nothing of what was asked
  unavailable = 6,  ///< the GPU or its driver does not answer, or is not yet restored
  too_many = 7,     ///< too many connections or leases
  version = 8,      ///< the other side speaks another version
};

enum class GpuState : std::uint8_t {
  free = 1,
  leased = 2,
  restoring = 3,    ///< the last lease has ended, its previous state is not back yet
  unavailable = 4,  ///< lost, or its driver does not answer
};

/// Who holds a GPU. All zero and empty: nobody.
struct Owner {
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  std::string command;
};

// From the client.
struct Hello {
  std::uint32_t id = 0;
  std::uint16_t version = kProtocolVersion;
  std::string program;
};
struct ListGpus {
  std::uint32_t id = 0;
};
struct Acquire {
  std::uint32_t id = 0;
  std::string gpu;  ///< UUID
  Terms terms;
};
/// Says that the client is alive; renews all of its leases. Has no reply.
struct Heartbeat {};
struct Release {
  std::uint32_t id = 0;
  std::uint64_t lease = 0;
};

// From the daemon.
struct Welcome {
  std::uint32_t id = 0;
  std::uint16_t version = kProtocolVersion;
  bool observe_only = false;
  std::string server;
};
struct GpuEntry {
  std::string gpu;   ///< UUID
  std::string name;  ///< the product's
  GpuState state = GpuState::free;
  Owner owner;
  Terms limits;                    ///< what the administrator allows at most
  std::optional<ClockPair> asked;  ///< what the active lease has set; none: no lease is active
};
struct Gpus {
  std::uint32_t id = 0;
  std::vector<GpuEntry> gpus;
};
struct Granted {
  std::uint32_t id = 0;
  std::uint64_t lease = 0;
  Terms terms;
  Seconds heartbeat;  ///< longest silence of the client before the lease ends
};
struct Refused {
  std::uint32_t id = 0;
  Refusal reason = Refusal::invalid;
  std::string message;
  Owner owner;  ///< with `busy`
};
struct Released {
  std::uint32_t id = 0;
  bool restored = false;  ///< whether the previous state is back, by read-back
  std::string message;    ///< if not: what failed
};

/// A message's type on the wire is its position here plus one: only ever append.
using Message = std::variant<Hello, ListGpus, Acquire, Heartbeat, Release, Welcome, Gpus, Granted,
                             Refused, Released>;

/// The whole frame. Texts and lists longer than the bound are cut, and what is unprintable is
/// escaped, so that every frame can be decoded.
[[nodiscard]] std::string encode(const Message& message);

/// The message in one frame's payload.
[[nodiscard]] Result<Message> decode(std::uint16_t type, std::string_view payload);

/// Cuts a stream of bytes into messages. Holds at most one frame beyond what was handed in.
class FrameReader {
 public:
  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole message; none when more bytes are needed. An error is final.
  [[nodiscard]] Result<std::optional<Message>> next();
  /// Bytes that are held and not yet given out.
  [[nodiscard]] std::size_t buffered() const { return buffer_.size() - consumed_; }

 private:
  std::string buffer_;
  std::size_t consumed_ = 0;
};

}  // namespace negawatt::lease
