// SPDX-License-Identifier: Apache-2.0
#include "cli/screen.hpp"

#include <fmt/core.h>
#include <signal.h>  // sigtimedwait is not in <csignal>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <tuple>

#include "cli/files.hpp"

namespace negawatt::cli {
namespace {

// Another screen than the one with the shell's lines, no cursor; and back.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l";
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";
constexpr std::string_view kHome = "\033[H";
constexpr std::string_view kNextLine = "\033[K\r\n";
constexpr std::string_view kRestEmpty = "\033[J";

bool is_terminal() {
  const char* const kind = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

sigset_t awaited(bool terminal) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, signal);
  if (terminal) {
    sigaddset(&set, SIGTSTP);
    sigaddset(&set, SIGWINCH);
  }
  return set;
}

struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

Size terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {};
  }
  return {size.ws_row, size.ws_col};
}

std::string picture(const std::vector<std::string>& lines, const Size& size) {
  std::string text(kHome);
  const bool fits = lines.size() <= size.rows;
  const std::size_t shown = fits ? lines.size() : size.rows - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += kNextLine;
    text += lines[i].substr(0, size.columns);
  }
  if (!fits) {
    const auto rest = fmt::format("... {} more lines", lines.size() - shown);
    text.append(shown > 0 ? kNextLine : "").append(rest.substr(0, size.columns));
  }
  return text.append("\033[K").append(kRestEmpty);
}

std::string page(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

}  // namespace

Screen::Screen(Kind kind) : terminal_(kind == Kind::redrawn && is_terminal()) {
  const sigset_t set = awaited(terminal_);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  if (terminal_ && !enter()) terminal_ = false;
}

Screen::~Screen() {
  if (terminal_) {
    leave();
    std::ignore = write_output("-", page(last_));
  }
  // Signals stay blocked: one that came while the screen was given back has done its work.
}

Status Screen::enter() { return write_output("-", kEnter); }
void Screen::leave() { std::ignore = write_output("-", kLeave); }

Status Screen::show(const std::vector<std::string>& lines) {
  last_ = lines;
  return write_output("-", terminal_ ? picture(lines, terminal_size()) : page(lines));
}

Screen::Woken Screen::wait(Seconds time) {
  using Clock = std::chrono::steady_clock;
  const sigset_t set = awaited(terminal_);
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(time.in_si()));
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::max(Clock::duration::zero(), until - Clock::now()));
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    const int signal = sigtimedwait(&set, nullptr, &timeout);
    if (signal < 0 && errno == EINTR) continue;  // of another kind, or stopped and continued
    if (signal < 0) return Woken::time;
    if (signal == SIGWINCH) return Woken::resized;
    if (signal != SIGTSTP) return Woken::ended;
    leave();
    ::kill(::getpid(), SIGSTOP);  // returns when the shell continues us
    if (!enter()) return Woken::ended;
    return Woken::resized;
  }
}

}  // namespace negawatt::cli
