// SPDX-License-Identifier: Apache-2.0
//
// What a simulated process runs: kernels, as surfaces for one GPU, and the order in which an
// iteration invokes them. From a measured kernel table, or from the kernels that the machine's
// description gives its GPU. Reads files; errors name file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "gpusim/gpu_model.hpp"
#include "gpusim/kernel_surface.hpp"

namespace negawatt::gpusim {

struct WorkloadKernel {
  std::string name;
  std::string group;
  std::uint32_t calls = 1;  ///< in one iteration
  KernelSurface surface;
};

/// One or more calls of a kernel in a row, queued together.
struct Invocation {
  std::uint32_t kernel = 0;
  std::uint64_t calls = 1;
};

struct Workload {
  std::vector<WorkloadKernel> kernels;
  std::vector<Invocation> iteration;

  /// Index of a kernel, or kernels.size().
  [[nodiscard]] std::size_t find(std::string_view name) const;
};

/// Where a workload is read from.
struct WorkloadFiles {
  std::string table;     ///< empty: the GPU's own kernels
  std::string sequence;  ///< empty: in table order
};
[[nodiscard]] Result<Workload> load_workload(const GpuModel& model, const WorkloadFiles& files);
/// An iteration of nothing but `calls` calls of one kernel. Fails when it is not there.
[[nodiscard]] Result<Workload> only_kernel(Workload workload, std::string_view name,
                                           std::uint64_t calls);

}  // namespace negawatt::gpusim
