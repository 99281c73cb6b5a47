// SPDX-License-Identifier: Apache-2.0
#include "gpu/journal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ios>
#include <random>
#include <sstream>

#include "tests/temporary_folder.hpp"

namespace negawatt::gpu {
namespace {

namespace fs = std::filesystem;

const GpuId kGpu("GPU-1");
const Backup kCore{kGpu, CoreLock{ClockRange::exactly({1410})}};
const Backup kMemory{kGpu, MemoryLock{}};

class JournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] Journal open() const {
    auto journal = Journal::open(path_);
    EXPECT_TRUE(journal) << journal.error().message;
    return *std::move(journal);
  }
  [[nodiscard]] std::string bytes() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }
  void add(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.path("journal");
};

TEST_F(JournalTest, RemembersWhatIsOutstanding) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.save(kCore));
    ASSERT_TRUE(journal.save(kMemory));
    ASSERT_TRUE(journal.restored(kGpu, Knob::core_lock));
  }
  EXPECT_EQ(open().outstanding(), (std::vector<Backup>{kMemory}));
}

TEST_F(JournalTest, NeverOverwritesABackup) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.save(kCore));
    ASSERT_TRUE(journal.save({kGpu, CoreLock{}}));
  }
  Journal journal = open();
  ASSERT_TRUE(journal.save({kGpu, CoreLock{}}));
  EXPECT_EQ(journal.outstanding(), (std::vector<Backup>{kCore}));
}

TEST_F(JournalTest, RemembersEveryLimitThatWasAskedFor) {
  const Backup power{kGpu, PowerLimit{{700'000}}};
  {
    Journal journal = open();
    EXPECT_FALSE(journal.asked(kGpu, {500'000})) << "nothing is saved that it could be about";
    ASSERT_TRUE(journal.save(power));
    ASSERT_TRUE(journal.asked(kGpu, {500'000}));
    const auto size = bytes().size();
    ASSERT_TRUE(journal.asked(kGpu, {500'000}));
    EXPECT_EQ(bytes().size(), size) << "noted once";
    ASSERT_TRUE(journal.asked(kGpu, {600'000}));
  }
  auto expected = power;
  expected.asked = {{500'000}, {600'000}};
  // Opening writes it anew.
  EXPECT_EQ(open().outstanding(), (std::vector<Backup>{expected}));
  EXPECT_EQ(open().outstanding(), (std::vector<Backup>{expected}));
}

TEST_F(JournalTest, HoldsABoundedNumberOfLimits) {
  Journal journal = open();
  ASSERT_TRUE(journal.save({kGpu, PowerLimit{{700'000}}}));
  std::uint32_t limit = 1;
  while (limit < 1000 && journal.asked(kGpu, {limit})) ++limit;
  EXPECT_EQ(limit, kMostAsked + 1);
  EXPECT_TRUE(journal.asked(kGpu, {1})) << "it is there";
}

TEST_F(JournalTest, IsHeldByOneProcessAtATime) {
  const Journal journal = open();
  const auto second = Journal::open(path_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("in use by another process"), std::string::npos);
}

TEST_F(JournalTest, SurvivesATornTail) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.save(kCore));
  }
  add("save GPU-1 memory no");
  {
    Journal journal = open();
    EXPECT_EQ(journal.damaged(), 0U);
    EXPECT_EQ(journal.outstanding(), (std::vector<Backup>{kCore}));
    ASSERT_TRUE(journal.save(kMemory));
  }
  EXPECT_EQ(open().outstanding(), (std::vector<Backup>{kCore, kMemory}));
}

TEST_F(JournalTest, KeepsACopyOfADamagedFileAndSaysSo) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.save(kCore));
  }
  add("save GPU-1 memory none 00000000\n");
  EXPECT_EQ(open().damaged(), 1U);
  EXPECT_TRUE(fs::exists(path_ + ".damaged"));
  EXPECT_EQ(open().damaged(), 0U);
  // What is damaged later is kept too, beside the first.
  add("save GPU-2 memory none 00000000\n");
  EXPECT_EQ(open().damaged(), 1U);
  const auto copy = [&](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(path_ + name, std::ios::binary).rdbuf();
    return text.str();
  };
  EXPECT_NE(copy(".damaged").find("GPU-1 memory"), std::string::npos);
  EXPECT_NE(copy(".damaged.1").find("GPU-2 memory"), std::string::npos);
  for (int i = 2; i < 10; ++i) {
    add("x\n");
    EXPECT_EQ(open().damaged(), 1U);
  }
  add("y\n");
  const auto full = Journal::open(path_);
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("remove them"), std::string::npos);
  EXPECT_NE(bytes().find("y\n"), std::string::npos) << "nothing is lost";
}

TEST_F(JournalTest, LeavesAFileAloneThatIsNotAJournal) {
  add("something else\n");
  const auto journal = Journal::open(path_);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, Code::invalid);
  EXPECT_EQ(bytes(), "something else\n");
}

TEST_F(JournalTest, FailsPlainlyWithoutItsFolder) {
  const auto journal = Journal::open(folder_.path("none/journal"));
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("No such file"), std::string::npos);
}

TEST_F(JournalTest, StaysSmallHoweverManyChanges) {
  Journal journal = open();
  ASSERT_TRUE(journal.save(kMemory));
  for (int i = 0; i < 250; ++i) {
    ASSERT_TRUE(journal.save(kCore));
    ASSERT_TRUE(journal.restored(kGpu, Knob::core_lock));
    ASSERT_LE(fs::file_size(path_), 16U * 1024U);
  }
  EXPECT_EQ(journal.outstanding(), (std::vector<Backup>{kMemory}));
}

/// No file grows beyond `size` while it lives: a full disk, for one process.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t size) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{.rlim_cur = size, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_F(JournalTest, SavesAllOrNothingOnAFullDisk) {
  Journal journal = open();
  ASSERT_TRUE(journal.save(kCore));
  const std::string before = bytes();
  {
    const FullDisk disk(before.size() + 5);
    EXPECT_FALSE(journal.save(kMemory));
  }
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(journal.outstanding(), (std::vector<Backup>{kCore}));
  EXPECT_TRUE(journal.save(kMemory));
}

TEST_F(JournalTest, OpensOnAFullDiskForWhatHasToBeRestored) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.save(kCore));
  }
  const FullDisk disk(10);
  EXPECT_EQ(open().outstanding(), (std::vector<Backup>{kCore}));
}

/// Changes knobs for ever and tells through the pipe which state is on disk: a knob's letter when
/// it is saved, in lower case when it is restored, a '+' before and the letter after the call.
[[noreturn]] void change_for_ever(const std::string& path, int pipe) {
  auto journal = Journal::open(path);
  if (!journal) _exit(1);
  const auto tell = [pipe](char letter) {
    if (write(pipe, &letter, 1) != 1) _exit(1);
  };
  for (;;) {
    for (const bool first : {true, false}) {
      tell('+');
      if (!journal->save(first ? kCore : kMemory)) _exit(1);
      tell(first ? 'C' : 'M');
    }
    for (const bool first : {true, false}) {
      tell('+');
      if (!journal->restored(kGpu, first ? Knob::core_lock : Knob::memory_lock)) _exit(1);
      tell(first ? 'c' : 'm');
    }
  }
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

/// What must be outstanding after the letters told; of the step that was under way either.
std::vector<std::vector<Backup>> possible(const std::string& told) {
  const std::vector<std::vector<Backup>> states = {{}, {kCore}, {kCore, kMemory}, {kMemory}};
  const auto done = static_cast<std::size_t>(
      std::ranges::count_if(told, [](char letter) { return letter != '+'; }));
  std::vector<std::vector<Backup>> result = {states[done % 4]};
  if (told.ends_with('+')) result.push_back(states[(done + 1) % 4]);
  return result;
}

TEST_F(JournalTest, HoldsAWholeStateAfterKill9AtAnyInstant) {
  std::minstd_rand random(1);
  for (int round = 0; round < 25; ++round) {
    fs::remove(path_);
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const auto child = fork();
    if (child == 0) change_for_ever(path_, ends[1]);
    close(ends[1]);
    usleep(static_cast<unsigned>(1000 + random() % 20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string told = read_all(ends[0]);
    close(ends[0]);
    const auto outstanding = open().outstanding();
    const auto expected = possible(told);
    EXPECT_NE(std::ranges::find(expected, outstanding), expected.end()) << told;
  }
}

}  // namespace
}  // namespace negawatt::gpu
