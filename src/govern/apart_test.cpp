// SPDX-License-Identifier: Apache-2.0
#include "govern/apart.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>

namespace negawatt::govern {
namespace {

using namespace std::chrono_literals;

/// Runs until it is released, whoever asks it to stop; or until it is asked to, if it `obeys`.
struct Work {
  std::atomic<bool> released = false;
  bool obeys = true;
  void operator()(const std::stop_token& stop) const {
    while (!released && !(obeys && stop.stop_requested())) std::this_thread::sleep_for(1ms);
  }
};

Result<Apart> start(const std::shared_ptr<Work>& work) {
  return Apart::start([work](const std::stop_token& stop) { (*work)(stop); });
}

TEST(Apart, WorkEndsWhenItIsAskedTo) {
  const auto work = std::make_shared<Work>();
  auto apart = start(work);
  ASSERT_TRUE(apart);
  EXPECT_FALSE(Apart::all_ended_within(Seconds()));
  EXPECT_TRUE(apart->ends_within(Seconds(20)));
  EXPECT_EQ(work.use_count(), 1) << "what it shared is let go of";
  EXPECT_TRUE(Apart::all_ended_within(Seconds(20)));
}

TEST(Apart, NobodyWaitsForWorkThatHangs) {
  const auto work = std::make_shared<Work>();
  work->obeys = false;
  {
    auto apart = start(work);
    ASSERT_TRUE(apart);
    EXPECT_FALSE(apart->ends_within(Seconds(0.01)));
  }
  EXPECT_FALSE(Apart::all_ended_within(Seconds(0.01)));
  work->released = true;
  EXPECT_TRUE(Apart::all_ended_within(Seconds(20)));
}

TEST(Apart, WhoGoesAwayAsksItsWorkToStop) {
  const auto work = std::make_shared<Work>();
  (void)start(work);
  EXPECT_TRUE(Apart::all_ended_within(Seconds(20)));
}

}  // namespace
}  // namespace negawatt::govern
