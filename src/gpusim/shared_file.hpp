// SPDX-License-Identifier: Apache-2.0
//
// A file that processes share as memory. Whoever comes first makes and formats it; the others wait
// (flock, which ends with its holder) and see it whole. All its pages exist once it is open, so
// that a full disk is an error here and not a signal later. A file that somebody else truncates
// while it is mapped does kill: it belongs in a folder that only its users can write.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/result.hpp"

namespace negawatt::gpusim {

class SharedFile {
 public:
  struct Terms {
    std::string path;
    std::size_t bytes = 0;
    unsigned access = 0600;                          ///< permission bits, whatever the umask
    std::function<void(void*)> format;               ///< of zeroed memory
    std::function<Status(const void*)> check_whole;  ///< of a file of the right size
  };
  /// The file, formatted unless it was. What a killed process left half made is made again.
  static Result<SharedFile> open(const Terms& terms);

  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&& other) noexcept;
  ~SharedFile();

  [[nodiscard]] void* data() const { return data_; }

 private:
  SharedFile(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace negawatt::gpusim
