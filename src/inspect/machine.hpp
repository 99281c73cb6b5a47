// SPDX-License-Identifier: Apache-2.0
//
// What the kernel's files say about this process and this machine. The root folder is an argument,
// so that a test can lay out a machine of its own. What cannot be read is left out; nothing fails.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inspect/doctor_facts.hpp"

namespace negawatt::inspect {

/// Reads below `root` ("/" outside tests), and the environment of this process for CUDA's variable.
[[nodiscard]] MachineFacts read_machine(const std::filesystem::path& root);

/// The command of a process, as the kernel keeps it (15 characters); empty when it cannot be read.
[[nodiscard]] std::string command_of(const std::filesystem::path& root, std::uint32_t pid);

}  // namespace negawatt::inspect
