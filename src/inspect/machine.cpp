// SPDX-License-Identifier: Apache-2.0
#include "inspect/machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string_view>
#include <system_error>

namespace negawatt::inspect {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kCapSysAdmin = 21;         // linux/capability.h
constexpr std::size_t kMostTools = 16;        // more than that are not named
constexpr std::size_t kLongestFile = 65'536;  // bytes read of any file

// Nsight Systems, Nsight Compute, DCGM: what holds the profiling counters or polls the GPU.
constexpr std::array<std::string_view, 7> kTools = {
    "nv-hostengine", "dcgm-exporter", "dcgmproftester", "nsys", "nsys-launcher", "ncu", "nvprof"};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kLongestFile, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max(std::streamsize{0}, file.gcount())));
  return bytes;
}

std::string first_line(std::string text) {
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

/// The words after "KEY:" of a file like /proc/self/status.
std::vector<std::string> words_after(const std::string& text, const std::string& key) {
  std::size_t at = text.find("\n" + key + ":");
  if (at == std::string::npos) return {};
  at += key.size() + 2;
  std::vector<std::string> words;
  const std::string line = first_line(text.substr(at));
  for (std::size_t begin = 0; (begin = line.find_first_not_of(" \t", begin)) != line.npos;) {
    const std::size_t end = std::min(line.size(), line.find_first_of(" \t", begin));
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// By the marks that container engines leave.
std::optional<std::string> container_at(const fs::path& root) {
  std::error_code ignored;
  if (fs::exists(root / ".dockerenv", ignored)) return "docker";
  if (fs::exists(root / "run/.containerenv", ignored)) return "podman";
  if (auto named = first_line(read_file(root / "run/systemd/container")); !named.empty()) {
    return named;
  }
  const std::string groups = read_file(root / "proc/1/cgroup");
  for (const std::string_view engine : {"kubepods", "docker", "libpod", "containerd", "lxc"}) {
    if (groups.find(engine) != std::string::npos) return std::string(engine);
  }
  return std::nullopt;
}

Privilege privilege_at(const fs::path& root) {
  Privilege privilege;
  const std::string status = read_file(root / "proc/self/status");
  // real, effective, saved, file system
  if (const auto ids = words_after(status, "Uid"); ids.size() == 4) {
    privilege.user_id = number<std::uint32_t>(ids[1], 10).value_or(0);
  }
  if (const auto bits = words_after(status, "CapEff"); bits.size() == 1) {
    privilege.sys_admin =
        ((number<std::uint64_t>(bits.front(), 16).value_or(0) >> kCapSysAdmin) & 1U) != 0;
  }
  privilege.container = container_at(root);
  return privilege;
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Release ...": the first word that
/// begins with a digit and has a dot.
std::optional<std::string> kernel_driver_at(const fs::path& root) {
  const auto words =
      words_after("\n" + read_file(root / "proc/driver/nvidia/version"), "NVRM version");
  for (const auto& word : words) {
    if (word.front() >= '0' && word.front() <= '9' && word.find('.') != word.npos) return word;
  }
  return std::nullopt;
}

std::vector<OtherTool> tools_at(const fs::path& root) {
  std::vector<OtherTool> tools;
  std::error_code error;
  for (fs::directory_iterator entry(root / "proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto pid = number<std::uint32_t>(entry->path().filename().string(), 10);
    if (!pid) continue;
    const std::string command = command_of(root, *pid);
    if (std::ranges::find(kTools, command) == kTools.end()) continue;
    tools.push_back({command, *pid});
    if (tools.size() == kMostTools) break;
  }
  std::ranges::sort(tools, {}, &OtherTool::pid);
  return tools;
}

std::optional<std::string> injection() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return std::nullopt;
  return path;
}

}  // namespace

std::string command_of(const fs::path& root, std::uint32_t pid) {
  return first_line(read_file(root / "proc" / fmt::format("{}", pid) / "comm"));
}

MachineFacts read_machine(const fs::path& root) {
  return {.privilege = privilege_at(root),
          .kernel_driver = kernel_driver_at(root),
          .tools = tools_at(root),
          .injection = injection()};
}

}  // namespace negawatt::inspect
