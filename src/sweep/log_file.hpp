// SPDX-License-Identifier: Apache-2.0
//
// The log of visits as a file: what an earlier sweep of the same setup measured is read, a torn
// last line is cut off. A kill loses no visit that was appended, a power failure those of the last
// second. One sweep at a time writes it, on file systems that have locks.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "sweep/visits.hpp"

namespace negawatt::sweep {

class LogFile {
 public:
  /// Opens or makes the log. Fails when the file is no log, or is one of another setup, and
  /// (`unavailable`) while another sweep writes it.
  [[nodiscard]] static Result<LogFile> open(const std::string& path, const std::string& setup,
                                            std::vector<std::string> kernels);
  ~LogFile();
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&&) = delete;
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// What was there when it was opened.
  [[nodiscard]] const std::vector<Visit>& earlier() const { return earlier_; }
  Status append(const Visit& visit);

 private:
  LogFile(std::string path, std::vector<std::string> kernels, int file)
      : path_(std::move(path)), kernels_(std::move(kernels)), file_(file) {}
  Status write(const std::string& bytes);
  Status sync();

  std::string path_;
  std::vector<std::string> kernels_;
  int file_;
  bool is_synced_ = true;
  std::chrono::steady_clock::time_point synced_at_ = std::chrono::steady_clock::now();
  std::vector<Visit> earlier_;
};

}  // namespace negawatt::sweep
