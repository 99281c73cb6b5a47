// SPDX-License-Identifier: Apache-2.0
//
// replay CORPUS: gives every file of a corpus to the reader, with any compiler. Files named good-*
// must be accepted, files named bad-* refused; what a fuzzer found may have any other name.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/reader.hpp"

int main(int argc, char** argv) {
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: replay CORPUS\n");
    return 2;
  }
  int good = 0;
  int bad = 0;
  int wrong = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    const auto name = entry.path().filename().string();
    std::printf("%s\n", name.c_str());
    std::fflush(stdout);  // so that the name is there when the reader crashes
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const bool accepted = negawatt::fuzz::accepts(bytes);
    if (name.starts_with(accepted ? "bad-" : "good-")) {
      std::printf("  must %s accepted\n", accepted ? "not be" : "be");
      ++wrong;
    }
    ++(accepted ? good : bad);
  }
  std::printf("%d accepted, %d refused, %d of them wrongly\n", good, bad, wrong);
  // A corpus that shows only one side proves little.
  return wrong == 0 && good > 0 && bad > 0 ? 0 : 1;
}
