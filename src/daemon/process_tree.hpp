// SPDX-License-Identifier: Apache-2.0
//
// Who descends from whom, as /proc tells it. Processes are told apart by their start time, so that
// a number that is used again is not taken for the process that had it before. What has ended or
// cannot be read descends from nobody. A process whose parent has ended belongs to init from then
// on, and no longer to the tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace negawatt::daemon {

struct Process {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint64_t started = 0;  ///< clock ticks since boot
  std::string command;        ///< at most 15 bytes, any bytes
};

class ProcessTree {
 public:
  explicit ProcessTree(std::string root = "/proc") : root_(std::move(root)) {}

  [[nodiscard]] std::optional<Process> find(std::uint32_t pid) const;
  /// Whether `pid` is the process `ancestor` or was started by it, over any number of generations.
  [[nodiscard]] bool descends(std::uint32_t pid, const Process& ancestor) const;
  /// The users that a process runs as: real, effective, saved. Empty when it cannot be read.
  [[nodiscard]] std::vector<std::uint32_t> users(std::uint32_t pid) const;

 private:
  std::string root_;
};

/// The fields of a line of /proc/PID/stat; exposed for tests. The command may hold any characters,
/// parentheses and blanks included: only the last parenthesis ends it.
[[nodiscard]] std::optional<Process> parse_stat(const std::string& line);

}  // namespace negawatt::daemon
