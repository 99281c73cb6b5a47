// SPDX-License-Identifier: Apache-2.0
#include "daemon/rate_limit.hpp"

#include <algorithm>

namespace negawatt::daemon {

double RateLimit::tokens(const Bucket& bucket, TimePoint now) const {
  const std::chrono::duration<double> seconds = now - bucket.filled;
  return std::min(burst_, bucket.tokens + seconds.count() * per_second_);
}

bool RateLimit::take(std::uint32_t uid, TimePoint now) {
  std::erase_if(buckets_, [&](const auto& entry) { return tokens(entry.second, now) >= burst_; });
  auto& bucket = buckets_.try_emplace(uid, Bucket{burst_, now}).first->second;
  bucket = {tokens(bucket, now), now};
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

}  // namespace negawatt::daemon
