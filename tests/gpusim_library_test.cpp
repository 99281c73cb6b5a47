// SPDX-License-Identifier: Apache-2.0
//
// The simulated libnvidia-ml.so.1 as its clients see it: answers, errors, other people's programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "gpusim/nvml_symbols.hpp"
#include "nvml/nvml.hpp"
#include "tests/shared_data.hpp"
#include "tests/simulated_machine.hpp"

namespace negawatt::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Loads the CPU as little as the real thing: tests that read a lot must not pay for each read.
const std::string kNoCosts =
    "[gpu.sensors.read_cost]\nenergy_s = 0\npower_s = 0\nclock_s = 0\nset_s = 0\nother_s = 0\n";
const std::string kVirtual = "[time]\nmode = \"virtual\"\n";

TEST(SimulatedLibrary, HasEveryFunction) { EXPECT_THAT(nvml().missing, ::testing::IsEmpty()); }

TEST(SimulatedLibrary, AnswersUninitializedBeforeInitAndAfterTheLastShutdown) {
  const SimulatedMachine machine(kVirtual + gpu_like("h200.toml"));
  unsigned count = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvml().nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvml().negawattSimNotify(), NVML_ERROR_UNINITIALIZED);
  {
    const NvmlSession outer;
    {
      const NvmlSession inner;
    }
    EXPECT_EQ(nvml().nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 1U);
  }
  EXPECT_EQ(nvml().nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
}

TEST(SimulatedLibrary, WithoutADescriptionTheDriverIsNotLoaded) {
  const SimulatedMachine machine(kVirtual + gpu_like("h200.toml"));
  ::unsetenv("NEGAWATT_GPUSIM");
  EXPECT_EQ(nvml().nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED);
}

TEST(SimulatedLibrary, RefusesNullPointersAndForeignHandles) {
  const SimulatedMachine machine(kVirtual + gpu_like("h200.toml"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  unsigned value = 0;
  unsigned long long energy = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetCount_v2(nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml().nvmlDeviceGetHandleByUUID(nullptr, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml().nvmlDeviceGetName(gpu, nullptr, 96), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml().nvmlDeviceGetTotalEnergyConsumption(gpu, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml().nvmlDeviceGetFieldValues(gpu, 1, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml().nvmlDeviceGetPowerManagementLimitConstraints(gpu, &value, nullptr),
            NVML_ERROR_INVALID_ARGUMENT);
  const auto address = reinterpret_cast<std::uintptr_t>(gpu);
  for (const auto foreign : {std::uintptr_t{0}, address - 1, address + 1, address + 100'000})
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what is no handle has to come from somewhere
    EXPECT_EQ(nvml().nvmlDeviceGetTotalEnergyConsumption(reinterpret_cast<nvmlDevice_t>(foreign),
                                                         &energy),
              NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml().nvmlDeviceGetHandleByIndex_v2(1, nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST(SimulatedLibrary, ListsSayHowMuchRoomTheyNeed) {
  const SimulatedMachine machine(kVirtual + gpu_like("h200.toml"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  unsigned count = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetSupportedMemoryClocks(gpu, &count, nullptr),
            NVML_ERROR_INSUFFICIENT_SIZE);
  ASSERT_EQ(count, 2U);
  std::array<unsigned, 2> memory{};
  EXPECT_EQ(nvml().nvmlDeviceGetSupportedMemoryClocks(gpu, &count, memory.data()), NVML_SUCCESS);
  EXPECT_THAT(memory, ::testing::ElementsAre(3201, 2201));
  std::vector<unsigned> core(200);
  count = 200;
  EXPECT_EQ(nvml().nvmlDeviceGetSupportedGraphicsClocks(gpu, 3201, &count, core.data()),
            NVML_SUCCESS);
  EXPECT_EQ(count, 110U);  // as counted on the real one
  EXPECT_EQ(core[0], 1980U);
  EXPECT_EQ(core[109], 345U);
  count = 200;
  EXPECT_EQ(nvml().nvmlDeviceGetSupportedGraphicsClocks(gpu, 3200, &count, core.data()),
            NVML_ERROR_NOT_FOUND);
  count = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, nullptr), NVML_SUCCESS);
  EXPECT_EQ(count, 0U);
}

TEST(SimulatedLibrary, MigInstancesHaveHandlesOfTheirOwn) {
  const SimulatedMachine machine(
      kVirtual + gpu_like("h200.toml",
                          "[[gpu.mig]]\nuuid = \"MIG-51000000-4e57-4a10-8200-000000000101\"\n"
                          "profile = \"3g.71gb\"\ngpu_instance = 1\nmemory_gib = 69\n"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  nvmlDevice_t instance = nullptr;
  nvmlDevice_t other = nullptr;
  ASSERT_EQ(nvml().nvmlDeviceGetMigDeviceHandleByIndex(gpu, 0, &instance), NVML_SUCCESS);
  EXPECT_EQ(nvml().nvmlDeviceGetMigDeviceHandleByIndex(gpu, 1, &other), NVML_ERROR_NOT_FOUND);
  std::array<char, 96> uuid{};
  EXPECT_EQ(nvml().nvmlDeviceGetUUID(instance, uuid.data(), 96), NVML_SUCCESS);
  EXPECT_STREQ(uuid.data(), "MIG-51000000-4e57-4a10-8200-000000000101");
  EXPECT_EQ(nvml().nvmlDeviceGetHandleByUUID(uuid.data(), &other), NVML_SUCCESS);
  EXPECT_EQ(other, instance);
  EXPECT_EQ(nvml().nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instance, &other), NVML_SUCCESS);
  EXPECT_EQ(other, gpu);
  unsigned long long energy = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetTotalEnergyConsumption(instance, &energy),
            NVML_ERROR_NOT_SUPPORTED);
}

TEST(SimulatedLibrary, OnlyRootMaySetUnlessTheDescriptionSaysOtherwise) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root, to become somebody else";
  for (const bool anyone : {false, true}) {
    const SimulatedMachine machine((anyone ? "anyone_may_set = true\n" : "") + kVirtual +
                                   gpu_like("h200.toml"));
    std::filesystem::permissions(machine.folder().path(""), std::filesystem::perms(0755));
    const NvmlSession session;
    const auto unprivileged = child([&] {
      if (::setresuid(65534, 65534, 65534) != 0) return 1;
      const NvmlSession own;
      unsigned limit = 0;
      if (nvml().nvmlDeviceGetPowerManagementLimit(own.gpu(0), &limit) != NVML_SUCCESS) return 2;
      return nvml().nvmlDeviceSetGpuLockedClocks(own.gpu(0), 1005, 1005) ==
                     (anyone ? NVML_SUCCESS : NVML_ERROR_NO_PERMISSION)
                 ? 0
                 : 3;
    });
    EXPECT_EQ(ending_of(unprivileged), 0) << "anyone_may_set " << anyone;
  }
}

TEST(SimulatedLibrary, FaultsOfTheDescriptionAnswer) {
  const SimulatedMachine machine(
      kVirtual + "[faults]\nmissing_symbols = [\"nvmlDeviceGetTemperatureV\"]\n" +
      gpu_like("h200.toml",
               "[gpu.faults]\nnot_supported = [\"nvmlDeviceSetMemoryLockedClocks\"]\n"
               "calls = [{call = \"nvmlDeviceGetPowerUsage\", from = 2, to = 2, "
               "returns = \"NOT_READY\"}]\n"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  unsigned power = 0;
  nvmlTemperature_t temperature{.version = kNvmlTemperatureVersion1};
  EXPECT_EQ(nvml().nvmlDeviceSetMemoryLockedClocks(gpu, 2201, 2201), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvml().nvmlDeviceGetPowerUsage(gpu, &power), NVML_SUCCESS);
  EXPECT_EQ(nvml().nvmlDeviceGetPowerUsage(gpu, &power), NVML_ERROR_NOT_READY);
  EXPECT_EQ(nvml().nvmlDeviceGetPowerUsage(gpu, &power), NVML_SUCCESS);
  EXPECT_EQ(nvml().nvmlDeviceGetTemperatureV(gpu, &temperature), NVML_ERROR_FUNCTION_NOT_FOUND);
}

TEST(SimulatedLibrary, AnOlderDriverReallyLacksSymbols) {
  const auto old = gpusim::load_nvml(NEGAWATT_BINARY_DIR "/gpusim-r525/libnvidia-ml.so.1");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_THAT(old->missing,
              ::testing::UnorderedElementsAre("nvmlDeviceGetComputeRunningProcesses_v3",
                                              "nvmlDeviceGetCurrentClocksEventReasons",
                                              "nvmlDeviceGetSupportedClocksEventReasons",
                                              "nvmlDeviceGetTemperatureV"));
}

TEST(SimulatedLibrary, ALostGpuHasNoHandleAndTheOthersHave) {
  const SimulatedMachine machine(
      kVirtual + gpu_like("h200.toml", "[gpu.faults]\nat = [{at_s = 1, kind = \"gpu_lost\"}]\n") +
      gpu_like("rtx3080ti.toml"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  ASSERT_EQ(nvml().negawattSimJoin(), NVML_SUCCESS);
  nvml().negawattSimSleepUntil(1'000'000'000);
  nvml().negawattSimLeave();
  nvmlDevice_t device = nullptr;
  unsigned power = 0;
  EXPECT_EQ(nvml().nvmlDeviceGetPowerUsage(gpu, &power), NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(nvml().nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(nvml().nvmlDeviceGetHandleByIndex_v2(1, &device), NVML_SUCCESS);
  EXPECT_EQ(nvml().nvmlDeviceGetPowerUsage(device, &power), NVML_SUCCESS);
}

TEST(SimulatedLibrary, ReadsTakeTheirCostOfSimulatedTimeFromAThreadThatJoined) {
  const SimulatedMachine machine(kVirtual + gpu_like("h200.toml"));
  const NvmlSession session;
  const auto gpu = session.gpu(0);
  unsigned long long energy = 0;
  std::uint64_t now = 0;
  nvml().nvmlDeviceGetTotalEnergyConsumption(gpu, &energy);
  nvml().negawattSimNow(&now);
  EXPECT_EQ(now, 0U);
  ASSERT_EQ(nvml().negawattSimJoin(), NVML_SUCCESS);
  nvml().nvmlDeviceGetTotalEnergyConsumption(gpu, &energy);
  nvml().negawattSimNow(&now);
  EXPECT_EQ(now, 3'400'000U);  // 3.4 ms, as measured on the real one
  nvml().negawattSimLeave();
}

TEST(SimulatedLibrary, ADamagedOrForeignFileIsAnErrorNotACrash) {
  const SimulatedMachine machine(kVirtual + gpu_like("h200.toml"));
  {
    const NvmlSession session;
  }
  const SimulatedMachine other(kVirtual + gpu_like("h200.toml", "name = \"another\""));
  ::setenv("NEGAWATT_GPUSIM_STATE", machine.folder().path("world").c_str(), 1);
  EXPECT_EQ(nvml().nvmlInit_v2(), NVML_ERROR_UNKNOWN);
  ::setenv("NEGAWATT_GPUSIM_STATE", "/nonexistent/folder/world", 1);
  EXPECT_EQ(nvml().nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED);
}

TEST(SimulatedLibrary, AFullDiskIsAnErrorNotACrash) {
  const SimulatedMachine machine(kVirtual + gpu_like("h200.toml"));
  const auto cramped = child([] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{.rlim_cur = 4096, .rlim_max = 4096};
    ::setrlimit(RLIMIT_FSIZE, &little);
    return nvml().nvmlInit_v2() == NVML_ERROR_DRIVER_NOT_LOADED ? 0 : 1;
  });
  EXPECT_EQ(ending_of(cramped), 0);
}

TEST(SimulatedLibrary, AProgramInCThatWasLinkedAgainstNvmlRuns) {
  const SimulatedMachine machine(gpu_like("h200.toml", "count = 2\n" + kNoCosts));
  const auto output = machine.folder().path("output");
  const std::string command = "LD_LIBRARY_PATH='" + std::string(kSimulatedFolder) +
                              "' '" NEGAWATT_NVML_CLIENT "' >'" + output + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(output).value_or("");
  EXPECT_THAT(read_file(output).value_or(""),
              HasSubstr("NVIDIA H200, GPU-51000000-4e57-4a10-8200-000000000001, 00000000:07:00.0"));
}

TEST(SimulatedLibrary, AProgramInPythonRuns) {
#ifdef NEGAWATT_SANITIZED
  GTEST_SKIP() << "SKIPPED: Python cannot load a library with AddressSanitizer";
#endif
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "SKIPPED: needs python3";
  const SimulatedMachine machine(gpu_like("rtx3080ti.toml"));
  ::setenv("NEGAWATT_GPUSIM_LATENCY", "none", 1);
  const auto output = machine.folder().path("output");
  const std::string command =
      std::string("python3 '" NEGAWATT_SOURCE_DIR "/tests/nvml_client.py' '") + kSimulatedFolder +
      "/libnvidia-ml.so.1' >'" + output + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(output).value_or("");
  EXPECT_THAT(read_file(output).value_or(""), HasSubstr("NVIDIA GeForce RTX 3080 Ti: "));
}

}  // namespace
}  // namespace negawatt::testing
