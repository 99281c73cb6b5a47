// SPDX-License-Identifier: Apache-2.0
#include "lease/mailbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <optional>
#include <thread>

namespace negawatt::lease {
namespace {

constexpr std::size_t kPageSize = 4096;

ClockPair clocks(std::uint32_t core, std::uint32_t memory) {
  return {core == 0 ? Clock() : Clock::locked_mhz(core),
          memory == 0 ? Clock() : Clock::locked_mhz(memory)};
}

struct BothEnds {
  BothEnds()
      : service(*ServiceEnd::create()),
        client(*RequestEnd::open({FileDescriptor(::dup(service.page_descriptor())),
                                  FileDescriptor(::dup(service.doorbell()))})) {}
  /// What the daemon takes; sequence 0 when there is nothing.
  Request taken() { return service.take().value_or(Request{}); }
  ServiceEnd service;
  RequestEnd client;
};

TEST(Mailbox, ARequestArrivesOnce) {
  BothEnds ends;
  EXPECT_FALSE(ends.service.take());
  const auto sequence = ends.client.request(clocks(1410, 0));
  const auto taken = ends.taken();
  EXPECT_EQ(taken.sequence, sequence);
  EXPECT_EQ(taken.clocks, clocks(1410, 0));
  EXPECT_FALSE(ends.service.take());
}

TEST(Mailbox, OnlyTheNewestOfManyRequestsArrives) {
  BothEnds ends;
  for (std::uint32_t mhz = 300; mhz < 400; ++mhz) ends.client.request(clocks(mhz, 2 * mhz));
  const auto taken = ends.taken();
  EXPECT_EQ(taken.clocks, clocks(399, 798));
  EXPECT_FALSE(ends.service.take());
}

TEST(Mailbox, MemoryAutomaticAndMemoryAtItsMaximumAreDifferentRequests) {
  BothEnds ends;
  ends.client.request(clocks(0, 9501));
  EXPECT_EQ(ends.taken().clocks, clocks(0, 9501));
  ends.client.request(clocks(0, 0));
  EXPECT_EQ(ends.taken().clocks, clocks(0, 0));
}

TEST(Mailbox, TheClientReadsWhatWasPublished) {
  BothEnds ends;
  EXPECT_EQ(ends.client.applied()->outcome, Outcome::none);
  ends.service.publish({.sequence = 7,
                        .clocks = clocks(1410, 2619),
                        .outcome = Outcome::outside_limits,
                        .time_ns = 123'456'789'012});
  const auto applied = ends.client.applied();
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->sequence, 7U);
  EXPECT_EQ(applied->clocks, clocks(1410, 2619));
  EXPECT_EQ(applied->outcome, Outcome::outside_limits);
  EXPECT_EQ(applied->time_ns, 123'456'789'012);
  ends.service.publish(LeaseState::ended, EndReason::silent);
  EXPECT_EQ(ends.client.state(), LeaseState::ended);
  EXPECT_EQ(ends.client.end_reason(), EndReason::silent);
}

TEST(Mailbox, AnAnswerIsNeverSeenHalfWritten) {
  BothEnds ends;
  constexpr std::uint32_t kAnswers = 200'000;
  std::jthread daemon([&] {
    for (std::uint32_t i = 1; i <= kAnswers; ++i)
      ends.service.publish({.sequence = i,
                            .clocks = clocks(i % 60'000 + 1, i % 60'000 + 1),
                            .outcome = Outcome::applied,
                            .time_ns = i});
  });
  std::uint32_t last = 0;
  while (last < kAnswers) {
    const auto applied = ends.client.applied();
    if (!applied) continue;  // preempted midway: said so
    ASSERT_EQ(applied->time_ns, applied->sequence);
    if (applied->sequence != 0) {
      ASSERT_EQ(applied->clocks.core.mhz(), applied->sequence % 60'000 + 1);
    }
    ASSERT_GE(applied->sequence, last);
    last = applied->sequence;
  }
}

TEST(Mailbox, AWaitingClientIsWokenByAnAnswer) {
  BothEnds ends;
  const auto seen = ends.client.publications();
  std::jthread daemon([&] { ends.service.publish(LeaseState::active, EndReason::none); });
  ends.client.wait(seen, Seconds(30));
  daemon.join();
  EXPECT_EQ(ends.client.state(), LeaseState::active);
}

TEST(Mailbox, AnAnswerBegunByADaemonThatDiedIsAnErrorNotAnEndlessLoop) {
  BothEnds ends;
  auto* page = static_cast<std::byte*>(::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE,
                                              MAP_SHARED, ends.service.page_descriptor(), 0));
  constexpr std::uint32_t kMidway = 1;  // an odd number of publications
  std::memcpy(page + 128, &kMidway, sizeof kMidway);
  EXPECT_FALSE(ends.client.applied());
  ::munmap(page, kPageSize);
}

TEST(Mailbox, AClientThatOverwritesThePageAndTheDoorbellChangesNothingButItsRequest) {
  BothEnds ends;
  auto* page = static_cast<std::byte*>(::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE,
                                              MAP_SHARED, ends.service.page_descriptor(), 0));
  ASSERT_NE(page, MAP_FAILED);
  std::memset(page, 0xFF, kPageSize);
  // A full doorbell that blocks: the daemon neither reads nor writes it.
  ::fcntl(ends.service.doorbell(), F_SETFL, 0);
  const std::uint64_t almost_full = std::numeric_limits<std::uint64_t>::max() - 1;
  ASSERT_EQ(::write(ends.service.doorbell(), &almost_full, sizeof almost_full), 8);

  const auto taken = ends.taken();
  EXPECT_EQ(taken.clocks, clocks(0xFFFF, 0xFFFF));
  EXPECT_FALSE(ends.service.take());
  ends.service.publish({.sequence = 3, .clocks = clocks(900, 0), .outcome = Outcome::applied});
  ends.service.publish(LeaseState::active, EndReason::none);
  // The daemon's counters do not follow the spoilt ones: whole answers appear again.
  EXPECT_EQ(ends.client.applied()->sequence, 3U);
  ::munmap(page, kPageSize);
}

TEST(Mailbox, AClientCannotShrinkThePageBelowTheDaemonsFeet) {
  BothEnds ends;
  EXPECT_NE(::ftruncate(ends.service.page_descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(ends.service.page_descriptor(), 1 << 30), 0) << "nor make it huge";
}

TEST(Mailbox, WhatIsNoMailboxIsRefused) {
  const auto doorbell = [] { return FileDescriptor(::eventfd(0, EFD_CLOEXEC)); };
  EXPECT_FALSE(RequestEnd::open({FileDescriptor(), doorbell()}));
  EXPECT_FALSE(
      RequestEnd::open({FileDescriptor(::memfd_create("empty", MFD_CLOEXEC)), doorbell()}));
  FileDescriptor zeros(::memfd_create("zeros", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(zeros.number(), kPageSize), 0);
  EXPECT_FALSE(RequestEnd::open({std::move(zeros), doorbell()}));
}

TEST(Mailbox, SequencesAreComparedAcrossTheWrap) {
  EXPECT_TRUE(at_or_after(5, 5));
  EXPECT_TRUE(at_or_after(6, 5));
  EXPECT_FALSE(at_or_after(5, 6));
  EXPECT_TRUE(at_or_after(1, 0xFFFFFFFF));
  EXPECT_FALSE(at_or_after(0xFFFFFFFF, 1));
}

}  // namespace
}  // namespace negawatt::lease
