// SPDX-License-Identifier: Apache-2.0
//
// How often a user may do something: a bucket of tokens each, filled at a steady rate. Takes the
// time as an argument; nothing fails. Memory: one entry for each user whose bucket is not full.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

namespace negawatt::daemon {

class RateLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Rate {
    double burst = 1;  ///< at once, at least one
    double per_second = 1;
  };
  explicit RateLimit(Rate rate) : rate_(rate) {}

  /// Takes a token. False when the user has none left.
  [[nodiscard]] bool take(std::uint32_t uid, TimePoint now);
  [[nodiscard]] std::size_t users() const { return buckets_.size(); }

 private:
  struct Bucket {
    double tokens = 0;
    TimePoint filled;
  };
  [[nodiscard]] double tokens(const Bucket& bucket, TimePoint now) const;

  Rate rate_;
  std::map<std::uint32_t, Bucket> buckets_;  // a user that is not there has a full one
};

}  // namespace negawatt::daemon
