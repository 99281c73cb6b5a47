// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <utility>

namespace negawatt::cli {

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return ::isatty(STDOUT_FILENO) == 1;
}

void note_open_last_line(const std::string& file) {
  std::fprintf(stderr,
               "negawatt: note: %s has no line end after its last row; if it was cut off, the last "
               "number may be short\n",
               file.c_str());
}

Progress::Progress(std::string doing) : doing_(std::move(doing)) {
  if (::isatty(STDERR_FILENO) == 1)
    thread_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void Progress::show(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (true) {
    changed_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    if (stop.stop_requested()) break;
    std::fprintf(stderr, "\rnegawatt: %s ... %d s", doing_.c_str(), ++seconds);
  }
  if (seconds > 0) std::fputs("\r\x1b[K", stderr);
}

}  // namespace negawatt::cli
