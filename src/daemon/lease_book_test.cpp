// SPDX-License-Identifier: Apache-2.0
#include "daemon/lease_book.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace negawatt::daemon {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};

LeaseRecord record(std::size_t gpu, std::uint64_t client, std::uint32_t uid) {
  return {.gpu = gpu,
          .client = client,
          .owner = {.pid = 1, .uid = uid, .command = "a"},
          .longest_silence = seconds(3),
          .last_heard = kStart};
}

TEST(LeaseBook, OnlyAnActiveLeaseIsAWriter) {
  LeaseBook book;
  auto& lease = book.add(record(0, 1, 1000));
  EXPECT_EQ(book.writer_of(0), nullptr);
  EXPECT_TRUE(book.is_pending(0, 1000));
  EXPECT_FALSE(book.is_pending(0, 1001));
  EXPECT_FALSE(book.is_pending(1, 1000));
  lease.active = true;
  ASSERT_NE(book.writer_of(0), nullptr);
  EXPECT_FALSE(book.is_pending(0, 1000));
  lease.ending = true;
  EXPECT_EQ(book.writer_of(0), nullptr) << "the next client may wait for the restore";
}

TEST(LeaseBook, LeasesThatAreEndingAreBoundedByUserAndInAll) {
  LeaseBook book;
  for (std::size_t i = 0; i < kMostEndingOfUser; ++i) {
    EXPECT_TRUE(book.may_end_more(0, 1000)) << i;
    book.add(record(0, 1, 1000)).ending = true;
    book.add(record(0, 1, 1001));
  }
  EXPECT_FALSE(book.may_end_more(0, 1000));
  EXPECT_TRUE(book.may_end_more(0, 1001)) << "theirs are not ending";
  EXPECT_TRUE(book.may_end_more(1, 1000)) << "another GPU";
  for (std::uint32_t uid = 2000; uid < 2000 + kMostEnding - kMostEndingOfUser; ++uid) {
    EXPECT_TRUE(book.may_end_more(0, uid)) << uid;
    book.add(record(0, 1, uid)).ending = true;
  }
  EXPECT_FALSE(book.may_end_more(0, 9999));
}

TEST(LeaseBook, SilenceEndsALeaseAndAHeartbeatKeepsIt) {
  LeaseBook book;
  book.add(record(0, 1, 1000));
  book.add(record(1, 2, 1000));
  EXPECT_EQ(book.next_deadline(), kStart + seconds(3));
  book.heard(1, kStart + seconds(2));
  const auto due = book.due(kStart + seconds(3));
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].id, 2U);
  EXPECT_EQ(due[0].reason, lease::EndReason::silent);
  EXPECT_EQ(book.due(kStart + seconds(5)).size(), 2U);
}

TEST(LeaseBook, ALeaseExpiresHoweverAliveItsClientIs) {
  LeaseBook book;
  book.add(record(0, 1, 1000)).expires = kStart + seconds(10);
  book.heard(1, kStart + seconds(9));
  EXPECT_TRUE(book.due(kStart + seconds(9)).empty());
  const auto due = book.due(kStart + seconds(10));
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].reason, lease::EndReason::expired);
}

TEST(LeaseBook, ALeaseThatEndsIsNotDueAgainAndWakesNobody) {
  LeaseBook book;
  book.add(record(0, 1, 1000)).ending = true;
  EXPECT_TRUE(book.due(kStart + seconds(100)).empty());
  EXPECT_FALSE(book.next_deadline());
}

TEST(LeaseBook, IdsAreNeverUsedAgain) {
  LeaseBook book;
  const auto first = book.add(record(0, 1, 1)).id;
  book.erase(first);
  EXPECT_TRUE(book.empty());
  EXPECT_NE(book.add(record(0, 1, 1)).id, first);
  EXPECT_EQ(book.find(first), nullptr);
}

}  // namespace
}  // namespace negawatt::daemon
