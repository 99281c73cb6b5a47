// SPDX-License-Identifier: Apache-2.0
//
// Whether the machine was started again since the journal was written. A restart takes every lock
// and limit back by itself, and what an administrator has set since must not be raised to what he
// had set before. The note is on disk (file and folder synced) when note_boot() returns.
#pragma once

#include <string>

#include "core/result.hpp"

namespace negawatt::daemon {

inline constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";

/// Whether the note in `path` is of another boot. Without a note: false, as nothing is known.
[[nodiscard]] bool is_of_another_boot(const std::string& path,
                                      const char* boot_id_file = kBootIdFile);

/// Writes the present boot to `path`.
Status note_boot(const std::string& path, const char* boot_id_file = kBootIdFile);

}  // namespace negawatt::daemon
