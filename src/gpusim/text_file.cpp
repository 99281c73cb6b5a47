// SPDX-License-Identifier: Apache-2.0
#include "gpusim/text_file.hpp"

#include <fmt/core.h>

#include <fstream>
#include <ios>
#include <sstream>

namespace negawatt::gpusim {

Result<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  // An empty file leaves the stream failed; a folder opens, and does not read.
  if (file && !bytes.str().empty()) return bytes.str();
  return failure(Code::invalid, fmt::format("{}: cannot be read, or is empty", path));
}

}  // namespace negawatt::gpusim
