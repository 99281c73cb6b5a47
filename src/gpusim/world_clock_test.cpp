// SPDX-License-Identifier: Apache-2.0
#include "gpusim/world_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gpusim/futex.hpp"

namespace negawatt::gpusim {
namespace {

using ::testing::ElementsAre;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMs;

class WorldClockTest : public ::testing::Test {
 protected:
  WorldClock make(TimeFlow flow) {
    state_ = std::make_unique<ClockState>();
    WorldClock::format(*state_, flow);
    return WorldClock(*state_);
  }
  WorldClock make_virtual() { return make({.mode = TimeMode::virtual_time}); }

  std::unique_ptr<ClockState> state_;
};

TEST_F(WorldClockTest, RealTimeIsTheMachines) {
  auto clock = make({});
  Seat seat;
  const auto begin = monotonic_ns();
  const auto from = clock.now_ns();
  clock.sleep_until(seat, from + 5 * kMs);
  EXPECT_GE(clock.now_ns(), from + 5 * kMs);
  EXPECT_GE(monotonic_ns() - begin, 5 * kMs);
  EXPECT_LT(monotonic_ns() - begin, 500 * kMs);
}

TEST_F(WorldClockTest, ScaledTimePassesFasterByItsFactor) {
  auto clock = make({.mode = TimeMode::scaled, .factor = 1000});
  Seat seat;
  const auto begin = monotonic_ns();
  const auto from = clock.now_ns();
  clock.sleep_until(seat, from + 20 * kSecond);
  EXPECT_GE(clock.now_ns(), from + 20 * kSecond);
  EXPECT_GE(monotonic_ns() - begin, 20 * kMs);
  EXPECT_LT(monotonic_ns() - begin, 500 * kMs);
  clock.spend(seat, kSecond);
  EXPECT_GE(clock.now_ns(), from + 21 * kSecond);
}

TEST_F(WorldClockTest, VirtualTimeStandsStillWhileSomebodyWhoJoinedIsAwake) {
  auto clock = make_virtual();
  Seat seat;
  ASSERT_TRUE(clock.join(seat));
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_EQ(clock.now_ns(), 0);
  clock.sleep_until(seat, 3600 * kSecond);
  EXPECT_EQ(clock.now_ns(), 3600 * kSecond);
  clock.sleep_until(seat, kSecond);
  EXPECT_EQ(clock.now_ns(), 3600 * kSecond) << "it went back";
  clock.leave(seat);
}

/// Each sleeper notes who it is, and when, at each of its times. They fall asleep in their order.
std::vector<std::string> diary_of(ClockState& state,
                                  const std::vector<std::vector<std::int64_t>>& sleepers) {
  WorldClock clock(state);
  std::vector<std::string> diary;  // no lock: only one joined thread runs at any time
  std::atomic<std::size_t> joined = 0;
  std::vector<std::thread> threads;
  for (std::size_t who = 0; who < sleepers.size(); ++who) {
    threads.emplace_back([&, who] {
      Seat seat;
      EXPECT_TRUE(clock.join(seat));
      ++joined;
      while (joined < sleepers.size() || std::atomic_ref(state.sleeps).load() < who)
        std::this_thread::yield();
      for (const auto time : sleepers[who]) {
        clock.sleep_until(seat, time);
        diary.push_back(std::to_string(who) + "@" + std::to_string(clock.now_ns()));
      }
      clock.leave(seat);
    });
  }
  for (auto& thread : threads) thread.join();
  return diary;
}

TEST_F(WorldClockTest, SleepersWakeOneByOneInTheOrderOfTheirTimes) {
  (void)make_virtual();
  EXPECT_THAT(diary_of(*state_, {{10, 40, 50}, {20, 30}, {15, 60}}),
              ElementsAre("0@10", "2@15", "1@20", "1@30", "0@40", "0@50", "2@60"));
}

TEST_F(WorldClockTest, OfThoseDueAtTheSameTimeWhoFellAsleepFirstWakesFirst) {
  (void)make_virtual();
  EXPECT_THAT(diary_of(*state_, {{20, 30}, {20, 30}, {10, 30}}),
              ElementsAre("2@10", "0@20", "1@20", "2@30", "0@30", "1@30"));
}

TEST_F(WorldClockTest, ANotificationWakesASleeperBeforeItsTime) {
  auto clock = make_virtual();
  std::atomic<bool> waits = false;
  std::thread sleeper([&] {
    Seat seat;
    ASSERT_TRUE(clock.join(seat));
    waits = true;
    clock.sleep_until(seat, kNever);
    EXPECT_EQ(clock.now_ns(), 0);
    clock.leave(seat);
  });
  while (!waits) std::this_thread::yield();
  Seat seat;
  clock.notify(seat);
  sleeper.join();
}

TEST_F(WorldClockTest, ANotificationBetweenTwoSleepsIsNotLost) {
  for (const auto mode : {TimeMode::real, TimeMode::virtual_time}) {
    auto clock = make({.mode = mode});
    Seat sleeper;
    Seat other;
    ASSERT_TRUE(clock.join(sleeper));
    clock.sleep_until(sleeper, clock.now_ns());
    clock.notify(other);
    clock.sleep_until(sleeper, kNever);  // returns, or this test hangs
    clock.leave(sleeper);
  }
}

TEST_F(WorldClockTest, OnesOwnNotificationIsNoNews) {
  auto clock = make_virtual();
  Seat seat;
  ASSERT_TRUE(clock.join(seat));
  clock.notify(seat);
  clock.sleep_until(seat, kSecond);
  EXPECT_EQ(clock.now_ns(), kSecond);
  clock.leave(seat);
}

TEST_F(WorldClockTest, SpendingTimeIsNotCutShortByANotification) {
  auto clock = make_virtual();
  Seat seat;
  Seat other;
  ASSERT_TRUE(clock.join(seat));
  clock.notify(other);
  clock.spend(seat, kSecond);
  EXPECT_EQ(clock.now_ns(), kSecond);
  clock.sleep_until(seat, 5 * kSecond);
  EXPECT_EQ(clock.now_ns(), kSecond) << "the notification was forgotten";
  clock.leave(seat);
}

TEST_F(WorldClockTest, AGuestOfVirtualTimeIsWokenWhenOthersReachItsTime) {
  auto clock = make_virtual();
  Seat seat;
  ASSERT_TRUE(clock.join(seat));
  std::atomic<bool> woke = false;
  std::thread guest([&] {
    Seat own;
    clock.sleep_until(own, kSecond);
    EXPECT_GE(clock.now_ns(), kSecond);
    woke = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(woke);
  clock.sleep_until(seat, 2 * kSecond);
  guest.join();
  clock.leave(seat);
}

TEST_F(WorldClockTest, AThreadThatEndsWithoutLeavingDoesNotStopTime) {
  auto clock = make_virtual();
  Seat seat;
  ASSERT_TRUE(clock.join(seat));
  std::thread([&] {
    Seat own;
    EXPECT_TRUE(clock.join(own));
  }).join();
  clock.sleep_until(seat, kSecond);
  EXPECT_EQ(clock.now_ns(), kSecond);
  clock.leave(seat);
}

TEST_F(WorldClockTest, ChairsOfTheDeadAreUsedAgain) {
  auto clock = make_virtual();
  for (std::size_t i = 0; i < 2 * kMostJoined; ++i) {
    std::thread([&] {
      Seat own;
      EXPECT_TRUE(clock.join(own));
    }).join();
  }
  EXPECT_LE(state_->chairs_used, 2U);
}

TEST_F(WorldClockTest, MoreThreadsThanThereAreChairsAreRefused) {
  auto clock = make_virtual();
  std::vector<Seat> seats(kMostJoined + 1);  // one thread may sit on all of them
  for (std::size_t i = 0; i < kMostJoined; ++i) ASSERT_TRUE(clock.join(seats[i]));
  EXPECT_FALSE(clock.join(seats.back()));
  for (auto& seat : seats) clock.leave(seat);
}

}  // namespace
}  // namespace negawatt::gpusim
