// SPDX-License-Identifier: Apache-2.0
//
// Files that tests read. Those of the repository must be there; measured data that may not be
// redistributed lies in ../shared/data on a developer's machine, and tests skip loudly without it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace negawatt::testing {

inline std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A file below the repository's root, as "data/gpt3-xl-3080ti/kernels.csv".
inline std::string repository_file(const std::string& path) {
  auto bytes = read_file(std::string(NEGAWATT_SOURCE_DIR) + "/" + path);
  if (!bytes) ADD_FAILURE() << "missing file " << path;
  return bytes.value_or("");
}

/// A file below ../shared/data, or nothing on a machine that has none.
inline std::optional<std::string> shared_file(const std::string& path) {
  return read_file(std::string(NEGAWATT_SOURCE_DIR) + "/../shared/data/" + path);
}

}  // namespace negawatt::testing

// NOLINTBEGIN(bugprone-macro-parentheses): a declared name cannot stand in parentheses
/// Declares `variable` with the bytes of a file in ../shared/data, or skips the test.
#define NW_SHARED_FILE_OR_SKIP(variable, path)                                       \
  const auto variable##_bytes = ::negawatt::testing::shared_file(path);              \
  if (!variable##_bytes) GTEST_SKIP() << "SKIPPED: needs ../shared/data/" << (path); \
  const std::string& variable = *variable##_bytes
// NOLINTEND(bugprone-macro-parentheses)
