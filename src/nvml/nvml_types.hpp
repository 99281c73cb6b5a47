// SPDX-License-Identifier: Apache-2.0
//
// Types and constants of NVIDIA's management library (NVML), as its public API reference describes
// them; sizes are asserted below. Names and values are NVML's own, so that its documentation
// applies word for word. Clocks are MHz, power mW, energy mJ, temperatures degrees Celsius.
#pragma once

#include <cstdint>

// The names and sizes are a foreign interface's.
// NOLINTBEGIN(readability-identifier-naming,performance-enum-size)
extern "C" {

struct nvmlDevice_st;
using nvmlDevice_t = nvmlDevice_st*;

enum nvmlReturn_t : std::int32_t {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_RESET_REQUIRED = 16,
  NVML_ERROR_OPERATING_SYSTEM = 17,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
  NVML_ERROR_IN_USE = 19,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_NO_DATA = 21,
  NVML_ERROR_INSUFFICIENT_RESOURCES = 23,
  NVML_ERROR_FREQ_NOT_SUPPORTED = 24,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_DEPRECATED = 26,
  NVML_ERROR_NOT_READY = 27,
  NVML_ERROR_GPU_NOT_FOUND = 28,
  NVML_ERROR_INVALID_STATE = 29,
  NVML_ERROR_UNKNOWN = 999,
};

enum nvmlClockType_t : std::int32_t {
  NVML_CLOCK_GRAPHICS = 0,
  NVML_CLOCK_SM = 1,
  NVML_CLOCK_MEM = 2,
  NVML_CLOCK_VIDEO = 3,
};

enum nvmlClockId_t : std::int32_t {
  NVML_CLOCK_ID_CURRENT = 0,
  NVML_CLOCK_ID_APP_CLOCK_TARGET = 1,
  NVML_CLOCK_ID_APP_CLOCK_DEFAULT = 2,
  NVML_CLOCK_ID_CUSTOMER_BOOST_MAX = 3,
};

enum nvmlTemperatureSensors_t : std::int32_t { NVML_TEMPERATURE_GPU = 0 };

enum nvmlEnableState_t : std::int32_t { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 };

enum nvmlPstates_t : std::int32_t {
  NVML_PSTATE_0 = 0,
  NVML_PSTATE_2 = 2,
  NVML_PSTATE_8 = 8,
  NVML_PSTATE_UNKNOWN = 32,
};

enum nvmlValueType_t : std::int32_t {
  NVML_VALUE_TYPE_DOUBLE = 0,
  NVML_VALUE_TYPE_UNSIGNED_INT = 1,
  NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
  NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
  NVML_VALUE_TYPE_SIGNED_INT = 5,
};

union nvmlValue_t {
  double dVal;
  std::int32_t siVal;
  std::uint32_t uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
  long long sllVal;
};

struct nvmlFieldValue_t {
  std::uint32_t fieldId;
  std::uint32_t scopeId;
  std::int64_t timestamp;    // microseconds since the epoch, of the CPU
  std::int64_t latencyUsec;  // how long the driver took to get the value
  nvmlValueType_t valueType;
  nvmlReturn_t nvmlReturn;
  nvmlValue_t value;
};

struct nvmlPciInfo_t {
  char busIdLegacy[16];  // "0000:81:00.0"
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t pciDeviceId;
  std::uint32_t pciSubSystemId;
  char busId[32];  // "00000000:81:00.0"
};

struct nvmlProcessInfo_v1_t {
  std::uint32_t pid;
  unsigned long long usedGpuMemory;
};

struct nvmlProcessInfo_t {  // versions 2 and 3
  std::uint32_t pid;
  unsigned long long usedGpuMemory;
  std::uint32_t gpuInstanceId;      // 0xFFFFFFFF outside MIG
  std::uint32_t computeInstanceId;  // 0xFFFFFFFF outside MIG
};

struct nvmlMemory_t {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct nvmlUtilization_t {
  std::uint32_t gpu;     // percent of the last sample period in which a kernel ran
  std::uint32_t memory;  // percent in which memory was read or written
};

struct nvmlTemperature_t {
  std::uint32_t version;  // kNvmlTemperatureVersion1
  nvmlTemperatureSensors_t sensorType;
  std::int32_t temperature;
};
}  // extern "C"

// Fields of nvmlDeviceGetFieldValues.
inline constexpr std::uint32_t NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION = 83;  // mJ, 64 bit
inline constexpr std::uint32_t NVML_FI_DEV_POWER_AVERAGE = 185;            // mW, over a second
inline constexpr std::uint32_t NVML_FI_DEV_POWER_INSTANT = 186;            // mW
inline constexpr std::uint32_t NVML_FI_DEV_POWER_MIN_LIMIT = 187;          // mW
inline constexpr std::uint32_t NVML_FI_DEV_POWER_MAX_LIMIT = 188;          // mW
inline constexpr std::uint32_t NVML_FI_DEV_POWER_DEFAULT_LIMIT = 189;      // mW
inline constexpr std::uint32_t NVML_FI_DEV_POWER_CURRENT_LIMIT = 190;      // mW
inline constexpr std::uint32_t NVML_FI_DEV_POWER_REQUESTED_LIMIT = 192;    // mW

// Bits of nvmlDeviceGetCurrentClocksEventReasons (formerly ...ThrottleReasons).
inline constexpr std::uint64_t nvmlClocksEventReasonGpuIdle = 0x1;
inline constexpr std::uint64_t nvmlClocksEventReasonApplicationsClocksSetting = 0x2;
inline constexpr std::uint64_t nvmlClocksEventReasonSwPowerCap = 0x4;
inline constexpr std::uint64_t nvmlClocksThrottleReasonHwSlowdown = 0x8;
inline constexpr std::uint64_t nvmlClocksEventReasonSyncBoost = 0x10;
inline constexpr std::uint64_t nvmlClocksEventReasonSwThermalSlowdown = 0x20;
inline constexpr std::uint64_t nvmlClocksThrottleReasonHwThermalSlowdown = 0x40;
inline constexpr std::uint64_t nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 0x80;
inline constexpr std::uint64_t nvmlClocksEventReasonDisplayClockSetting = 0x100;

inline constexpr std::uint32_t NVML_DEVICE_NAME_V2_BUFFER_SIZE = 96;
inline constexpr std::uint32_t NVML_DEVICE_UUID_V2_BUFFER_SIZE = 96;
inline constexpr std::uint32_t NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80;
inline constexpr std::uint32_t kNvmlTemperatureVersion1 = 0x100000C;  // size | version << 24
inline constexpr std::uint32_t kNvmlNoInstance = 0xFFFFFFFF;
// NOLINTEND(readability-identifier-naming,performance-enum-size)

// The layout is fixed by the library's ABI (x86-64 and aarch64 Linux).
static_assert(sizeof(nvmlReturn_t) == 4);
static_assert(sizeof(nvmlFieldValue_t) == 40);
static_assert(sizeof(nvmlPciInfo_t) == 68);
static_assert(sizeof(nvmlProcessInfo_v1_t) == 16);
static_assert(sizeof(nvmlProcessInfo_t) == 24);
static_assert(sizeof(nvmlMemory_t) == 24);
static_assert(sizeof(nvmlUtilization_t) == 8);
static_assert(sizeof(nvmlTemperature_t) == 12);
