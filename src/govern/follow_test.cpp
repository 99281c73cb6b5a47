// SPDX-License-Identifier: Apache-2.0
//
// Follows a program in a thread of this process, on the machine's clock and a driver that has no
// time of its own: the way of a real GPU.
#include "govern/follow.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "govern/apart.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::govern {
namespace {

using std::chrono::microseconds;
using trace::Clock;
using trace::ClockPair;
using trace::Position;
using trace::ProgramState;

const ClockPair kLow{Clock::locked_mhz(1410), {}};
const ClockPair kHigh{Clock::locked_mhz(1980), {}};

// Of NVML: NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, NVML_ERROR_NOT_SUPPORTED.
constexpr unsigned kEnergyField = 83;
constexpr int kNotSupported = 3;

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// A first invocation of 0.3 ms, then seven of 3 ms, if so expected; the clocks change in the
/// middle.
Execution plan(Seconds before_a_change = Seconds(0.003)) {
  Execution plan;
  plan.kernels = {"k"};
  plan.sequence.assign(8, 0);
  plan.expected.assign(8, Seconds(0.003));
  plan.expected.front() = Seconds(0.0003);
  plan.expected[3] = plan.expected[7] = before_a_change;
  plan.segments = {{.first = 0, .last = 3, .clocks = kHigh},
                   {.first = 4, .last = 7, .clocks = kLow}};
  return plan;
}

/// Of an iteration: from `first` to before `end`.
struct Invocations {
  std::uint32_t end = 8;
  std::uint32_t first = 0;
};

/// What a program does on its page, invocation by invocation, in real time.
class Program {
 public:
  explicit Program(const PositionMap& map)
      : page_(const_cast<trace::PositionPage&>(map.page())) {  // NOLINT: it owns the page
    trace::format(page_, 1);
  }

  /// `iterations` of these invocations.
  void run(int iterations, Invocations of = {}) {
    for (int i = 0; i < iterations; ++i, ++iteration_) {
      const auto started = now_ns();
      for (std::uint32_t n = of.first; n < of.end; ++n) {
        tell({.iteration = iteration_,
              .invocation = n,
              .started_ns = now_ns(),
              .iteration_started_ns = started,
              .previous_invocations = iteration_ > 0 ? length_before_ : 0,
              .state = ProgramState::running});
        std::this_thread::sleep_for(microseconds(n == 0 ? 300 : 3000));
      }
      length_before_ = of.end;
    }
  }
  void finish() { tell({.iteration = iteration_, .state = ProgramState::finished}); }

 private:
  void tell(const Position& position) {
    if (trace::write(page_, position))
      ::syscall(SYS_futex, &page_.sequence, FUTEX_WAKE, 100, nullptr, nullptr, 0);
  }
  trace::PositionPage& page_;
  std::uint64_t iteration_ = 0;
  std::uint32_t length_before_ = 0;
};

struct Asked {
  ClockPair clocks;
  std::uint64_t at_ns = 0;
};

class Follow : public ::testing::Test {
 protected:
  Follow() {
    // Its counter stands still: looking for its period would only take time.
    library_.state().field_always[kEnergyField] = kNotSupported;
  }
  /// Follows `program` to its end.
  template <class Work>
  Followed follow_program(Work work, const FollowOptions& options = {}) {
    const auto map = PositionMap::create();
    EXPECT_TRUE(map);
    Program program(*map);
    std::thread thread([&] {
      work(program);
      program.finish();
    });
    const Actuator actuator{
        .is_ready = [this](Seconds, const std::stop_token&) { return is_ready_(); },
        .ask =
            [this](ClockPair clocks, const std::stop_token&) {
              asked_.push_back({clocks, now_ns()});
              return answer_();
            }};
    auto followed = follow(planned_, *map, library_.device(), actuator, options, {});
    thread.join();
    // Those who look at the driver must be gone before it is scripted again.
    EXPECT_TRUE(Apart::all_ended_within(Seconds(20)));
    return followed;
  }

  Execution planned_ = plan();
  testing::TinyLibrary library_{NEGAWATT_TINY_NVML_OLD};
  std::function<bool()> is_ready_ = [] { return true; };
  std::function<Status()> answer_ = [] { return Status(); };
  std::vector<Asked> asked_;
};

TEST_F(Follow, SeesEveryIterationOfAProgramWhoseFirstInvocationIsShort) {
  const auto followed =
      follow_program([](Program& program) { program.run(30); }, {.warm_up = 2, .governs = true});
  EXPECT_GE(followed.achieved.iterations, 25U) << "27, less what a busy machine misses";
  EXPECT_LE(followed.punctuality.missed_iterations, 2U);
  EXPECT_GE(followed.achieved.mean.time.in_si(), 0.0213);
  EXPECT_NE(followed.pace, 1.0);
  EXPECT_FALSE(followed.was_off_plan);
  ASSERT_GE(asked_.size(), 40U) << "two changes an iteration";
  EXPECT_EQ(followed.accepted, asked_.size());
}

TEST_F(Follow, IsWokenByThePositionItWaitsFor) {
  // Invocations before a change take a tenth of what is expected: it cannot be foreseen, and
  // without a notice would be noticed some 6 ms late.
  planned_ = plan(Seconds(0.030));
  std::vector<std::uint64_t> began;
  (void)follow_program([&](Program& program) {
    for (int i = 0; i < 30; ++i) {
      began.push_back(now_ns());
      program.run(1);
    }
  });
  std::vector<std::uint64_t> late;
  for (const auto& request : asked_) {
    if (request.clocks != kHigh) continue;  // for the start of an iteration
    const auto next = std::ranges::upper_bound(began, request.at_ns);
    if (next != began.begin()) late.push_back(request.at_ns - *std::prev(next));
  }
  ASSERT_GE(late.size(), 15U);
  std::ranges::sort(late);
  EXPECT_LT(late[late.size() / 2], 2'000'000U);
}

TEST_F(Follow, AsksAgainForWhatWasRefused) {
  answer_ = [calls = 0]() mutable -> Status {
    if (++calls > 2) return {};
    return failure(Code::unavailable, "no permission");
  };
  // The program stands in its first segment: nothing else is to be asked for.
  const auto followed = follow_program([](Program& program) {
    program.run(1, {.end = 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
  });
  ASSERT_EQ(asked_.size(), 3U);
  EXPECT_EQ(followed.requests, 3U);
  EXPECT_EQ(followed.refused, 2U);
  EXPECT_EQ(followed.accepted, 1U);
  EXPECT_EQ(followed.last_refusal, "no permission");
  EXPECT_GE(asked_[1].at_ns - asked_[0].at_ns, 100'000'000U);
  EXPECT_GE(asked_[2].at_ns - asked_[1].at_ns, 200'000'000U) << "less and less often";
}

TEST_F(Follow, GivesTheClocksBackToAProgramThatLeavesThePlan) {
  const auto followed = follow_program([](Program& program) {
    program.run(3);
    program.run(3, {.end = 5});
    program.run(3);
  });
  EXPECT_TRUE(followed.was_off_plan);
  ASSERT_GE(asked_.size(), 2U);
  EXPECT_EQ(asked_.back().clocks, ClockPair{});
  EXPECT_EQ(std::ranges::count(asked_, ClockPair{}, &Asked::clocks), 1);
}

TEST_F(Follow, AsksNothingForAProgramThatNeverWasOnThePlan) {
  const auto followed =
      follow_program([](Program& program) { program.run(3, {.end = 9, .first = 8}); });
  EXPECT_TRUE(followed.was_off_plan);
  EXPECT_TRUE(followed.became_ready);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Follow, CountsNothingThatCouldNotBeAskedFor) {
  is_ready_ = [] { return false; };
  const auto followed = follow_program([](Program& program) { program.run(5); });
  EXPECT_TRUE(asked_.empty());
  EXPECT_FALSE(followed.became_ready);
  EXPECT_EQ(followed.accepted, 0U);
  EXPECT_EQ(followed.punctuality.changes, 0U);
  EXPECT_EQ(followed.punctuality.late, 0U);
  EXPECT_EQ(followed.achieved.iterations, 2U) << "it is measured all the same";
}

TEST_F(Follow, AsksNoMoreOnceTheLeaseHasEnded) {
  is_ready_ = [looks = 0]() mutable { return ++looks < 5; };
  answer_ = [] { return Status(failure(Code::unavailable, "it ended")); };
  const auto followed = follow_program([](Program& program) { program.run(20); });
  EXPECT_TRUE(followed.became_ready);
  EXPECT_TRUE(followed.lost_clocks);
  EXPECT_LT(asked_.size(), 5U);
  EXPECT_EQ(followed.punctuality.changes + 1, std::max<std::size_t>(asked_.size(), 1));
}

TEST_F(Follow, KnowsWhetherTheProgramUsesTheGpu) {
  const auto own = static_cast<unsigned>(::getpid());
  const FollowOptions watch{.governs = false,
                            .is_ours = [own](std::uint32_t pid) { return descends(pid, own); }};
  const auto program = [](Program& runs) { runs.run(3); };
  EXPECT_EQ(follow_program(program, watch).use, Use::absent);
  library_.card().pids = {1};  // somebody else
  EXPECT_EQ(follow_program(program, watch).use, Use::absent);
  library_.card().pids = {4'200'000, 1};  // a number that no process here can have
  EXPECT_EQ(follow_program([](Program& runs) { runs.run(10); }, watch).use, Use::unknown);
  library_.card().pids = {1, own};
  EXPECT_EQ(follow_program(program, watch).use, Use::present);
  library_.state().always["nvmlDeviceGetComputeRunningProcesses"] = kNotSupported;
  library_.state().always["nvmlDeviceGetComputeRunningProcesses_v2"] = kNotSupported;
  library_.state().always["nvmlDeviceGetComputeRunningProcesses_v3"] = kNotSupported;
  EXPECT_EQ(follow_program(program, watch).use, Use::unknown);
}

TEST(Descends, OverGenerationsThatLive) {
  const auto own = static_cast<std::uint32_t>(::getpid());
  EXPECT_TRUE(descends(own, own));
  EXPECT_TRUE(descends(own, static_cast<std::uint32_t>(::getppid())));
  EXPECT_FALSE(descends(static_cast<std::uint32_t>(::getppid()), own));
  EXPECT_FALSE(parent_of(4'000'000'000U));
}

}  // namespace
}  // namespace negawatt::govern
