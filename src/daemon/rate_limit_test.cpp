// SPDX-License-Identifier: Apache-2.0
#include "daemon/rate_limit.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace negawatt::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RateLimit::TimePoint kStart{seconds(1000)};

TEST(RateLimit, ABurstThenTheRate) {
  RateLimit limit({.burst = 3, .per_second = 2});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(1, kStart)) << i;
  EXPECT_FALSE(limit.take(1, kStart));
  EXPECT_FALSE(limit.take(1, kStart + milliseconds(499)));
  EXPECT_TRUE(limit.take(1, kStart + milliseconds(500)));
  EXPECT_FALSE(limit.take(1, kStart + milliseconds(500)));
  // Never more than the burst, however long nothing was taken.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(1, kStart + seconds(100))) << i;
  EXPECT_FALSE(limit.take(1, kStart + seconds(100)));
}

TEST(RateLimit, OneUserIsNotHeldUpByAnother) {
  RateLimit limit({.burst = 1, .per_second = 1});
  EXPECT_TRUE(limit.take(1, kStart));
  EXPECT_FALSE(limit.take(1, kStart));
  EXPECT_TRUE(limit.take(2, kStart));
}

TEST(RateLimit, ForgetsUsersWhoseBucketIsFullAgain) {
  RateLimit limit({.burst = 2, .per_second = 1});
  for (std::uint32_t uid = 0; uid < 100; ++uid) EXPECT_TRUE(limit.take(uid, kStart));
  EXPECT_EQ(limit.users(), 100U);
  EXPECT_TRUE(limit.take(7, kStart + seconds(2)));
  EXPECT_EQ(limit.users(), 1U);
}

}  // namespace
}  // namespace negawatt::daemon
