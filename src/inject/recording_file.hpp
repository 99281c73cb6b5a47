// SPDX-License-Identifier: Apache-2.0
//
// The file a recording goes to, in a process that is not ours: the program may close any descriptor
// and open another file under its number, which must not be written to. Errors are errno; nothing
// throws. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace negawatt::inject {

class RecordingFile {
 public:
  RecordingFile() = default;
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  /// Creates or empties the file. Returns 0 or an errno.
  [[nodiscard]] int open(const char* path) noexcept;
  /// All of `bytes` or an errno; what was written of them is then taken back, where the file can be
  /// cut. EBADF: the descriptor is no longer our file.
  [[nodiscard]] int write(std::string_view bytes) noexcept;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  [[nodiscard]] bool is_ours() const noexcept;

  int descriptor_ = -1;
  std::uint64_t device_ = 0, inode_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace negawatt::inject
