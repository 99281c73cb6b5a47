/* SPDX-License-Identifier: Apache-2.0
 *
 * An NVML client that knows nothing of negawatt: C, linked against libnvidia-ml.so.1, declarations
 * as the public API reference has them. Lists the GPUs, reads energy and power, sets and resets
 * clocks. Prints what it finds; its exit code is the first NVML error, or 100 for an answer that
 * cannot be.
 */
#include <stdio.h>
#include <string.h>

typedef int nvmlReturn_t;
typedef struct nvmlDevice_st* nvmlDevice_t;
typedef struct {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;
typedef struct {
  unsigned long long total, free, used;
} nvmlMemory_t;

nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlShutdown(void);
const char* nvmlErrorString(nvmlReturn_t);
nvmlReturn_t nvmlSystemGetDriverVersion(char*, unsigned int);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int*);
nvmlReturn_t nvmlDeviceGetCount(unsigned int*);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int, nvmlDevice_t*);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int, nvmlDevice_t*);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char*, nvmlDevice_t*);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char*, nvmlDevice_t*);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t, char*, unsigned int);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char*, unsigned int);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t, nvmlPciInfo_t*);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t*);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t, unsigned long long*);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned int*);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, int, unsigned int*);
nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t, unsigned int*, unsigned int*);
nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t, unsigned int, unsigned int*,
                                                  unsigned int*);
nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t, unsigned int, unsigned int);
nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t);

#define TRY(call)                                             \
  do {                                                        \
    nvmlReturn_t try_result = (call);                         \
    if (try_result != 0) {                                    \
      printf("%s: %s\n", #call, nvmlErrorString(try_result)); \
      return try_result;                                      \
    }                                                         \
  } while (0)
#define EXPECT(condition)                   \
  do {                                      \
    if (!(condition)) {                     \
      printf("not true: %s\n", #condition); \
      return 100;                           \
    }                                       \
  } while (0)

enum { INSUFFICIENT_SIZE = 7, MOST_CLOCKS = 512 };

static int try_clocks(nvmlDevice_t gpu) {
  unsigned int memory[MOST_CLOCKS], core[MOST_CLOCKS], count = 0, clock = 0;
  EXPECT(nvmlDeviceGetSupportedMemoryClocks(gpu, &count, NULL) == INSUFFICIENT_SIZE);
  EXPECT(count > 0 && count <= MOST_CLOCKS);
  TRY(nvmlDeviceGetSupportedMemoryClocks(gpu, &count, memory));
  count = MOST_CLOCKS;
  TRY(nvmlDeviceGetSupportedGraphicsClocks(gpu, memory[0], &count, core));
  EXPECT(count > 1 && core[0] > core[count - 1]);
  TRY(nvmlDeviceSetGpuLockedClocks(gpu, core[count / 2], core[count / 2]));
  TRY(nvmlDeviceGetClockInfo(gpu, 1, &clock));
  printf("  locked at %u MHz, runs at %u MHz\n", core[count / 2], clock);
  TRY(nvmlDeviceResetGpuLockedClocks(gpu));
  return 0;
}

static int try_gpu(unsigned int index) {
  char name[96], uuid[96];
  unsigned int power = 0;
  unsigned long long before = 0, after = 0;
  nvmlPciInfo_t pci;
  nvmlMemory_t memory;
  nvmlDevice_t gpu, same;
  TRY(nvmlDeviceGetHandleByIndex_v2(index, &gpu));
  TRY(nvmlDeviceGetHandleByIndex(index, &same));
  EXPECT(same == gpu);
  TRY(nvmlDeviceGetName(gpu, name, sizeof name));
  TRY(nvmlDeviceGetUUID(gpu, uuid, sizeof uuid));
  EXPECT(nvmlDeviceGetUUID(gpu, uuid, 5) == INSUFFICIENT_SIZE);
  TRY(nvmlDeviceGetHandleByUUID(uuid, &same));
  EXPECT(same == gpu);
  TRY(nvmlDeviceGetPciInfo_v3(gpu, &pci));
  TRY(nvmlDeviceGetHandleByPciBusId_v2(pci.busIdLegacy, &same));
  EXPECT(same == gpu);
  TRY(nvmlDeviceGetMemoryInfo(gpu, &memory));
  EXPECT(memory.free + memory.used == memory.total);
  TRY(nvmlDeviceGetTotalEnergyConsumption(gpu, &before));
  TRY(nvmlDeviceGetPowerUsage(gpu, &power));
  TRY(nvmlDeviceGetTotalEnergyConsumption(gpu, &after));
  EXPECT(after >= before);
  printf("%s, %s, %s: %u mW\n", name, uuid, pci.busId, power);
  return try_clocks(gpu);
}

int main(void) {
  char version[80];
  unsigned int count = 0, old_count = 0;
  TRY(nvmlInit_v2());
  TRY(nvmlInit());
  TRY(nvmlShutdown());
  TRY(nvmlSystemGetDriverVersion(version, sizeof version));
  TRY(nvmlDeviceGetCount_v2(&count));
  TRY(nvmlDeviceGetCount(&old_count));
  EXPECT(count == old_count && count > 0);
  for (unsigned int i = 0; i < count; ++i) {
    int result = try_gpu(i);
    if (result != 0) return result;
  }
  TRY(nvmlShutdown());
  EXPECT(nvmlDeviceGetCount(&count) == 1); /* uninitialized */
  return 0;
}
