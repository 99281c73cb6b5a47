// SPDX-License-Identifier: Apache-2.0
#include "govern/position_map.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace negawatt::govern {
namespace {

std::string folder() {
  std::error_code none;
  if (std::filesystem::is_directory("/dev/shm", none)) return "/dev/shm";
  return std::filesystem::temp_directory_path(none).string();
}

}  // namespace

Result<PositionMap> PositionMap::create() {
  std::string path = folder() + "/negawatt-position-XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  const auto refuse = [&path, file] {
    auto error = failure(Code::internal, fmt::format("cannot make a position page in '{}': {}",
                                                     path, std::strerror(errno)));
    if (file >= 0) ::close(file), ::unlink(path.c_str());
    return error;
  };
  if (file < 0 || ::ftruncate(file, sizeof(trace::PositionPage)) != 0) return refuse();
  void* memory =
      ::mmap(nullptr, sizeof(trace::PositionPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return refuse();
  ::close(file);
  auto* page = new (memory) trace::PositionPage;
  trace::format(*page, 0);
  return PositionMap(std::move(path), page);
}

PositionMap::~PositionMap() {
  if (page_ == nullptr) return;
  ::munmap(page_, sizeof(trace::PositionPage));
  ::unlink(path_.c_str());
}

PositionMap::PositionMap(PositionMap&& other) noexcept
    : path_(std::move(other.path_)), page_(std::exchange(other.page_, nullptr)) {}

}  // namespace negawatt::govern
