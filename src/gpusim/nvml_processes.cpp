// SPDX-License-Identifier: Apache-2.0
//
// The simulated library: who uses a GPU, and how much of its memory.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "gpusim/nvml_answers.hpp"
#include "gpusim/nvml_call.hpp"
#include "gpusim/nvml_library.hpp"

namespace negawatt::gpusim {
namespace {

/// The contexts on a GPU, or on one MIG instance.
std::vector<Context> contexts_of(const Asked& asked) {
  std::vector<Context> contexts;
  for (const auto& context : asked.gpu.state().contexts) {
    const bool is_here = !asked.target.mig || context.mig_instance == *asked.target.mig;
    if (context.id != 0 && is_here) contexts.push_back(context);
  }
  return contexts;
}

/// One entry a process.
std::vector<nvmlProcessInfo_t> processes_of(const Asked& asked) {
  std::vector<nvmlProcessInfo_t> processes;
  for (const auto& context : contexts_of(asked)) {
    const bool in_mig = context.mig_instance < asked.model().mig.size();
    const auto known = std::ranges::find(processes, context.pid, &nvmlProcessInfo_t::pid);
    if (known != processes.end()) {
      known->usedGpuMemory += context.memory_bytes;
      continue;
    }
    nvmlProcessInfo_t process{.pid = context.pid,
                              .usedGpuMemory = context.memory_bytes,
                              .gpuInstanceId = kNvmlNoInstance,
                              .computeInstanceId = kNvmlNoInstance};
    if (in_mig) {
      const auto& instance = asked.model().mig[context.mig_instance];
      process.gpuInstanceId = instance.gpu_instance;
      process.computeInstanceId = instance.compute_instance;
    }
    processes.push_back(process);
  }
  return processes;
}

nvmlReturn_t list_processes(std::string_view function, nvmlDevice_t device, unsigned* count,
                            nvmlProcessInfo_t* processes) noexcept {
  return on_gpu(
      {.function = function, .device = device, .of_mig_instances = true},
      [&](const Asked& asked) {
        return answer_list<nvmlProcessInfo_t>(processes_of(asked), count, processes);
      },
      count);
}

}  // namespace
}  // namespace negawatt::gpusim

using namespace negawatt::gpusim;  // NOLINT(google-build-using-namespace): the C names call it all

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* processes) noexcept {
  return list_processes(__func__, device, count, processes);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* processes) noexcept {
  return list_processes(__func__, device, count, processes);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned* count,
                                                  nvmlProcessInfo_v1_t* processes) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .of_mig_instances = true},
      [&](const Asked& asked) {
        std::vector<nvmlProcessInfo_v1_t> listed;
        for (const auto& process : processes_of(asked))
          listed.push_back({.pid = process.pid, .usedGpuMemory = process.usedGpuMemory});
        return answer_list<nvmlProcessInfo_v1_t>(listed, count, processes);
      },
      count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                      nvmlProcessInfo_t*) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .of_mig_instances = true},
      [&](const Asked&) {
        *count = 0;
        return NVML_SUCCESS;
      },
      count);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) noexcept {
  return on_gpu(
      {.function = __func__, .device = device, .of_mig_instances = true},
      [&](const Asked& asked) {
        memory->total = asked.target.mig ? asked.model().mig[*asked.target.mig].memory_bytes
                                         : asked.model().identity.memory_bytes;
        memory->used = 0;
        for (const auto& context : contexts_of(asked)) memory->used += context.memory_bytes;
        memory->used = std::min(memory->used, memory->total);
        memory->free = memory->total - memory->used;
        return NVML_SUCCESS;
      },
      memory);
}
