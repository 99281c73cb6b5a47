// SPDX-License-Identifier: Apache-2.0
//
// Runs the negawatt binary as a user does: a real process, its exit code and both its outputs.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/shared_data.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::testing {

struct Finished {
  int exit_code = -1;
  std::string out;
  std::string error;
};

/// Runs `negawatt ARGUMENTS` through a shell in `folder`; quote arguments yourself.
inline Finished run_negawatt(const TemporaryFolder& folder, const std::string& arguments) {
  const std::string command = "cd '" + folder.path("") + "' && '" NEGAWATT_BINARY "' " + arguments +
                              " >stdout.txt 2>stderr.txt";
  const int status = std::system(command.c_str());  // NOLINT(bugprone-command-processor)
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          read_file(folder.path("stdout.txt")).value_or(""),
          read_file(folder.path("stderr.txt")).value_or("")};
}

}  // namespace negawatt::testing
