// SPDX-License-Identifier: Apache-2.0
//
// The part of NVIDIA's management library (NVML) that negawatt speaks: both sides of the dlopen
// seam compile against this page, the client that loads libnvidia-ml.so.1 and the simulated library
// that takes its place.
#pragma once

#include "nvml/nvml_types.hpp"  // IWYU pragma: export

/// Every function both sides know: NW_NVML_FUNCTIONS(X) expands X(symbol, (parameters)) for each.
/// All return nvmlReturn_t. nvmlErrorString, which does not, is left out: we word errors ourselves.
/// A client looks up each symbol by itself and falls back to an older version where one is listed.
#define NW_NVML_FUNCTIONS(X)                                                                       \
  X(nvmlInit_v2, ())                                                                               \
  X(nvmlShutdown, ())                                                                              \
  X(nvmlSystemGetDriverVersion, (char* version, unsigned length))                                  \
  X(nvmlSystemGetNVMLVersion, (char* version, unsigned length))                                    \
  X(nvmlDeviceGetCount_v2, (unsigned* count))                                                      \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvmlDevice_t* device))                         \
  X(nvmlDeviceGetHandleByUUID, (const char* uuid, nvmlDevice_t* device))                           \
  X(nvmlDeviceGetHandleByPciBusId_v2, (const char* bus_id, nvmlDevice_t* device))                  \
  X(nvmlDeviceGetName, (nvmlDevice_t device, char* name, unsigned length))                         \
  X(nvmlDeviceGetUUID, (nvmlDevice_t device, char* uuid, unsigned length))                         \
  X(nvmlDeviceGetIndex, (nvmlDevice_t device, unsigned* index))                                    \
  X(nvmlDeviceGetMinorNumber, (nvmlDevice_t device, unsigned* minor))                              \
  X(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t * pci))                           \
  X(nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t device, unsigned long long* energy))        \
  X(nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned* power))                               \
  X(nvmlDeviceGetFieldValues, (nvmlDevice_t device, int count, nvmlFieldValue_t* values))          \
  X(nvmlDeviceGetClockInfo, (nvmlDevice_t device, nvmlClockType_t type, unsigned* clock))          \
  X(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t device, nvmlClockType_t type, unsigned* clock))       \
  X(nvmlDeviceGetClock,                                                                            \
    (nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id, unsigned* clock))                \
  X(nvmlDeviceGetSupportedMemoryClocks, (nvmlDevice_t device, unsigned* count, unsigned* clocks))  \
  X(nvmlDeviceGetSupportedGraphicsClocks,                                                          \
    (nvmlDevice_t device, unsigned memory_clock, unsigned* count, unsigned* clocks))               \
  X(nvmlDeviceSetGpuLockedClocks, (nvmlDevice_t device, unsigned least, unsigned most))            \
  X(nvmlDeviceResetGpuLockedClocks, (nvmlDevice_t device))                                         \
  X(nvmlDeviceSetMemoryLockedClocks, (nvmlDevice_t device, unsigned least, unsigned most))         \
  X(nvmlDeviceResetMemoryLockedClocks, (nvmlDevice_t device))                                      \
  X(nvmlDeviceGetCurrentClocksEventReasons, (nvmlDevice_t device, unsigned long long* reasons))    \
  X(nvmlDeviceGetCurrentClocksThrottleReasons, (nvmlDevice_t device, unsigned long long* reasons)) \
  X(nvmlDeviceGetSupportedClocksEventReasons, (nvmlDevice_t device, unsigned long long* reasons))  \
  X(nvmlDeviceGetSupportedClocksThrottleReasons,                                                   \
    (nvmlDevice_t device, unsigned long long* reasons))                                            \
  X(nvmlDeviceGetPowerManagementLimit, (nvmlDevice_t device, unsigned* limit))                     \
  X(nvmlDeviceGetEnforcedPowerLimit, (nvmlDevice_t device, unsigned* limit))                       \
  X(nvmlDeviceGetPowerManagementLimitConstraints,                                                  \
    (nvmlDevice_t device, unsigned* least, unsigned* most))                                        \
  X(nvmlDeviceGetPowerManagementDefaultLimit, (nvmlDevice_t device, unsigned* limit))              \
  X(nvmlDeviceSetPowerManagementLimit, (nvmlDevice_t device, unsigned limit))                      \
  X(nvmlDeviceGetTemperature,                                                                      \
    (nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned* temperature))                 \
  X(nvmlDeviceGetTemperatureV, (nvmlDevice_t device, nvmlTemperature_t * temperature))             \
  X(nvmlDeviceGetPerformanceState, (nvmlDevice_t device, nvmlPstates_t * state))                   \
  X(nvmlDeviceGetPersistenceMode, (nvmlDevice_t device, nvmlEnableState_t * mode))                 \
  X(nvmlDeviceGetUtilizationRates, (nvmlDevice_t device, nvmlUtilization_t * utilization))         \
  X(nvmlDeviceGetMemoryInfo, (nvmlDevice_t device, nvmlMemory_t * memory))                         \
  X(nvmlDeviceGetArchitecture, (nvmlDevice_t device, unsigned* architecture))                      \
  X(nvmlDeviceGetComputeRunningProcesses_v3,                                                       \
    (nvmlDevice_t device, unsigned* count, nvmlProcessInfo_t* processes))                          \
  X(nvmlDeviceGetComputeRunningProcesses_v2,                                                       \
    (nvmlDevice_t device, unsigned* count, nvmlProcessInfo_t* processes))                          \
  X(nvmlDeviceGetMigMode, (nvmlDevice_t device, unsigned* current, unsigned* pending))             \
  X(nvmlDeviceGetMaxMigDeviceCount, (nvmlDevice_t device, unsigned* count))                        \
  X(nvmlDeviceGetMigDeviceHandleByIndex,                                                           \
    (nvmlDevice_t device, unsigned index, nvmlDevice_t* mig_device))                               \
  X(nvmlDeviceIsMigDeviceHandle, (nvmlDevice_t device, unsigned* is_mig))                          \
  X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, (nvmlDevice_t mig_device, nvmlDevice_t * device))
