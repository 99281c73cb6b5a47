// SPDX-License-Identifier: Apache-2.0
#include "daemon/process_tree.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace negawatt::daemon {

std::optional<Process> parse_stat(const std::string& line) {
  const auto open = line.find(" (");
  const auto close = line.rfind(") ");
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  Process process;
  process.command = line.substr(open + 2, close - open - 2);
  std::istringstream head(line.substr(0, open));
  std::istringstream fields(line.substr(close + 2));
  std::string skipped;
  head >> process.pid;
  fields >> skipped >> process.parent;  // 3: state, 4: ppid
  for (int field = 5; field <= 21; ++field) fields >> skipped;
  fields >> process.started;  // 22: starttime (proc(5))
  if (!head || !fields) return std::nullopt;
  return process;
}

std::optional<Process> ProcessTree::find(std::uint32_t pid) const {
  std::ifstream file(fmt::format("{}/{}/stat", root_, pid));
  // The command may hold line ends; the whole file is one record.
  const std::string record(std::istreambuf_iterator<char>(file), {});
  auto process = parse_stat(record);
  if (process && process->pid != pid) return std::nullopt;
  return process;
}

bool ProcessTree::descends(std::uint32_t pid, const Process& ancestor) const {
  constexpr int kMostGenerations = 64;
  std::uint64_t child_started = ~std::uint64_t{0};
  for (int generation = 0; generation < kMostGenerations && pid > 0; ++generation) {
    const auto process = find(pid);
    // A parent that is younger than its child is somebody else with the parent's old number.
    if (!process || process->started > child_started) return false;
    if (pid == ancestor.pid) return process->started == ancestor.started;
    child_started = process->started;
    pid = process->parent;
  }
  return false;
}

std::optional<std::uint32_t> ProcessTree::owner(std::uint32_t pid) const {
  struct stat folder{};
  if (::stat(fmt::format("{}/{}", root_, pid).c_str(), &folder) != 0) return std::nullopt;
  return folder.st_uid;
}

}  // namespace negawatt::daemon
