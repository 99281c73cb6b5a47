// SPDX-License-Identifier: Apache-2.0
#include "govern/position_map.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace negawatt::govern {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "negawatt-position-";
// Between making its file and locking it, another process may take it for a dead one's.
constexpr int kMostTries = 5;

/// Removes the file of a page whose owner no longer lives. Only the owner's own user can.
void remove_if_abandoned(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return;
  struct stat status{};
  const bool is_ours =
      ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
  if (is_ours && ::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(file);
}

void remove_abandoned(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with(kPrefix))
      remove_if_abandoned(entry->path().string());
}

/// Makes room for a page in the file and maps it; null with errno set.
void* map_page(int file) {
  // A file that only seems to have room ends the writing process by SIGBUS.
  if (const int error = ::posix_fallocate(file, 0, sizeof(trace::PositionPage)); error != 0) {
    errno = error;
    return nullptr;
  }
  void* memory =
      ::mmap(nullptr, sizeof(trace::PositionPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// A new file that is locked and still there.
int make_file(std::string& path) {
  const auto pattern = path;
  for (int tries = 0; tries < kMostTries; ++tries) {
    path = pattern;
    const int file = ::mkostemp(path.data(), O_CLOEXEC);
    if (file < 0) return -1;
    // A file system without locks only means that nobody tidies up after us.
    const bool is_free = ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    struct stat status{};
    if (is_free && ::fstat(file, &status) == 0 && status.st_nlink > 0) return file;
    ::close(file);
  }
  errno = EBUSY;
  return -1;
}

}  // namespace

Result<PositionMap> PositionMap::create() {
  std::error_code none;
  const std::array<std::string, 2> folders = {"/dev/shm", fs::temp_directory_path(none).string()};
  return create(folders);
}

Result<PositionMap> PositionMap::create(std::span<const std::string> folders) {
  Error why{.message = "no folder for a position page"};
  for (const auto& folder : folders) {
    auto map = create_in(folder);
    if (map) return map;
    why = std::move(map).error();
  }
  return tl::unexpected(std::move(why));
}

Result<PositionMap> PositionMap::create_in(const std::string& folder) {
  remove_abandoned(folder);
  auto path = fmt::format("{}/{}{}-XXXXXX", folder, kPrefix, ::getpid());
  const int file = make_file(path);
  void* memory = file < 0 ? nullptr : map_page(file);
  if (memory == nullptr) {
    auto error = failure(Code::internal, fmt::format("cannot make a position page in '{}': {}",
                                                     folder, std::strerror(errno)));
    if (file >= 0) ::unlink(path.c_str()), ::close(file);
    return error;
  }
  auto* page = new (memory) trace::PositionPage;
  trace::format(*page, 0);
  return PositionMap(std::move(path), file, page);
}

PositionMap::~PositionMap() {
  if (page_ == nullptr) return;
  ::munmap(page_, sizeof(trace::PositionPage));
  ::unlink(path_.c_str());
  ::close(file_);
}

PositionMap::PositionMap(PositionMap&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      page_(std::exchange(other.page_, nullptr)) {}

std::uint32_t PositionMap::sequence() const {
  return page_->sequence.load(std::memory_order_acquire);
}

void PositionMap::wait(std::uint32_t seen, Seconds most) const {
  const double whole = std::floor(std::max(0.0, most.in_si()));
  const timespec time{.tv_sec = static_cast<time_t>(whole),
                      .tv_nsec = static_cast<long>((std::max(0.0, most.in_si()) - whole) * 1e9)};
  page_->waiting.fetch_add(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // The kernel compares again: a position that is written from here on ends the sleep.
  ::syscall(SYS_futex, &page_->sequence, FUTEX_WAIT, seen, &time, nullptr, 0);
  page_->waiting.fetch_sub(1);
}

}  // namespace negawatt::govern
