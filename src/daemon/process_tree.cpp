// SPDX-License-Identifier: Apache-2.0
#include "daemon/process_tree.hpp"

#include <fmt/core.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/whole_file.hpp"

namespace negawatt::daemon {
namespace {

constexpr std::size_t kLongestFile = 16384;  // stat and status have one or two thousand bytes

}  // namespace

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
  const auto record = whole_file(fmt::format("{}/{}/stat", root_, pid), kLongestFile);
  if (!record) return std::nullopt;  // it has ended, perhaps just now
  // The command may hold line ends; the whole file is one record.
  auto process = parse_stat(*record);
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

std::vector<std::uint32_t> ProcessTree::users(std::uint32_t pid) const {
  const auto status = whole_file(fmt::format("{}/{}/status", root_, pid), kLongestFile);
  if (!status) return {};
  constexpr std::string_view kKey = "\nUid:";  // never in the name, whose line ends are escaped
  const auto at = status->find(kKey);
  if (at == std::string::npos) return {};
  std::istringstream fields(status->substr(at + kKey.size()));
  std::vector<std::uint32_t> users(3);  // real, effective, saved (proc(5))
  for (auto& user : users) fields >> user;
  return fields ? users : std::vector<std::uint32_t>{};
}

}  // namespace negawatt::daemon
