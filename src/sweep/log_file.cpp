// SPDX-License-Identifier: Apache-2.0
#include "sweep/log_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/text.hpp"

namespace negawatt::sweep {
namespace {

// 10,000 kernels at 1,000 pairs for ten rounds would be ten times this: not a sweep anyone does.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

tl::unexpected<Error> refused(const std::string& path) {
  return failure(Code::internal, fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

Result<std::string> whole_file(int file, const std::string& path) {
  std::string bytes;
  std::array<char, 65536> buffer{};
  while (bytes.size() < kMostBytes) {
    const auto got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return failure(Code::internal,
                     fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    if (got == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return failure(Code::invalid, fmt::format("'{}' is too long for a sweep's log", path));
}

}  // namespace

Result<LogFile> LogFile::open(const std::string& path, const std::string& setup,
                              std::vector<std::string> kernels) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return refused(path);
  LogFile log(path, std::move(kernels), file);
  // Another error is that of a file system without locks.
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return failure(Code::unavailable, fmt::format("'{}': another sweep writes it", path));
  NW_TRY(const auto bytes, whole_file(file, path));
  // A sweep that was killed right at its start left less than a header.
  if (bytes.find('\n', bytes.find('\n') + 1) == std::string::npos) {
    if (::ftruncate(file, 0) != 0) return refused(path);
    NW_CHECK(log.write(log_header(setup)));
    return log;
  }
  NW_TRY(auto earlier, parse_log(bytes, path, log.kernels_));
  if (earlier.setup != setup)
    return failure(
        Code::invalid,
        fmt::format("{}: a sweep of another setup ({}), expected ({}); remove it to start "
                    "anew",
                    path, printable(earlier.setup), setup));
  if (::ftruncate(file, static_cast<off_t>(earlier.whole_bytes)) != 0) return refused(path);
  log.earlier_ = std::move(earlier.visits);
  return log;
}

LogFile::~LogFile() {
  if (file_ < 0) return;
  if (!is_synced_) (void)sync();
  ::close(file_);
}

LogFile::LogFile(LogFile&& other) noexcept
    : path_(std::move(other.path_)),
      kernels_(std::move(other.kernels_)),
      file_(std::exchange(other.file_, -1)),
      is_synced_(other.is_synced_),
      synced_at_(other.synced_at_),
      earlier_(std::move(other.earlier_)) {}

Status LogFile::append(const Visit& visit) {
  is_synced_ = false;
  NW_CHECK(write(log_line(visit, kernels_)));
  // A window takes longer; one of a simulated GPU does not, and would wait for the disk.
  if (std::chrono::steady_clock::now() - synced_at_ < std::chrono::seconds(1)) return {};
  return sync();
}

Status LogFile::sync() {
  synced_at_ = std::chrono::steady_clock::now();
  // What lies on no disk has nothing to write there.
  is_synced_ = ::fdatasync(file_) == 0 || errno == EINVAL || errno == EROFS;
  return is_synced_ ? Status{} : refused(path_);
}

Status LogFile::write(const std::string& bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return refused(path_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace negawatt::sweep
