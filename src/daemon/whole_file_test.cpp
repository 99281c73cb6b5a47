// SPDX-License-Identifier: Apache-2.0
#include "daemon/whole_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/temporary_folder.hpp"

namespace negawatt::daemon {
namespace {

TEST(WholeFile, IsReadToItsEndOrOneByteBeyondTheBound) {
  const testing::TemporaryFolder folder;
  const std::string bytes(10'000, 'x');
  const auto path = folder.file("file", bytes);
  EXPECT_EQ(whole_file(path, 20'000).value(), bytes);
  EXPECT_EQ(whole_file(path, 10'000).value(), bytes);
  EXPECT_EQ(whole_file(path, 5000).value().size(), 5001U);
  EXPECT_EQ(whole_file(folder.file("empty", ""), 10).value(), "");
}

TEST(WholeFile, AFolderAndAFileThatIsNotThereAreErrorsAndNotExceptions) {
  const testing::TemporaryFolder folder;
  const auto read = whole_file(folder.path(""), 10);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("Is a directory"), std::string::npos);
  EXPECT_FALSE(whole_file(folder.path("nothing"), 10));
}

}  // namespace
}  // namespace negawatt::daemon
