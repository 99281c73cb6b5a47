// SPDX-License-Identifier: Apache-2.0
#include "inject/recorder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <set>
#include <thread>
#include <variant>

#include "tests/recorded_file.hpp"

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

// The binary's own, to count what a thread allocates. Inlined, g++ would take them for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace negawatt::inject {
namespace {

using testing::kSomeHeader;
using testing::of_kind;
using testing::recorded;
using testing::unhurried;

class RecorderTest : public ::testing::Test {
 protected:
  RecorderHandle open(const RecorderLimits& limits = unhurried()) {
    return Recorder::open(path, kSomeHeader, limits).value();
  }
  testing::TemporaryFolder folder;
  std::string path = folder.path("run.nwrec");
};

TEST_F(RecorderTest, WritesWhatAReaderGivesBack) {
  {
    const auto recorder = open();
    const auto shape = recorder->kernel_class("gemm", {.grid = {8, 1, 1}, .block = {128, 1, 1}});
    const auto lane = recorder->lane({0, 1, 7});
    EXPECT_EQ(recorder->kernel_class("gemm", {.grid = {8, 1, 1}, .block = {128, 1, 1}}), shape);
    EXPECT_NE(recorder->kernel_class("gemm", {.grid = {9, 1, 1}, .block = {128, 1, 1}}), shape);
    const auto sensor = recorder->sensor(
        "nvml", {.quantity = trace::SensorQuantity::energy_counter_mj, .period_ns = 20'000'000});
    EXPECT_EQ(recorder->sensor("nvml", {.quantity = trace::SensorQuantity::energy_counter_mj,
                                        .period_ns = 20'000'000}),
              sensor);
    recorder->add(trace::KernelRun{{100}, {200}, shape, lane, 5, {}});
    recorder->add(trace::Sample{{150}, sensor, 12'345});
    EXPECT_TRUE(recorder->close({300}));
    EXPECT_EQ(recorder->tally().events, 2U);
  }
  const auto all = recorded(path);
  EXPECT_EQ(all.header, kSomeHeader);
  EXPECT_EQ(all.ending.kind, trace::RecordingEnding::Kind::closed);
  ASSERT_EQ(all.events.size(), 3U);
  EXPECT_EQ(std::get<trace::KernelRun>(all.events[0]).end, trace::Instant{200});
  EXPECT_EQ(std::get<trace::Sample>(all.events[1]).value, 12'345U);
  EXPECT_EQ(std::get<trace::Closed>(all.events[2]).at, trace::Instant{300});
}

TEST_F(RecorderTest, TakesEventsOfManyThreadsWholeAndOnce) {
  constexpr std::uint32_t kThreads = 4, kEach = 20'000;
  {
    const auto recorder = open();
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&recorder, thread] {
        for (std::uint32_t i = 0; i < kEach; ++i) {
          const auto name = "kernel_" + std::to_string(i % 100);
          const auto shape = recorder->kernel_class(name, {});
          const auto lane = recorder->lane({0, 1, thread});
          recorder->add(trace::KernelRun{{i + 1}, {i + 2}, shape, lane, thread * kEach + i, {}});
        }
      });
    }
  }
  const std::string bytes = testing::bytes_of(path);
  auto reader = testing::reader_of(bytes);
  std::set<std::uint32_t> seen;
  while (const auto event = reader.next().value()) {
    const auto* kernel = std::get_if<trace::KernelRun>(&*event);
    if (kernel == nullptr) continue;
    seen.insert(kernel->correlation);
    const auto name = reader.tables().classes()[kernel->kernel_class].name;
    EXPECT_EQ(reader.tables().text(name),
              "kernel_" + std::to_string(kernel->correlation % kEach % 100));
    EXPECT_EQ(reader.tables().lanes()[kernel->lane].stream, kernel->correlation / kEach);
  }
  EXPECT_EQ(seen.size(), kThreads * kEach);
  EXPECT_EQ(reader.tables().classes().size(), 101U);
  EXPECT_EQ(reader.ending()->kind, trace::RecordingEnding::Kind::closed);
}

TEST_F(RecorderTest, AllocatesNothingOnceItIsOpen) {
  const auto recorder = open();
  const std::uint64_t before = allocations;
  std::array<char, 16> name{"kernel_0000"};
  for (std::uint32_t i = 0; i < 100'000; ++i) {  // several blocks, new names and lanes among them
    name[7 + i % 4] = static_cast<char>('0' + i / 4 % 10);
    const auto shape = recorder->kernel_class(name.data(), {.dynamic_shared_bytes = i % 1000});
    const auto lane = recorder->lane({0, 1, i % 100});
    recorder->add(trace::KernelRun{{i + 1}, {i + 2}, shape, lane, i, {}});
  }
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(recorder->tally().events + recorder->tally().dropped, 100'000U);
}

TEST_F(RecorderTest, DropsAndCountsImpossibleTimes) {
  {
    const auto recorder = open();
    recorder->add(trace::KernelRun{{0}, {200}, 0, 0, 1, {}});
    recorder->add(trace::KernelRun{{200}, {199}, 0, 0, 2, {}});
    recorder->add(trace::RangePop{{-5}, 1, 0});
    recorder->add(trace::KernelRun{{200}, {200}, 0, 0, 3, {}});
    EXPECT_EQ(recorder->tally().dropped, 3U);
  }
  const auto all = recorded(path);
  ASSERT_EQ(of_kind<trace::KernelRun>(all).size(), 1U);
  const auto drops = of_kind<trace::Dropped>(all);
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_EQ(drops[0].count, 3U);
  EXPECT_EQ(drops[0].reason, trace::DropReason::bad_times);
}

TEST_F(RecorderTest, CallsWhatDoesNotFitItsTablesUnknown) {
  {
    auto limits = unhurried();
    limits.texts = 2, limits.classes = 2, limits.lanes = 1, limits.sensors = 1;
    const auto recorder = open(limits);
    EXPECT_EQ(recorder->kernel_class("a", {}), 1U);
    EXPECT_EQ(recorder->kernel_class("b", {}), 2U);
    EXPECT_EQ(recorder->kernel_class("c", {}), 0U);  // neither the name nor the class
    EXPECT_EQ(recorder->kernel_class("b", {}), 2U);
    EXPECT_EQ(recorder->lane({0, 0, 1}), 1U);
    EXPECT_EQ(recorder->lane({0, 0, 2}), 0U);
    EXPECT_EQ(recorder->sensor("a", {}), 1U);
    EXPECT_EQ(recorder->sensor("b", {}), 0U);
    recorder->add(trace::KernelRun{{1}, {2}, 0, 0, 1, {}});
    EXPECT_EQ(recorder->tally().lost_tables, 4U);
  }
  const auto all = recorded(path);
  EXPECT_EQ(of_kind<trace::KernelRun>(all).size(), 1U);
  EXPECT_EQ(of_kind<trace::Closed>(all).at(0).lost_tables, 4U);
}

TEST_F(RecorderTest, CutsANameThatIsTooLong) {
  const std::string name(100'000, 'n');
  {
    const auto recorder = open();
    EXPECT_EQ(recorder->text(name), 1U);
    EXPECT_EQ(recorder->text(name), 1U);
    recorder->add(trace::RangePush{{1}, 1, 0, 1});
  }
  EXPECT_EQ(of_kind<trace::RangePush>(recorded(path)).size(), 1U);
}

TEST_F(RecorderTest, CountsWhatComesAfterTheEnd) {
  const auto recorder = open();
  EXPECT_TRUE(recorder->close({5}));
  recorder->add(trace::RangePop{{6}, 1, 0});
  EXPECT_EQ(recorder->text("late"), 0U);
  EXPECT_EQ(recorder->tally().unwritten, 1U);
  EXPECT_TRUE(recorder->close({7}));
  EXPECT_EQ(recorded(path).events.size(), 1U);
}

}  // namespace
}  // namespace negawatt::inject
