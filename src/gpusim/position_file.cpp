// SPDX-License-Identifier: Apache-2.0
#include "gpusim/position_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "gpusim/futex.hpp"

namespace negawatt::gpusim {
namespace {

constexpr std::size_t kPageBytes = 4096;

trace::PositionPage* map_page(const char* path) {
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* page = MAP_FAILED;
  if (const int error = ::posix_fallocate(fd, 0, kPageBytes); error != 0)
    errno = error;
  else
    page = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return page == MAP_FAILED ? nullptr : static_cast<trace::PositionPage*>(page);
}

}  // namespace

PositionFile::PositionFile() {
  const char* path = std::getenv("NEGAWATT_POSITION");
  if (path == nullptr || *path == '\0') return;
  page_ = map_page(path);
  if (page_ != nullptr)
    trace::format(*page_, static_cast<std::uint32_t>(::getpid()));
  else
    problem_ = fmt::format("no position page '{}': {}", path, std::strerror(errno));
}

PositionFile::~PositionFile() {
  if (page_ != nullptr) ::munmap(page_, kPageBytes);
}

void PositionFile::write(const trace::Position& position) {
  if (page_ != nullptr && trace::write(*page_, position)) futex_wake_all(page_->sequence);
}

}  // namespace negawatt::gpusim
