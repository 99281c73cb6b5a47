// SPDX-License-Identifier: Apache-2.0
#include "process/child.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

extern char** environ;

namespace negawatt::process {
namespace {

// A child that never ends its line must not fill our memory.
constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

/// Closed at its end, unless it was released.
class PipeEnd {
 public:
  PipeEnd() = default;
  explicit PipeEnd(int number) : number_(number) {}
  PipeEnd(PipeEnd&& other) noexcept : number_(other.release()) {}
  PipeEnd& operator=(PipeEnd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  PipeEnd(const PipeEnd&) = delete;
  PipeEnd& operator=(const PipeEnd&) = delete;
  ~PipeEnd() { close_if_open(number_); }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

struct Pipe {
  PipeEnd read;
  PipeEnd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failure(Code::internal, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return Pipe{PipeEnd(ends[0]), PipeEnd(ends[1])};
}

/// While it lives, a write of this thread to a pipe that nobody reads is an error and no signal;
/// the rest of the process is not concerned.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec at_once{};
    // Ours alone: one that somebody else has sent before stays.
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// Our environment with some variables replaced, as "NAME=VALUE".
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& [name, value] : added) variables[name] = value;
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

/// The null-terminated array of C strings that exec takes. Refers to `texts`.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The child gets no blocked signals from us, which we block to wait for them. What whoever started
/// us ignores (nohup), it ignores too.
class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  void duplicate(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

Ending ending_of(int status) {
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status)};
}

}  // namespace

std::string to_string(const Ending& ending) {
  if (!ending.signal) return fmt::format("exit code {}", ending.exit_code);
  return fmt::format("signal {} ({})", *ending.signal, ::strsignal(*ending.signal));
}

Result<Child> Child::start(const ChildOptions& options) {
  NW_ASSERT(!options.command.empty());
  auto words = options.command;
  auto environment = environment_with(options.environment);
  Pipe input;
  Pipe output;
  FileActions actions;
  if (options.streams == Streams::piped) {
    NW_TRY(input, make_pipe());
    NW_TRY(output, make_pipe());
    actions.duplicate(input.read.number(), STDIN_FILENO);
    actions.duplicate(output.write.number(), STDOUT_FILENO);
  }
  const Attributes attributes;
  pid_t pid = -1;
  const int code = ::posix_spawnp(&pid, words.front().c_str(), actions.get(), attributes.get(),
                                  pointers_to(words).data(), pointers_to(environment).data());
  if (code != 0)
    return failure(Code::invalid,
                   fmt::format("cannot start '{}': {}", words.front(), std::strerror(code)));
  Child child(pid);
  child.input_ = input.write.release();
  child.output_ = output.read.release();
  child.end_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      end_descriptor_(std::exchange(other.end_descriptor_, -1)),
      unread_(std::move(other.unread_)),
      ending_(other.ending_) {}

Child::~Child() {
  close_if_open(input_);
  close_if_open(output_);
  close_if_open(end_descriptor_);
}

Ending Child::wait() {
  int status = 0;
  while (!ending_) {
    if (::waitpid(pid_, &status, 0) == pid_)
      ending_ = ending_of(status);
    else if (errno != EINTR)
      ending_ = Ending{.exit_code = 127};  // somebody else reaped it
  }
  return *ending_;
}

std::optional<Ending> Child::poll() {
  int status = 0;
  if (!ending_ && ::waitpid(pid_, &status, WNOHANG) == pid_) ending_ = ending_of(status);
  return ending_;
}

void Child::signal(int number) const {
  if (!ending_) ::kill(pid_, number);
}

Status Child::write_line(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  // A child that is gone is an error here, not a signal that ends us.
  const NoPipeSignal no_signal;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto written = ::write(input_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (rest.empty()) return {};
  return failure(Code::internal,
                 fmt::format("the child no longer reads: {}", std::strerror(errno)));
}

Result<std::string> Child::read_line(Seconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(patience.in_si());
  while (true) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (unread_.size() > kLongestLine)
      return failure(Code::internal, "the child wrote a line without an end");
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd readable{.fd = output_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(std::max<long>(0, left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0)
      return failure(Code::internal,
                     fmt::format("the child said nothing for {} s", patience.in_si()));
    std::array<char, 4096> buffer{};
    const auto got = ::read(output_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failure(Code::internal, "the child ended its output");
    unread_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void Child::close_input() { close_if_open(input_); }

}  // namespace negawatt::process
