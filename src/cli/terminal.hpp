// SPDX-License-Identifier: Apache-2.0
//
// What a person at a terminal sees besides the result: colour where it is wanted, and a sign of
// life while something takes longer than a second.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace negawatt::cli {

/// True when standard output is a terminal and neither NO_COLOR nor TERM=dumb says otherwise.
[[nodiscard]] bool wants_colour();

/// Warns on standard error that `file` may have been cut off inside its last number.
void note_open_last_line(const std::string& file);

/// While it lives, and from the second second on, keeps one line on a terminal's standard error:
/// "negawatt: solving ... 3 s". Silent when standard error is no terminal.
class Progress {
 public:
  explicit Progress(std::string doing);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

 private:
  void show(const std::stop_token& stop);

  std::string doing_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace negawatt::cli
