// SPDX-License-Identifier: Apache-2.0
#include "sweep/log_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace negawatt::sweep {
namespace {

class LogFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "negawatt-log-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = (folder_ / "sweep.visits").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<LogFile> open(const std::string& setup = "one") {
    return LogFile::open(path_, setup, {"gemm", "gelu"});
  }
  static Visit visit(std::uint32_t kernel) {
    return {.kernel = kernel, .time = Seconds(1), .energy = Joules(2), .calls = 3};
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(LogFileTest, GoesOnWhereItStopped) {
  {
    auto log = open();
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_TRUE(log->earlier().empty());
    ASSERT_TRUE(log->append(visit(0)));
    ASSERT_TRUE(log->append(visit(1)));
  }
  {
    auto again = open();
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(again->earlier().size(), 2U);
    EXPECT_EQ(again->earlier()[1].kernel, 1U);
    ASSERT_TRUE(again->append(visit(0)));
  }
  EXPECT_EQ(open()->earlier().size(), 3U);
}

TEST_F(LogFileTest, OneSweepAtATimeWritesIt) {
  {
    auto log = open();
    ASSERT_TRUE(log);
    const auto second = open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::unavailable);
    EXPECT_EQ(second.error().message, "'" + path_ + "': another sweep writes it");
    ASSERT_TRUE(log->append(visit(0)));
  }
  EXPECT_EQ(open()->earlier().size(), 1U);
}

TEST_F(LogFileTest, SurvivesAKillAtAnyByte) {
  {
    auto log = open();
    ASSERT_TRUE(log->append(visit(0)));
    ASSERT_TRUE(log->append(visit(1)));
  }
  const auto size = std::filesystem::file_size(path_);
  for (auto cut = size; cut-- > 0;) {
    std::filesystem::resize_file(path_, cut);
    std::size_t before = 0;
    {
      auto log = open();
      ASSERT_TRUE(log) << cut << ": " << log.error().message;
      before = log->earlier().size();
      ASSERT_TRUE(log->append(visit(1)));
    }
    ASSERT_EQ(open()->earlier().size(), before + 1) << cut;
    std::filesystem::resize_file(path_, std::min(cut, std::filesystem::file_size(path_)));
  }
}

TEST_F(LogFileTest, RefusesAnotherSetupAndForeignFiles) {
  ASSERT_TRUE(open());
  const auto other = open("two");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            path_ + ": a sweep of another setup (one), expected (two); remove it to start anew");
  std::ofstream(path_) << "some\nother\nfile\n";
  EXPECT_FALSE(open());
  EXPECT_EQ(std::filesystem::file_size(path_), 16U);  // left as it is
}

}  // namespace
}  // namespace negawatt::sweep
