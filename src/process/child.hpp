// SPDX-License-Identifier: Apache-2.0
//
// A child process: started with the terminal, standard streams and signals of its parent, or with
// pipes for its standard input and output. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"

namespace negawatt::process {

enum class Streams : unsigned char {
  inherited,  ///< the child's streams are ours
  piped,      ///< its standard input and output are pipes to us; its standard error is ours
};

struct ChildOptions {
  std::vector<std::string> command;  ///< at least one word; looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
  Streams streams = Streams::inherited;
};

/// How a process ended: its exit code, or the signal that ended it.
struct Ending {
  int exit_code = 0;
  std::optional<int> signal = {};
  /// As a shell says it: the exit code, or 128 + the signal.
  [[nodiscard]] int shell_code() const { return signal ? 128 + *signal : exit_code; }
};
/// "exit code 3", "signal 9 (Killed)".
[[nodiscard]] std::string to_string(const Ending& ending);

class Child {
 public:
  /// Fails (`invalid`) when the command cannot be started, with the system's reason.
  [[nodiscard]] static Result<Child> start(const ChildOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Closes the pipes. Waits for nothing and kills nothing.
  ~Child();

  [[nodiscard]] int pid() const { return pid_; }
  /// Waits for the end; interrupted by no signal.
  [[nodiscard]] Ending wait();
  /// The ending, if it has ended.
  [[nodiscard]] std::optional<Ending> poll();
  /// Readable when the child has ended; -1 where the kernel has no pidfd.
  [[nodiscard]] int end_descriptor() const { return end_descriptor_; }
  /// Sends a signal if the child has not been waited for.
  void signal(int number) const;

  /// Writes a line to its standard input. Fails when it no longer reads.
  Status write_line(std::string_view line);
  /// The next line of its standard output without the line end. Fails at its end, and when none
  /// comes within `patience` (of the machine's clock).
  [[nodiscard]] Result<std::string> read_line(Seconds patience);
  void close_input();

 private:
  explicit Child(int pid) : pid_(pid) {}

  int pid_;
  int input_ = -1;
  int output_ = -1;
  int end_descriptor_ = -1;
  std::string unread_;
  std::optional<Ending> ending_;
};

}  // namespace negawatt::process
