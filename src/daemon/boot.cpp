// SPDX-License-Identifier: Apache-2.0
#include "daemon/boot.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "daemon/whole_file.hpp"
#include "lease/file_descriptor.hpp"

namespace negawatt::daemon {
namespace {

constexpr std::size_t kLongestNote = 256;  // a boot's id has 37 bytes

/// Empty for what cannot be read.
std::string contents(const std::string& path) {
  return whole_file(path, kLongestNote).value_or("");
}

tl::unexpected<Error> cannot_note(const std::string& path) {
  return failure(Code::internal,
                 fmt::format("cannot note the boot in {}: {}", path, std::strerror(errno)));
}

}  // namespace

bool is_of_another_boot(const std::string& path, const char* boot_id_file) {
  const auto noted = contents(path);
  return !noted.empty() && noted != contents(boot_id_file);
}

Status note_boot(const std::string& path, const char* boot_id_file) {
  NW_TRY(const auto boot, whole_file(boot_id_file, kLongestNote));
  if (contents(path) == boot) return {};
  // A new file that then takes the old one's name: a torn note would be taken for another boot.
  const auto fresh = path + ".new";
  {
    const lease::FileDescriptor file(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const auto size = static_cast<ssize_t>(boot.size());
    if (!file.is_open() || ::write(file.number(), boot.data(), boot.size()) != size ||
        ::fsync(file.number()) != 0)
      return cannot_note(path);
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return cannot_note(path);
  const auto folder_path = std::filesystem::path(path).parent_path();
  const lease::FileDescriptor folder(
      ::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::fsync(folder.number()) != 0) return cannot_note(path);
  return {};
}

}  // namespace negawatt::daemon
