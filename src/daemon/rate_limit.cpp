// SPDX-License-Identifier: Apache-2.0
#include "daemon/rate_limit.hpp"

#include <algorithm>
#include <chrono>

namespace negawatt::daemon {

double RateLimit::tokens(const Bucket& bucket, TimePoint now) const {
  const std::chrono::duration<double> seconds = now - bucket.filled;
  return std::min(rate_.burst, bucket.tokens + seconds.count() * rate_.per_second);
}

bool RateLimit::take(std::uint32_t uid, TimePoint now) {
  std::erase_if(buckets_,
                [&](const auto& entry) { return tokens(entry.second, now) >= rate_.burst; });
  auto& bucket = buckets_.try_emplace(uid, Bucket{rate_.burst, now}).first->second;
  bucket = {tokens(bucket, now), now};
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

}  // namespace negawatt::daemon
