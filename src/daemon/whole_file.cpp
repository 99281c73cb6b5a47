// SPDX-License-Identifier: Apache-2.0
#include "daemon/whole_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "lease/file_descriptor.hpp"

namespace negawatt::daemon {
namespace {

tl::unexpected<Error> cannot_read(const std::string& path) {
  return failure(Code::invalid, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
}

}  // namespace

Result<std::string> whole_file(const std::string& path, std::size_t most) {
  const lease::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.is_open()) return cannot_read(path);
  std::string bytes;
  std::array<char, 4096> part;
  while (bytes.size() <= most) {
    const auto wanted = std::min(part.size(), most + 1 - bytes.size());
    const auto size = ::read(file.number(), part.data(), wanted);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot_read(path);
    if (size == 0) break;
    bytes.append(part.data(), static_cast<std::size_t>(size));
  }
  return bytes;
}

}  // namespace negawatt::daemon
