// SPDX-License-Identifier: Apache-2.0
//
// What the simulated libnvidia-ml.so.1 exports: NVML as negawatt speaks it, older names that other
// clients look up, and the simulated clock. Every function is thread-safe, answers UNINITIALIZED
// before nvmlInit and INVALID_ARGUMENT to a null pointer, and never throws. A setter needs root
// unless the description says otherwise. A call takes the simulated time its description states.
#pragma once

#include "nvml/nvml.hpp"
#include "nvml/simulated_time.hpp"

// NOLINTBEGIN(readability-identifier-naming)
#define NW_EXPORTED(symbol, parameters) \
  __attribute__((visibility("default"))) nvmlReturn_t symbol parameters noexcept;
extern "C" {
NW_NVML_FUNCTIONS(NW_EXPORTED)
NW_SIMULATED_TIME_FUNCTIONS(NW_EXPORTED)

// Names from before a change of version; what they differ in is their structs.
NW_EXPORTED(nvmlInit, ())
NW_EXPORTED(nvmlInitWithFlags, (unsigned flags))
NW_EXPORTED(nvmlDeviceGetCount, (unsigned* count))
NW_EXPORTED(nvmlDeviceGetHandleByIndex, (unsigned index, nvmlDevice_t* device))
NW_EXPORTED(nvmlDeviceGetHandleByPciBusId, (const char* bus_id, nvmlDevice_t* device))
NW_EXPORTED(nvmlDeviceGetPciInfo, (nvmlDevice_t device, nvmlPciInfo_t* pci))
NW_EXPORTED(nvmlDeviceGetPciInfo_v2, (nvmlDevice_t device, nvmlPciInfo_t* pci))
NW_EXPORTED(nvmlDeviceGetComputeRunningProcesses,
            (nvmlDevice_t device, unsigned* count, nvmlProcessInfo_v1_t* processes))
// What monitors ask for besides.
NW_EXPORTED(nvmlDeviceGetGraphicsRunningProcesses_v3,
            (nvmlDevice_t device, unsigned* count, nvmlProcessInfo_t* processes))
NW_EXPORTED(nvmlSystemGetCudaDriverVersion_v2, (int* version))
__attribute__((visibility("default"))) const char* nvmlErrorString(nvmlReturn_t result) noexcept;
}
#undef NW_EXPORTED
// NOLINTEND(readability-identifier-naming)
