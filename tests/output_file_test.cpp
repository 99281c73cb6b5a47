// SPDX-License-Identifier: Apache-2.0
//
// Where --out leads to stays what it is: a pipe is written to, the links and the permissions of a
// file stay.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  OutputFile() {
    folder.file("r.csv", "input_tokens,output_tokens\n8,8\n");
    folder.file("s.csv",
                "system,model,input_tokens,output_tokens,energy_j,runtime_s\nsmall,m,8,8,7,4\n");
  }
  Finished assign_into(const std::string& out) {
    return run_negawatt(folder, "assign --json --requests r.csv --systems s.csv --out " + out);
  }
  static void expect_result(const std::string& bytes) {
    const auto json = nlohmann::json::parse(bytes, nullptr, false);
    ASSERT_TRUE(json.is_object()) << bytes;
    EXPECT_EQ(json["energy_j"], 7.0);
  }
  void expect_result_in(const std::string& name) {
    const auto bytes = read_file(folder.path(name));
    ASSERT_TRUE(bytes) << name;
    expect_result(*bytes);
  }

  TemporaryFolder folder;
};

TEST_F(OutputFile, APipeIsWrittenTo) {
  const auto path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  // Open for both, so that nobody waits for the other end.
  const int pipe = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(pipe, 0);
  const auto run = assign_into("pipe");
  EXPECT_EQ(run.exit_code, 0) << run.error;
  std::array<char, 65536> bytes{};
  const auto got = ::read(pipe, bytes.data(), bytes.size());
  ::close(pipe);
  ASSERT_GT(got, 0);
  expect_result(std::string(bytes.data(), static_cast<std::size_t>(got)));
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(OutputFile, ALinkStaysAndItsTargetIsReplaced) {
  fs::create_directory(folder.path("results"));
  folder.file("results/target", "old");
  fs::create_symlink("results/target", folder.path("second"));
  fs::create_symlink("second", folder.path("first"));
  const auto run = assign_into("first");
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_TRUE(fs::is_symlink(folder.path("first")));
  EXPECT_TRUE(fs::is_symlink(folder.path("second")));
  EXPECT_FALSE(fs::is_symlink(folder.path("results/target")));
  expect_result_in("results/target");
}

TEST_F(OutputFile, ALinkToNothingYetMakesItsTarget) {
  fs::create_symlink("target", folder.path("link"));
  EXPECT_EQ(assign_into("link").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  expect_result_in("target");
  // A ring of links leads nowhere, and is left as it is.
  fs::create_symlink("b", folder.path("a"));
  fs::create_symlink("a", folder.path("b"));
  EXPECT_EQ(assign_into("a").exit_code, 1);
  EXPECT_TRUE(fs::is_symlink(folder.path("a")));
  EXPECT_TRUE(fs::is_symlink(folder.path("b")));
}

TEST_F(OutputFile, APrivateFileStaysPrivate) {
  folder.file("private", "old");
  const auto mode = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(folder.path("private"), mode);
  EXPECT_EQ(assign_into("private").exit_code, 0);
  EXPECT_EQ(fs::status(folder.path("private")).permissions(), mode);
  expect_result_in("private");
}

TEST_F(OutputFile, AFolderIsNoFile) {
  fs::create_directory(folder.path("results"));
  const auto run = assign_into("results");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.error, "negawatt: cannot write 'results': Is a directory\n");
}

}  // namespace
}  // namespace negawatt::testing
