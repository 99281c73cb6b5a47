// SPDX-License-Identifier: Apache-2.0
//
// The fast path of a lease: one shared page in which the client leaves the newest clocks it wants
// and the daemon says what it did. Two ends: RequestEnd in the client, ServiceEnd in the daemon.
//
// A request is one 64-bit word, so it can never be seen half written, and a newer one replaces an
// older one that nobody has taken. The client may write anything anywhere in the page: the daemon
// reads that one word, checks what it says, and believes nothing else; the page is sealed against
// shrinking; the daemon never reads or writes the doorbell (it watches for edges) and wakes the
// client by futex, so nothing the client does can make it wait. Times are CLOCK_MONOTONIC.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/result.hpp"
#include "core/units.hpp"
#include "lease/clock_pair.hpp"
#include "lease/file_descriptor.hpp"

namespace negawatt::lease {

enum class LeaseState : std::uint8_t {
  pending = 1,  ///< granted; waits until the client's process tree is on the GPU
  active = 2,   ///< the one writer of this GPU
  ended = 3,    ///< over: the previous state is back, or on its way
};

enum class EndReason : std::uint8_t {
  none = 0,
  released = 1,
  disconnected = 2,
  died = 3,
  silent = 4,      ///< no heartbeat for too long
  expired = 5,     ///< the duration is over
  not_on_gpu = 6,  ///< no process of the client's tree uses the GPU
  busy = 7,        ///< another client became the writer while this lease was pending
  failed = 8,      ///< the GPU or the journal failed
  shutdown = 9,    ///< the daemon stops
  denied = 10,     ///< split by MIG since it was granted, and not to be leased so
};

enum class Outcome : std::uint8_t {
  none = 0,            ///< no request has been handled yet
  applied = 1,         ///< the driver accepted it and reads back as asked
  unchanged = 2,       ///< those clocks were already set
  outside_limits = 3,  ///< beyond what was granted: nothing changed
  unsupported = 4,     ///< the driver cannot set this domain: nothing changed
  failed = 5,          ///< the driver failed: the previous state is back, or the lease ends
};

/// A request as the daemon takes it. Sequences count up and wrap around.
struct Request {
  std::uint32_t sequence = 0;
  ClockPair clocks;
};

/// What became of a request.
struct Applied {
  std::uint32_t sequence = 0;
  ClockPair clocks;  ///< the clocks that are set now
  Outcome outcome = Outcome::none;
  std::int64_t time_ns = 0;  ///< when the driver had answered
};

/// Whether sequence `a` is `b` or came after it, across the wrap.
[[nodiscard]] constexpr bool at_or_after(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) >= 0;
}

/// A shared page in this process's memory; unmapped at its end.
class MappedPage {
 public:
  MappedPage() = default;
  explicit MappedPage(void* address) : address_(address) {}
  MappedPage(MappedPage&& other) noexcept : address_(other.address_) { other.address_ = nullptr; }
  MappedPage& operator=(MappedPage&& other) noexcept {
    std::swap(address_, other.address_);
    return *this;
  }
  ~MappedPage();
  [[nodiscard]] void* address() const { return address_; }

 private:
  void* address_ = nullptr;
};

/// The daemon's end. One thread takes and publishes.
class ServiceEnd {
 public:
  [[nodiscard]] static Result<ServiceEnd> create();

  [[nodiscard]] int page_descriptor() const { return page_file_.number(); }
  /// Watch it with EPOLLIN | EPOLLET; never read it.
  [[nodiscard]] int doorbell() const { return doorbell_.number(); }

  /// The newest request, unless it was taken before.
  [[nodiscard]] std::optional<Request> take();
  /// Tells the client what became of the request, and wakes it.
  void publish(const Applied& applied);
  /// Tells the client where its lease stands, and wakes it.
  void publish(LeaseState state, EndReason reason);

 private:
  ServiceEnd(FileDescriptor page_file, FileDescriptor doorbell, MappedPage page);
  void wake();

  FileDescriptor page_file_;
  FileDescriptor doorbell_;
  MappedPage page_;
  std::uint32_t taken_ = 0;         // sequence of the last request that was taken
  std::uint32_t publications_ = 0;  // ours: the copy in the page is the client's to spoil
};

/// The client's end. request() from one thread at a time; the rest from any.
class RequestEnd {
 public:
  /// Takes over the descriptors that came with `granted`. Fails when they are no mailbox.
  [[nodiscard]] static Result<RequestEnd> open(std::array<FileDescriptor, 2> page_and_doorbell);

  /// Leaves `clocks` as the newest request; costs one system call. Returns its sequence.
  std::uint32_t request(ClockPair clocks);
  /// What the daemon said last. Fails when it stopped in the middle of saying it.
  [[nodiscard]] Result<Applied> applied() const;
  [[nodiscard]] LeaseState state() const;
  [[nodiscard]] EndReason end_reason() const;
  /// Waits until the daemon has said something new since publication number `seen`, or `timeout`.
  void wait(std::uint32_t seen, Seconds timeout) const;
  [[nodiscard]] std::uint32_t publications() const;

 private:
  RequestEnd(FileDescriptor doorbell, MappedPage page);

  FileDescriptor doorbell_;
  MappedPage page_;
  std::uint32_t sequence_ = 0;
};

}  // namespace negawatt::lease
