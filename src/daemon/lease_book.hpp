// SPDX-License-Identifier: Apache-2.0
//
// The leases that the main thread knows of, and when each one ends by itself. For every GPU one
// writer and one pending lease a user; those that are ending wait for the GPU's worker, which may
// wait for its driver, so that whoever adds leases has to ask may_end_more() first: then they are
// bounded too. Takes the time as an argument; nothing fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lease/mailbox.hpp"
#include "lease/protocol.hpp"

namespace negawatt::daemon {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

/// Leases of one GPU whose end the worker has not come to, of one user and in all.
inline constexpr std::size_t kMostEndingOfUser = 4;
inline constexpr std::size_t kMostEnding = 64;

struct LeaseRecord {
  std::uint64_t id = 0;
  std::size_t gpu = 0;
  std::uint64_t client = 0;  ///< 0: gone
  lease::Owner owner;
  bool active = false;
  bool ending = false;                           ///< the worker has been told
  std::optional<std::uint32_t> release_request;  ///< the client waits for the reply to it
  Duration longest_silence{};
  TimePoint last_heard;
  std::optional<TimePoint> expires;
};

class LeaseBook {
 public:
  /// Gives the record its id.
  LeaseRecord& add(LeaseRecord record);
  [[nodiscard]] LeaseRecord* find(std::uint64_t id);
  void erase(std::uint64_t id);
  [[nodiscard]] bool empty() const { return records_.empty(); }

  /// Who holds the GPU, if anybody.
  [[nodiscard]] const LeaseRecord* writer_of(std::size_t gpu) const;
  /// Whether this user has a pending lease there already.
  [[nodiscard]] bool is_pending(std::size_t gpu, std::uint32_t uid) const;
  /// Whether another lease of this user may come to its end there: too many are ending already.
  [[nodiscard]] bool may_end_more(std::size_t gpu, std::uint32_t uid) const;
  [[nodiscard]] std::vector<std::uint64_t> of_client(std::uint64_t client) const;
  [[nodiscard]] std::vector<LeaseRecord>& records() { return records_; }

  /// The client is alive: its leases go on.
  void heard(std::uint64_t client, TimePoint now);

  struct Due {
    std::uint64_t id = 0;
    lease::EndReason reason = lease::EndReason::none;
  };
  /// Leases that are over by `now` and whose worker has not been told.
  [[nodiscard]] std::vector<Due> due(TimePoint now) const;
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;

 private:
  std::vector<LeaseRecord> records_;
  std::uint64_t last_id_ = 0;
};

}  // namespace negawatt::daemon
