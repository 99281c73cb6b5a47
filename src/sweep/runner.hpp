// SPDX-License-Identifier: Apache-2.0
//
// A program that runs one kernel of a workload over and over when told to: how a sweep gets load
// onto a GPU without knowing what a kernel is. It speaks lines (docs/formats.md, "Kernel runner"):
//
//   kernels     ->  kernel NAME GROUP CALLS  ...  end  ; words of printable text, "\ " is a space
//   start NAME  ->  started
//   count       ->  count CALLS DEVICE_NS              ; completed since start, end of the last one
//   stop        ->  stopped CALLS SECONDS
//   quit
//
// and answers `error TEXT` to what it cannot do. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "process/child.hpp"

namespace negawatt::sweep {

struct RunnableKernel {
  std::string name;
  std::string group;
  std::uint32_t calls = 1;  ///< in one iteration
};

/// Calls that have completed, and when the last of them did on the device's clock: a time that
/// means nothing while there are none.
struct CallCount {
  std::uint64_t calls = 0;
  std::uint64_t device_ns = 0;
};

class KernelRunner {
 public:
  /// Starts the program and asks for its kernels.
  [[nodiscard]] static Result<KernelRunner> start(const process::ChildOptions& program);
  /// Asks it to quit and waits for its end; what does not end is terminated, then killed.
  ~KernelRunner();
  KernelRunner(KernelRunner&&) noexcept = default;
  KernelRunner& operator=(KernelRunner&&) = delete;
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;

  [[nodiscard]] const std::vector<RunnableKernel>& kernels() const { return kernels_; }
  [[nodiscard]] int pid() const { return child_.pid(); }
  /// It is gone, silent or out of step: nothing that it says from now on can be believed.
  [[nodiscard]] bool is_broken() const { return is_broken_; }

  Status start_kernel(const std::string& name);
  [[nodiscard]] Result<CallCount> count();
  /// Does nothing when none runs.
  Status stop_kernel();

 private:
  explicit KernelRunner(process::Child child) : child_(std::move(child)) {}
  Status read_kernels();
  /// Sends a request and returns the words of its answer, the first of which must be `expected`.
  [[nodiscard]] Result<std::vector<std::string>> ask(const std::string& request,
                                                     const std::string& expected);
  [[nodiscard]] Result<std::vector<std::string>> read_words();

  process::Child child_;
  std::vector<RunnableKernel> kernels_;
  bool is_running_ = false;
  bool is_broken_ = false;
};

}  // namespace negawatt::sweep
