// SPDX-License-Identifier: Apache-2.0
#include "inject/recording_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace negawatt::inject {
namespace {

// Out of the way of programs that expect the lowest numbers or close them all before they start.
constexpr int kLowestDescriptor = 200;

}  // namespace

RecordingFile::~RecordingFile() {
  if (is_ours()) ::close(descriptor_);
}

int RecordingFile::open(const char* path) noexcept {
  const int low = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (low < 0) return errno;
  descriptor_ = ::fcntl(low, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (descriptor_ < 0) {
    descriptor_ = low;  // fewer descriptors are allowed
  } else {
    ::close(low);
  }
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return errno;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return 0;
}

int RecordingFile::write(std::string_view bytes) noexcept {
  if (!is_ours()) return EBADF;
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = written < 0 ? errno : EIO;
      // A reader would cope with the torn block; it need not.
      static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(size_)));
      return reason;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += bytes.size();
  return 0;
}

bool RecordingFile::is_ours() const noexcept {
  struct stat status{};
  return descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

}  // namespace negawatt::inject
