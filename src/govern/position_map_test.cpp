// SPDX-License-Identifier: Apache-2.0
#include "govern/position_map.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace negawatt::govern {
namespace {

using std::chrono::steady_clock;
using testing::TemporaryFolder;

TEST(PositionMap, IsAFileThatGoesWithIt) {
  const TemporaryFolder folder;
  const std::vector folders = {folder.path("")};
  std::string path;
  {
    const auto map = PositionMap::create(folders);
    ASSERT_TRUE(map) << map.error().message;
    path = map->path();
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(*trace::read(map->page()), trace::Position{});
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PositionMap, TakesTheNextFolderWhereTheFirstHasNoRoom) {
  const TemporaryFolder folder;
  const std::vector folders = {folder.path("none"), folder.path("")};
  const auto map = PositionMap::create(folders);
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_TRUE(map->path().starts_with(folder.path(""))) << map->path();
}

TEST(PositionMap, AFullFolderIsAnErrorAndNoSignal) {
  const TemporaryFolder folder;
  const std::vector folders = {folder.path("")};
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit nothing{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &nothing);  // no file can grow
  const auto map = PositionMap::create(folders);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(map);
  EXPECT_NE(map.error().message.find("cannot make a position page"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
}

TEST(PositionMap, RemovesThePagesOfTheDeadOnly) {
  const TemporaryFolder folder;
  const std::vector folders = {folder.path("")};
  const auto left = folder.file("negawatt-position-1-abcdef", "");  // nobody has it locked
  const auto foreign = folder.file("another-position-1-abcdef", "");
  const auto first = PositionMap::create(folders);
  ASSERT_TRUE(first);
  const auto second = PositionMap::create(folders);
  ASSERT_TRUE(second);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(foreign));
  EXPECT_TRUE(std::filesystem::exists(first->path()));
}

TEST(PositionMap, AWaitEndsWithTheNextPosition) {
  const auto map = PositionMap::create();
  ASSERT_TRUE(map);
  const int file = ::open(map->path().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  ::close(file);
  auto& page = const_cast<trace::PositionPage&>(map->page());
  const auto seen = map->sequence();
  std::thread writer([&page] {
    while (page.waiting.load() == 0) std::this_thread::yield();
    ASSERT_TRUE(trace::write(page, {.iteration = 1}));
    ::syscall(SYS_futex, &page.sequence, FUTEX_WAKE, 100, nullptr, nullptr, 0);
  });
  const auto began = steady_clock::now();
  while (map->sequence() == seen) map->wait(seen, Seconds(20));
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(10));
  writer.join();
  EXPECT_EQ(page.waiting.load(), 0U);
  map->wait(seen, Seconds(20));  // what has passed is not waited for
  map->wait(map->sequence(), Seconds(0.001));
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(10));
}

}  // namespace
}  // namespace negawatt::govern
