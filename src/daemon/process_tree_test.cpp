// SPDX-License-Identifier: Apache-2.0
#include "daemon/process_tree.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/temporary_folder.hpp"

namespace negawatt::daemon {
namespace {

/// A /proc of our own.
class FakeProc {
 public:
  void add(std::uint32_t pid, std::uint32_t parent, std::uint64_t started,
           const std::string& command = "a") {
    std::filesystem::create_directories(folder_.path(std::to_string(pid)));
    // Fields 3 to 22 of proc(5).
    folder_.file(fmt::format("{}/stat", pid),
                 fmt::format("{} ({}) S {} 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 {} 23\n",
                             pid, command, parent, started));
  }
  /// One that ends while it is read: the open succeeds, and the read fails.
  void add_unreadable(std::uint32_t pid) {
    std::filesystem::create_directories(folder_.path(fmt::format("{}/stat", pid)));
    std::filesystem::create_directories(folder_.path(fmt::format("{}/status", pid)));
  }
  void add_status(std::uint32_t pid, const std::string& status) {
    folder_.file(fmt::format("{}/status", pid), status);
  }
  [[nodiscard]] ProcessTree tree() const { return ProcessTree(folder_.path("")); }

 private:
  testing::TemporaryFolder folder_;
};

TEST(ProcessTree, AChildOfAnyGenerationDescendsAndAStrangerDoesNot) {
  FakeProc proc;
  proc.add(1, 0, 1);
  proc.add(100, 1, 50);
  proc.add(101, 100, 60);
  proc.add(102, 101, 60);
  proc.add(200, 1, 55);
  const auto tree = proc.tree();
  const auto client = *tree.find(100);
  EXPECT_TRUE(tree.descends(100, client));
  EXPECT_TRUE(tree.descends(101, client));
  EXPECT_TRUE(tree.descends(102, client));
  EXPECT_FALSE(tree.descends(200, client));
  EXPECT_FALSE(tree.descends(1, client));
  EXPECT_FALSE(tree.descends(999, client));
}

TEST(ProcessTree, ANumberThatIsUsedAgainIsSomebodyElse) {
  FakeProc proc;
  proc.add(1, 0, 1);
  proc.add(100, 1, 50);
  const auto client = *proc.tree().find(100);
  proc.add(100, 1, 90);  // the client has ended, another process has its number
  proc.add(101, 100, 95);
  EXPECT_FALSE(proc.tree().descends(100, client));
  EXPECT_FALSE(proc.tree().descends(101, client));
}

TEST(ProcessTree, AParentYoungerThanItsChildIsNotItsParent) {
  FakeProc proc;
  proc.add(1, 0, 1);
  proc.add(101, 100, 60);
  proc.add(100, 1, 90);
  EXPECT_FALSE(proc.tree().descends(101, *proc.tree().find(100)));
}

TEST(ProcessTree, ACircleOfParentsEnds) {
  FakeProc proc;
  proc.add(100, 101, 50);
  proc.add(101, 100, 50);
  proc.add(5, 1, 1);
  EXPECT_FALSE(proc.tree().descends(100, *proc.tree().find(5)));
}

TEST(ProcessTree, AProcessThatEndsWhileItIsReadDescendsFromNobody) {
  FakeProc proc;
  proc.add(1, 0, 1);
  proc.add_unreadable(100);
  EXPECT_FALSE(proc.tree().find(100));
  EXPECT_FALSE(proc.tree().descends(100, *proc.tree().find(1)));
  EXPECT_TRUE(proc.tree().users(100).empty());
}

TEST(ProcessTree, UsersAreTheRealTheEffectiveAndTheSavedOne) {
  FakeProc proc;
  proc.add(100, 1, 50);
  proc.add_status(100, "Name:\tUid:\\n\nUmask:\t0022\nUid:\t1000\t0\t7\t8\nGid:\t1\t2\t3\t4\n");
  EXPECT_EQ(proc.tree().users(100), (std::vector<std::uint32_t>{1000, 0, 7}));
  proc.add_status(100, "Name:\ta\nUid:\t1000\tx\n");
  EXPECT_TRUE(proc.tree().users(100).empty());
}

TEST(ProcessTree, ACommandMayHoldParenthesesAndLineEnds) {
  const auto process =
      parse_stat("7 (a) R 1 (\nb) S 3 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22000 23");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->command, "a) R 1 (\nb");
  EXPECT_EQ(process->parent, 3U);
  EXPECT_EQ(process->started, 22000U);
  EXPECT_FALSE(parse_stat(""));
  EXPECT_FALSE(parse_stat("7 (a) S 3"));
  EXPECT_FALSE(parse_stat(") (7 S"));
}

TEST(ProcessTree, ThisProcessAndItsChildAreFoundInTheRealOne) {
  const ProcessTree tree;
  const auto self = tree.find(static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, static_cast<std::uint32_t>(::getppid()));
  EXPECT_EQ(tree.users(self->pid),
            (std::vector<std::uint32_t>{::getuid(), ::geteuid(), ::geteuid()}));
  const auto child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(tree.descends(static_cast<std::uint32_t>(child), *self));
  EXPECT_FALSE(tree.descends(static_cast<std::uint32_t>(::getppid()), *self));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(tree.descends(static_cast<std::uint32_t>(child), *self));
}

}  // namespace
}  // namespace negawatt::daemon
