// SPDX-License-Identifier: Apache-2.0
#include "gpu/journal.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace negawatt::gpu {
namespace {

// Room that is reserved on the disk, so that "restored" can be written when the disk is full.
constexpr std::size_t kCapacity = std::size_t{16} * 1024;
// Nothing that we wrote is longer; do not read what is not ours.
constexpr std::size_t kLongest = std::size_t{16} * 1024 * 1024;
// Three knobs of far more GPUs than a machine has.
constexpr std::size_t kMostBackups = 4096;

tl::unexpected<Error> system_failure(std::string_view doing, const std::string& path) {
  const int code = errno;
  return failure(
      code == EACCES || code == EPERM || code == EROFS ? Code::unavailable : Code::internal,
      fmt::format("cannot {} {}: {}", doing, path, std::strerror(code)));
}

/// An open file, closed at the end; the lock on it goes with it.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int number) : number_(number) {}
  ~Handle() {
    if (number_ >= 0) ::close(number_);
  }
  Handle(Handle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

Status write_at(int file, std::size_t offset, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return system_failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::size_t>(count);
  }
  if (fdatasync(file) != 0) return system_failure("sync", path);
  return {};
}

Result<std::string> read_whole(int file, const std::string& path) {
  struct stat facts{};
  if (fstat(file, &facts) != 0) return system_failure("look at", path);
  if (!S_ISREG(facts.st_mode) || static_cast<std::size_t>(facts.st_size) > kLongest) {
    return failure(Code::invalid, fmt::format("{} is not a restore journal", path));
  }
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t count =
        pread(file, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("read", path);
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

/// A new name is on disk only when its folder is.
Status sync_folder(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Handle handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.is_open() || fsync(handle.number()) != 0) return system_failure("sync", folder);
  return {};
}

bool same_file(int file, const std::string& path) {
  struct stat ours{};
  struct stat named{};
  return fstat(file, &ours) == 0 && stat(path.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

Status lock_for_us(int file, const std::string& path) {
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return system_failure("lock", path);
  return failure(Code::unavailable,
                 fmt::format("{} is in use by another process (one daemon at a time)", path));
}

/// Opened, or made, and ours. The holder before us may have put another file in its place
/// meanwhile.
Result<Handle> open_locked(const std::string& path) {
  constexpr int kTries = 16;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Handle handle(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!handle.is_open()) return system_failure("open the restore journal", path);
    NW_CHECK(lock_for_us(handle.number(), path));
    if (same_file(handle.number(), path)) return handle;
  }
  return failure(Code::internal, fmt::format("{} is replaced all the time", path));
}

/// For a person to look at: PATH.damaged, then PATH.damaged.1 to .9. Older ones are kept, since
/// each may be all that tells of a knob that is still changed.
Status keep_damaged(int file, const std::string& path) {
  constexpr int kMostCopies = 10;
  for (int i = 0; i < kMostCopies; ++i) {
    const auto copy = path + ".damaged" + (i == 0 ? "" : "." + std::to_string(i));
    if (link(path.c_str(), copy.c_str()) == 0) return {};
    if (errno != EEXIST) return system_failure("keep a copy of the damaged", path);
    if (same_file(file, copy)) return {};  // kept when it was last opened
  }
  return failure(
      Code::unavailable,
      fmt::format("{} is damaged, and so are {} copies beside it: look at them, set what "
                  "they name by hand, and remove them",
                  path, kMostCopies));
}

}  // namespace

struct Journal::File {
  std::string path;
  mutable std::mutex mutex;
  // Guarded by mutex.
  Handle handle;
  Outstanding outstanding;
  std::size_t damaged = 0;
  std::size_t length = 0;
  std::size_t length_when_new = 0;  // of what was outstanding when it was last written anew

  Status append(const std::string& record);
  Status rewrite();
  /// Nothing is behind the last whole record.
  Status cut();
};

Status Journal::File::cut() {
  if (ftruncate(handle.number(), static_cast<off_t>(length)) == 0) return {};
  return system_failure("shorten", path);
}

/// Whole and on disk, or the file is as it was.
Status Journal::File::append(const std::string& record) {
  // A journal full of past changes starts anew; where that fails there is still the old one.
  if (length + record.size() > std::max(kCapacity, 2 * length_when_new)) (void)rewrite();
  if (auto written = write_at(handle.number(), length, record, path); !written) {
    NW_CHECK(cut());  // a torn line counts for nothing, a whole one would
    return written;
  }
  length += record.size();
  return {};
}

/// A new file with what is outstanding takes the place of the old one at once.
Status Journal::File::rewrite() {
  std::string bytes(journal_header());
  for (const Backup& backup : outstanding.backups()) {
    bytes += save_record(backup);
    for (const Milliwatts limit : backup.asked) bytes += asked_record(backup.gpu, limit);
  }
  const std::string next = path + ".next";
  Handle fresh(::open(next.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fresh.is_open()) return system_failure("make", next);
  NW_CHECK(lock_for_us(fresh.number(), next));
  // Not every file system can; then a full disk is met when it comes.
  (void)fallocate(fresh.number(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(kCapacity));
  NW_CHECK(write_at(fresh.number(), 0, bytes, next));
  if (std::rename(next.c_str(), path.c_str()) != 0) return system_failure("replace", path);
  handle = std::move(fresh);
  length = bytes.size();
  length_when_new = length;
  return sync_folder(path);
}

Journal::Journal(std::unique_ptr<File> file) : file_(std::move(file)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::string& path) {
  auto file = std::make_unique<File>();
  file->path = path;
  NW_TRY(file->handle, open_locked(path));
  NW_TRY(const std::string bytes, read_whole(file->handle.number(), path));
  NW_TRY(JournalContents contents, read_journal(bytes, path));
  file->outstanding = std::move(contents.outstanding);
  file->damaged = contents.damaged;
  file->length = contents.whole;
  if (file->damaged > 0) NW_CHECK(keep_damaged(file->handle.number(), path));
  // On a full disk the old file must do: what it holds has to be restored all the same.
  if (auto rewritten = file->rewrite(); !rewritten) {
    if (bytes.empty()) return tl::unexpected(std::move(rewritten).error());
    NW_CHECK(file->cut());
  }
  return Journal(std::move(file));
}

std::vector<Backup> Journal::outstanding() const {
  const std::scoped_lock lock(file_->mutex);
  return file_->outstanding.backups();
}

std::size_t Journal::damaged() const { return file_->damaged; }

Status Journal::save(const Backup& backup) {
  const std::scoped_lock lock(file_->mutex);
  auto& outstanding = file_->outstanding;
  if (outstanding.has(backup.gpu, knob_of(backup.previous))) return {};
  if (!is_journal_id(backup.gpu.text())) {
    return failure(Code::invalid, "a GPU without a proper UUID cannot be journalled");
  }
  if (outstanding.backups().size() >= kMostBackups) {
    return failure(Code::internal, fmt::format("{} holds too many backups", file_->path));
  }
  NW_CHECK(file_->append(save_record(backup)));
  outstanding.save(backup);
  return {};
}

Status Journal::asked(const GpuId& gpu, Milliwatts limit) {
  const std::scoped_lock lock(file_->mutex);
  const Backup* const backup = file_->outstanding.find(gpu, Knob::power_limit);
  if (backup == nullptr) {
    return failure(Code::internal, "a power limit is noted whose previous state is not saved");
  }
  if (std::ranges::find(backup->asked, limit) != backup->asked.end()) return {};
  if (backup->asked.size() >= kMostAsked) {
    return failure(Code::internal,
                   fmt::format("{} holds too many power limits of {}", file_->path, gpu.text()));
  }
  NW_CHECK(file_->append(asked_record(gpu, limit)));
  file_->outstanding.asked(gpu, limit);
  return {};
}

Status Journal::restored(const GpuId& gpu, Knob knob) {
  const std::scoped_lock lock(file_->mutex);
  if (!file_->outstanding.has(gpu, knob)) return {};
  NW_CHECK(file_->append(restored_record(gpu, knob)));
  file_->outstanding.restored(gpu, knob);
  return {};
}

}  // namespace negawatt::gpu
