// SPDX-License-Identifier: Apache-2.0
//
// Runs one kernel of a workload over and over when told to, for a sweep (docs/formats.md, "Kernel
// runner"): lines in, lines out.
//
//   kernels     ->  kernel NAME GROUP CALLS  for each, then  end
//   start NAME  ->  started                ; the kernel runs from here on
//   count       ->  count CALLS DEVICE_NS  ; calls completed, and the end of the last one on the
//                                          ; device's clock, which means nothing at 0 calls
//   stop        ->  stopped CALLS SECONDS  ; whole calls, and the device time they took
//
// quit, or the end of the input, ends it; what cannot be done is answered with  error TEXT
//
// A word holds "\ " for a blank and "\\" for a backslash. The server takes no part in virtual time:
// the GPU works on while whoever asked lets time pass.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.hpp"
#include "gpusim/simulated_process.hpp"
#include "gpusim/workload.hpp"

namespace negawatt::gpusim {

class KernelServer {
 public:
  /// `workload` must outlive this.
  static Result<KernelServer> open(World& world, Target target, const Workload& workload);

  /// Until the input ends.
  void serve(std::istream& in, std::ostream& out);
  /// The answer to one line, with its line ends; empty for `quit`.
  [[nodiscard]] std::string answer(std::string_view line);

 private:
  KernelServer(SimulatedProcess process, const Workload& workload)
      : process_(std::move(process)), workload_(&workload) {}
  [[nodiscard]] std::string list() const;
  Result<std::string> start(std::string_view name);
  Result<std::string> count();
  Result<std::string> stop();
  Result<std::string> obey(std::string_view line);

  SimulatedProcess process_;
  const Workload* workload_;
  std::optional<std::uint64_t> running_;  ///< the ticket
};

}  // namespace negawatt::gpusim
