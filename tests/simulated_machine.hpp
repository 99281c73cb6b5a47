// SPDX-License-Identifier: Apache-2.0
//
// A simulated machine for one test: its description and shared memory in a folder of their own, and
// the environment of this process and its children pointing there.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "gpusim/nvml_symbols.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::testing {

inline constexpr const char* kSimulatedFolder = NEGAWATT_BINARY_DIR "/gpusim";

/// "[[gpu]]" with a GPU of data/gpusim and what `more` says about it.
inline std::string gpu_like(const std::string& base, const std::string& more = "") {
  return "[[gpu]]\nbase = \"" NEGAWATT_SOURCE_DIR "/data/gpusim/" + base + "\"\n" + more + "\n";
}

class SimulatedMachine {
 public:
  explicit SimulatedMachine(const std::string& description) {
    ::setenv("NEGAWATT_GPUSIM", folder_.file("machine.toml", description).c_str(), 1);
    ::setenv("NEGAWATT_GPUSIM_STATE", folder_.path("world").c_str(), 1);
    ::unsetenv("NEGAWATT_GPUSIM_TIME");
    ::unsetenv("NEGAWATT_GPUSIM_LATENCY");
  }
  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

/// The simulated library, loaded once for this process.
inline const gpusim::NvmlSymbols& nvml() {
  static const auto kSymbols =
      gpusim::load_nvml(std::string(kSimulatedFolder) + "/libnvidia-ml.so.1");
  if (!kSymbols) ADD_FAILURE() << kSymbols.error().message;
  return *kSymbols;
}

/// nvmlInit to nvmlShutdown.
class NvmlSession {
 public:
  NvmlSession() { EXPECT_EQ(nvml().nvmlInit_v2(), NVML_SUCCESS); }
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;
  ~NvmlSession() { nvml().nvmlShutdown(); }

  [[nodiscard]] nvmlDevice_t gpu(unsigned index) const {
    nvmlDevice_t device = nullptr;
    EXPECT_EQ(nvml().nvmlDeviceGetHandleByIndex_v2(index, &device), NVML_SUCCESS);
    return device;
  }
};

/// Runs `action` in a child process, whose exit code is what it returns.
inline pid_t child(const std::function<int()>& action) {
  const auto pid = ::fork();
  if (pid == 0) ::_exit(action());
  return pid;
}
/// Exit code of a child, or -signal.
inline int ending_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace negawatt::testing
