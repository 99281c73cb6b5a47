// SPDX-License-Identifier: Apache-2.0
//
// The recorder where the world does not cooperate: slow and full disks, killed and forking
// programs, descriptors that the program takes away.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>

#include "inject/recorder.hpp"
#include "tests/recorded_file.hpp"

namespace negawatt::inject {
namespace {

using testing::kSomeHeader;
using testing::Noise;
using testing::of_kind;
using testing::recorded;
using testing::unhurried;
using Kind = trace::RecordingEnding::Kind;

class RecorderInTrouble : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  std::string path_ = folder_.path("run.nwrec");
};

std::string refusal(const std::string& path) {
  const auto recorder = Recorder::open(path, kSomeHeader);
  return recorder ? "" : recorder.error().message;
}

TEST_F(RecorderInTrouble, SaysWhyItCannotBegin) {
  EXPECT_EQ(refusal("/dev/full"), "/dev/full: cannot be recorded to: No space left on device");
  EXPECT_EQ(refusal("/dev/null/run"), "/dev/null/run: cannot be recorded to: Not a directory");
  RecorderLimits endless;
  endless.text_bytes = SIZE_MAX;
  const auto recorder = Recorder::open(path_, kSomeHeader, endless);
  ASSERT_FALSE(recorder) << "no memory is an error, not an end";
}

/// Holds the whole process to files of so many bytes, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(RecorderInTrouble, EndsWithTheDiskAndKeepsWhatIsWhole) {
  RecorderTally tally;
  {
    const FileSizeLimit limit(700'000);  // a few blocks and a part of the next
    const auto recorder = Recorder::open(path_, kSomeHeader, unhurried()).value();
    Noise noise;
    for (int i = 0; i < 150'000; ++i) recorder->add(noise.next());
    EXPECT_TRUE(recorder->close({1}));
    tally = recorder->tally();
  }
  EXPECT_EQ(tally.error, EFBIG);
  EXPECT_GE(tally.blocks, 2U);
  EXPECT_GT(tally.unwritten, 0U);
  const auto all = recorded(path_);
  EXPECT_EQ(all.ending.kind, Kind::open) << "the torn block was taken back";
  EXPECT_EQ(all.ending.whole_blocks, tally.blocks + 1) << "and the header's";
  EXPECT_EQ(of_kind<trace::Sample>(all).size() + tally.unwritten, 150'001U) << "and the end";
  EXPECT_EQ(tally.bytes, std::filesystem::file_size(path_));
}

/// A disk that takes 64 KiB and then nothing until somebody reads.
class SlowDisk {
 public:
  explicit SlowDisk(const std::string& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    reading_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  }
  /// Reads until the recorder closes its end.
  std::string rest() const {
    ::fcntl(reading_, F_SETFL, 0);
    std::string all;
    std::array<char, 4096> part;
    for (ssize_t count = 0; (count = ::read(reading_, part.data(), part.size())) > 0;) {
      all.append(part.data(), static_cast<std::size_t>(count));
    }
    ::close(reading_);
    return all;
  }

 private:
  int reading_ = -1;
};

TEST_F(RecorderInTrouble, DropsAndCountsWhereTheDiskIsTooSlow) {
  const SlowDisk disk(path_);
  auto limits = unhurried();
  limits.blocks = 2;
  auto recorder = Recorder::open(path_, kSomeHeader, limits).value();
  Noise noise;
  for (int i = 0; i < 100'000; ++i) recorder->add(noise.next());  // returns: nobody waits
  std::string bytes;
  std::jthread reader([&] { bytes = disk.rest(); });
  ASSERT_TRUE(recorder->close({200'000}));
  const auto tally = recorder->tally();
  recorder.reset();
  reader.join();

  EXPECT_GT(tally.dropped, 40'000U) << "2 blocks hold at most 50,000";
  EXPECT_EQ(tally.events + tally.dropped, 100'000U);
  const auto all = testing::whole(testing::reader_of(bytes));
  EXPECT_EQ(all.ending.kind, Kind::closed);
  EXPECT_EQ(of_kind<trace::Sample>(all).size(), tally.events);
  std::uint64_t counted = 0;
  for (const auto& drop : of_kind<trace::Dropped>(all)) counted += drop.count;
  EXPECT_EQ(counted, tally.dropped);
  EXPECT_EQ(of_kind<trace::Dropped>(all).back().to, trace::Instant{100'000});
}

TEST_F(RecorderInTrouble, DoesNotWaitForADiskThatIsGone) {
  static const SlowDisk* const kDisk = new SlowDisk(path_);  // never read; the process ends with it
  ASSERT_NE(kDisk, nullptr);
  auto limits = unhurried();
  limits.patience = Seconds(0);
  const auto recorder = Recorder::open(path_, kSomeHeader, limits).value();
  Noise noise;
  for (int i = 0; i < 30'000; ++i) recorder->add(noise.next());
  EXPECT_FALSE(recorder->close({100'000}));
}

TEST_F(RecorderInTrouble, LosesAtMostTheLastFlushWhenTheProgramIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto limits = unhurried();
    limits.flush = Seconds(1e-3);
    const auto recorder = Recorder::open(path_, kSomeHeader, limits).value();
    for (int i = 1; i <= 1000; ++i) recorder->add(trace::RangePop{{i}, 1, 0});
    while (recorder->tally().blocks == 0) std::this_thread::yield();
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto all = recorded(path_);
  EXPECT_EQ(all.ending.kind, Kind::open);
  EXPECT_GT(all.events.size(), 0U);
  EXPECT_EQ(trace::time_of(all.events.front()), trace::Instant{1});
}

TEST_F(RecorderInTrouble, LeavesAForkedChildAlone) {
  auto recorder = Recorder::open(path_, kSomeHeader, unhurried()).value();
  recorder->add(trace::RangePop{{1}, 1, 0});
  const pid_t child = ::fork();
  if (child == 0) {
    recorder->abandon();
    recorder->add(trace::RangePop{{2}, 1, 0});
    const bool is_silent = recorder->text("child") == 0 && recorder->tally().events == 0;
    recorder.reset();  // neither joins a thread that is not there nor writes
    ::_exit(is_silent ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  recorder.reset();
  EXPECT_EQ(of_kind<trace::RangePop>(recorded(path_)).size(), 1U);
}

/// The descriptor that leads to a file.
int descriptor_of(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) {
      return std::stoi(entry.path().filename());
    }
  }
  return -1;
}

TEST_F(RecorderInTrouble, NeverWritesToAFileThatTheProgramOpenedInItsPlace) {
  const std::string other = folder_.path("weights.pt");
  const auto recorder = Recorder::open(path_, kSomeHeader, unhurried()).value();
  recorder->add(trace::RangePop{{1}, 1, 0});
  const int ours = descriptor_of(std::filesystem::canonical(path_));
  ASSERT_GE(ours, 0);
  const int theirs = ::open(other.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::dup2(theirs, ours), ours);
  EXPECT_TRUE(recorder->close({2}));
  EXPECT_EQ(recorder->tally().error, EBADF);
  EXPECT_EQ(std::filesystem::file_size(other), 0U);
  ::close(theirs);
  ::close(ours);
}

}  // namespace
}  // namespace negawatt::inject
