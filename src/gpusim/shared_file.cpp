// SPDX-License-Identifier: Apache-2.0
#include "gpusim/shared_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace negawatt::gpusim {
namespace {

// The file's first word once it is formatted; written last.
constexpr std::uint64_t kWhole = 0x31455355'57474E57;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> refuse(const std::string& path, std::string_view doing, int error) {
  return failure(Code::unavailable,
                 fmt::format("cannot {} '{}': {}", doing, path, std::strerror(error)));
}

/// One process at a time in here. Closing the file would not end it: the mapping keeps the file
/// open.
class Turn {
 public:
  explicit Turn(int fd) : fd_(fd) {
    while ((error_ = ::flock(fd, LOCK_EX) == 0 ? 0 : errno) == EINTR) {
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { ::flock(fd_, LOCK_UN); }
  [[nodiscard]] int error() const { return error_; }

 private:
  int fd_;
  int error_ = 0;
};

/// Gives an empty file its size, with every page allocated.
Status allocate(int fd, const SharedFile::Terms& terms) {
  if (::fchmod(fd, terms.access) != 0) return refuse(terms.path, "share", errno);
  const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(terms.bytes));
  if (error == 0) return {};
  ::ftruncate(fd, 0);
  return refuse(terms.path, "allocate", error);
}

/// O_CREAT is for who comes first: in a sticky folder it is refused on files of other users
/// (fs.protected_regular), even to root.
int open_or_create(const SharedFile::Terms& terms) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  const int fd = ::open(terms.path.c_str(), kFlags);
  if (fd >= 0 || errno != ENOENT) return fd;
  return ::open(terms.path.c_str(), kFlags | O_CREAT, terms.access);
}

}  // namespace

Result<SharedFile> SharedFile::open(const Terms& terms) {
  const Descriptor file(open_or_create(terms));
  if (file.get() < 0) return refuse(terms.path, "open", errno);
  const Turn turn(file.get());
  if (turn.error() != 0) return refuse(terms.path, "lock", turn.error());
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return refuse(terms.path, "examine", errno);
  if (info.st_size == 0) {
    NW_CHECK(allocate(file.get(), terms));
  } else if (static_cast<std::size_t>(info.st_size) != terms.bytes) {
    return failure(Code::invalid, fmt::format("'{}' was made by another version, for another "
                                              "machine, or for something else: remove it",
                                              terms.path));
  }
  void* data = ::mmap(nullptr, terms.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) return refuse(terms.path, "map", errno);
  SharedFile shared(data, terms.bytes);
  auto* whole = static_cast<std::uint64_t*>(data);
  if (*whole == kWhole) {
    NW_CHECK(terms.check_whole(data));
  } else {
    std::memset(data, 0, terms.bytes);
    terms.format(data);
    *whole = kWhole;
  }
  return shared;
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedFile::~SharedFile() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace negawatt::gpusim
