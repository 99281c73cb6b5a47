// SPDX-License-Identifier: Apache-2.0
#include "trace/position.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace negawatt::trace {
namespace {

TEST(Position, ReadsBackWhatWasWritten) {
  PositionPage page{};
  format(page, 7);
  EXPECT_EQ(*read(page), Position{});
  const Position there{.iteration = 3,
                       .invocation = 896,
                       .started_ns = 12'345'678'901,
                       .iteration_started_ns = 12'000'000'000,
                       .previous_invocations = 900,
                       .state = ProgramState::running};
  write(page, there);
  EXPECT_EQ(*read(page), there);
  EXPECT_EQ(page.writer_pid, 7U);
}

TEST(Position, RefusesForeignMemory) {
  PositionPage page{};
  EXPECT_EQ(read(page).error().code, Code::invalid);
  format(page, 1);
  page.version = 1;
  EXPECT_EQ(read(page).error().message, "a position page of version 1, expected 2");
  format(page, 1);
  page.state = 256;
  EXPECT_EQ(read(page).error().code, Code::invalid);
}

TEST(Position, SaysThatItsWriterDiedInTheMiddle) {
  PositionPage page{};
  format(page, 1);
  page.sequence = 5;
  EXPECT_EQ(read(page).error().code, Code::unavailable);
  // A new writer of the same page repairs it.
  write(page, {.iteration = 1});
  EXPECT_EQ(read(page)->iteration, 1U);
}

TEST(Position, ItsWriterLearnsThatSomebodyWaits) {
  PositionPage page{};
  page.waiting = 17;  // foreign memory
  format(page, 1);
  EXPECT_FALSE(write(page, {.iteration = 1}));
  page.waiting = 1;
  EXPECT_TRUE(write(page, {.iteration = 2}));
  // A program that takes over the page of its governor must not forget who already waits there.
  format(page, 2);
  EXPECT_TRUE(write(page, {.iteration = 3}));
}

TEST(Position, IsNeverTorn) {
  PositionPage page{};
  format(page, 1);
  constexpr std::uint64_t kWrites = 200'000;
  std::thread writer([&page] {
    for (std::uint64_t n = 1; n <= kWrites; ++n)
      write(page, {.iteration = n,
                   .invocation = 2 * n,
                   .started_ns = 3 * n,
                   .iteration_started_ns = 4 * n});
  });
  std::uint64_t last = 0;
  while (last < kWrites) {
    const auto position = read(page);
    if (!position) continue;  // the writer was descheduled in the middle
    ASSERT_EQ(position->invocation, 2 * position->iteration);
    ASSERT_EQ(position->started_ns, 3 * position->iteration);
    ASSERT_EQ(position->iteration_started_ns, 4 * position->iteration);
    ASSERT_GE(position->iteration, last);
    last = position->iteration;
  }
  writer.join();
}

}  // namespace
}  // namespace negawatt::trace
