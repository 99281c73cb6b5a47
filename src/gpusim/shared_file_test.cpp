// SPDX-License-Identifier: Apache-2.0
#include "gpusim/shared_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/shared_data.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::gpusim {
namespace {

struct Page {
  std::uint64_t whole;
  std::uint64_t made_by;
  std::atomic<std::uint64_t> formatted;
};

SharedFile::Terms terms_of(const std::string& path) {
  return {.path = path,
          .bytes = sizeof(Page),
          .access = 0640,
          .format =
              [](void* data) {
                static_cast<Page*>(data)->made_by = 42;
                static_cast<Page*>(data)->formatted.fetch_add(1);
              },
          .check_whole = [](const void* data) -> Status {
            if (static_cast<const Page*>(data)->made_by == 42) return {};
            return failure(Code::invalid, "not ours");
          }};
}

class SharedFileTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  std::string path_ = folder_.path("shared");
};

TEST_F(SharedFileTest, IsFormattedOnceAndThenShared) {
  auto first = SharedFile::open(terms_of(path_));
  ASSERT_TRUE(first);
  auto second = SharedFile::open(terms_of(path_));
  ASSERT_TRUE(second);
  static_cast<Page*>(first->data())->made_by = 43;
  EXPECT_EQ(static_cast<Page*>(second->data())->made_by, 43U);
  EXPECT_EQ(static_cast<Page*>(second->data())->formatted.load(), 1U);
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
  EXPECT_FALSE(SharedFile::open(terms_of(path_))) << "the check was not asked";
}

TEST_F(SharedFileTest, ManyProcessesThatRaceFormatItOnce) {
  for (int i = 0; i < 8; ++i) {
    if (::fork() == 0) ::_exit(SharedFile::open(terms_of(path_)) ? 0 : 1);
  }
  int status = 0;
  while (::wait(&status) > 0) EXPECT_EQ(status, 0);
  auto file = SharedFile::open(terms_of(path_));
  ASSERT_TRUE(file);
  EXPECT_EQ(static_cast<Page*>(file->data())->formatted.load(), 1U);
}

TEST_F(SharedFileTest, WhatAKilledProcessLeftHalfMadeIsMadeAgain) {
  if (::fork() == 0) {
    auto terms = terms_of(path_);
    terms.format = [](void* data) {
      static_cast<Page*>(data)->made_by = 7;
      ::raise(SIGKILL);
    };
    (void)SharedFile::open(terms);
  }
  ::wait(nullptr);
  ASSERT_TRUE(std::filesystem::exists(path_));
  auto file = SharedFile::open(terms_of(path_));
  ASSERT_TRUE(file);
  EXPECT_EQ(static_cast<Page*>(file->data())->made_by, 42U);
}

TEST_F(SharedFileTest, AFileOfAnotherSizeIsLeftAlone) {
  std::ofstream(path_) << "somebody's text";
  const auto file = SharedFile::open(terms_of(path_));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("remove it"), std::string::npos);
  EXPECT_EQ(testing::read_file(path_), "somebody's text");
}

TEST_F(SharedFileTest, AFullDiskIsAnErrorNotASignal) {
  if (::fork() == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{.rlim_cur = 8, .rlim_max = 8};
    ::setrlimit(RLIMIT_FSIZE, &none);
    ::_exit(SharedFile::open(terms_of(path_)) ? 1 : 0);
  }
  int status = 0;
  ::wait(&status);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(SharedFile::open(terms_of(path_))) << "the failed attempt is in the way";
}

TEST_F(SharedFileTest, ALinkIsNotFollowed) {
  std::filesystem::create_symlink(folder_.path("elsewhere"), path_);
  EXPECT_FALSE(SharedFile::open(terms_of(path_)));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("elsewhere")));
}

}  // namespace
}  // namespace negawatt::gpusim
