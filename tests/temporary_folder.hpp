// SPDX-License-Identifier: Apache-2.0
//
// A place on disk that a test may fill; it is gone when the test is.
#pragma once

#include <stdlib.h>  // mkdtemp is not in <cstdlib>

#include <filesystem>
#include <fstream>
#include <string>

namespace negawatt::testing {

/// A folder of its own for one test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "negawatt-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace negawatt::testing
