// SPDX-License-Identifier: Apache-2.0
#include "cli/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>  // mkostemp is not in <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace negawatt::cli {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;

/// Closes on every path out of a function.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  /// Closes now, because only close tells that a network file system lost the data.
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

std::string system_message() { return std::strerror(errno); }

tl::unexpected<Error> cannot_write(const std::string& path, Code code = Code::internal) {
  return failure(code, fmt::format("cannot write '{}': {}", path, system_message()));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The file that the links of a path end at, whether it is there or not.
std::string end_of_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::filesystem::path end = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code is_no_link;
    const auto next = std::filesystem::read_symlink(end, is_no_link);
    if (is_no_link) break;
    end = end.parent_path() / next;
  }
  return end.string();
}

/// Into what is there; `how`: O_APPEND, or nothing. A device or a pipe is never replaced.
Status write_there(const std::string& path, int how, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | how));
  if (file.get() < 0 || !write_all(file.get(), bytes) || !file.close()) return cannot_write(path);
  return {};
}

/// A new file with these permissions in place of what the path leads to.
Status replace(const std::string& path, std::string_view bytes, unsigned permissions) {
  const auto target = end_of_links(path);
  std::string temporary = target + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return cannot_write(path);
  // mkostemp makes the file private.
  const bool written = ::fchmod(file.get(), permissions) == 0 && write_all(file.get(), bytes) &&
                       ::fsync(file.get()) == 0 && file.close() &&
                       std::rename(temporary.c_str(), target.c_str()) == 0;
  if (written) return {};
  auto error = cannot_write(path);
  ::unlink(temporary.c_str());
  return error;
}

}  // namespace

Result<std::string> read_input(const std::string& path) {
  const auto refuse = [&path] {
    return failure(Code::invalid, fmt::format("cannot read '{}': {}", path, system_message()));
  };
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return refuse();
  std::string bytes;
  struct stat info{};
  if (::fstat(file.get(), &info) == 0 && info.st_size > 0)
    bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  while (true) {
    const auto size = bytes.size();
    bytes.resize(size + kChunk);
    const auto got = ::read(file.get(), bytes.data() + size, kChunk);
    bytes.resize(size + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return bytes;
    if (got < 0 && errno != EINTR) return refuse();
  }
}

PathKind kind_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return PathKind::absent;
  return S_ISREG(info.st_mode) ? PathKind::regular : PathKind::other;
}

Status write_output(const std::string& path, std::string_view bytes) {
  // The open file keeps what else goes there; a rename would leave it behind.
  if (path == "-" || path == "/dev/stdout")
    return write_all(STDOUT_FILENO, bytes) ? Status{} : cannot_write(path);
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return cannot_write(path);
  if (exists && !S_ISREG(info.st_mode)) return write_there(path, 0, bytes);
  const auto mask = ::umask(0);
  ::umask(mask);
  return replace(path, bytes, exists ? info.st_mode & 07777U : 0666U & ~mask);
}

Status check_output(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return {};
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (!S_ISDIR(info.st_mode) && ::access(path.c_str(), W_OK) == 0) return {};
    if (S_ISDIR(info.st_mode)) errno = EISDIR;
    return cannot_write(path, Code::invalid);
  }
  std::string temporary = end_of_links(path) + ".XXXXXX";
  const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return cannot_write(path, Code::invalid);
  ::unlink(temporary.c_str());
  return {};
}

Status append_output(const std::string& path, std::string_view bytes) {
  return write_there(path, O_APPEND, bytes);
}

}  // namespace negawatt::cli
