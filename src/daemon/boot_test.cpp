// SPDX-License-Identifier: Apache-2.0
#include "daemon/boot.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/temporary_folder.hpp"

namespace negawatt::daemon {
namespace {

TEST(Boot, AnotherBootIsToldFromThisOne) {
  const testing::TemporaryFolder folder;
  const auto now = folder.file("now", "11111111-2222\n");
  const auto note = folder.path("note");
  EXPECT_FALSE(is_of_another_boot(note, now.c_str())) << "nothing is known";
  ASSERT_TRUE(note_boot(note, now.c_str()));
  EXPECT_FALSE(is_of_another_boot(note, now.c_str()));
  folder.file("now", "33333333-4444\n");
  EXPECT_TRUE(is_of_another_boot(note, now.c_str()));
  ASSERT_TRUE(note_boot(note, now.c_str()));
  EXPECT_FALSE(is_of_another_boot(note, now.c_str()));
}

TEST(Boot, ANoteThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(note_boot("/nonexistent/note"));
  EXPECT_FALSE(note_boot("/dev/full/note"));
}

TEST(Boot, WhereTheKernelDoesNotTellNothingIsNoted) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(note_boot(folder.path("note"), "/nonexistent"));
  EXPECT_FALSE(
      note_boot(folder.path("note"), folder.path("").c_str()));  // opens, and cannot be read
}

TEST(Boot, TheKernelTellsThisBoot) {
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(note_boot(folder.path("note")));
  EXPECT_FALSE(is_of_another_boot(folder.path("note")));
  EXPECT_TRUE(is_of_another_boot(folder.path("note"), "/nonexistent"));
}

}  // namespace
}  // namespace negawatt::daemon
