// SPDX-License-Identifier: Apache-2.0
#include "gpu/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/nvml_library.hpp"
#include "nvml/nvml.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TinyLibrary;

struct Refusal {
  int code;
  const char* remedy;
};

class DriverStart : public ::testing::TestWithParam<Refusal> {};

TEST_P(DriverStart, SaysWhatToDoAboutARefusal) {
  const TinyLibrary library;
  library.state().always["nvmlInit_v2"] = GetParam().code;
  const auto driver = Driver::open(Access::observe, library.path());
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, Code::unavailable);
  EXPECT_THAT(driver.error().message, HasSubstr(GetParam().remedy));
  EXPECT_THAT(driver.error().message, Not(HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(All, DriverStart,
                         ::testing::Values(Refusal{NVML_ERROR_DRIVER_NOT_LOADED, "modprobe"},
                                           Refusal{NVML_ERROR_LIB_RM_VERSION_MISMATCH, "reboot"},
                                           Refusal{NVML_ERROR_NO_PERMISSION, "/dev/nvidia"},
                                           Refusal{NVML_ERROR_UNKNOWN, "systemctl daemon-reload"},
                                           Refusal{NVML_ERROR_LIBRARY_NOT_FOUND,
                                                   "installed in part"},
                                           Refusal{777, "777"}),
                         [](const auto& test) { return std::to_string(test.param.code); });

TEST(Driver, SaysThatTheLibraryIsMissing) {
  const auto driver = Driver::open(Access::observe, "libno-such-driver.so.1");
  ASSERT_FALSE(driver);
  EXPECT_THAT(driver.error().message, HasSubstr("install the NVIDIA driver"));
}

TEST(Driver, SaysThatALibraryIsAnotherOne) {
  const auto driver = Driver::open(Access::observe, "libm.so.6");
  ASSERT_FALSE(driver);
  EXPECT_THAT(driver.error().message, HasSubstr("not NVML"));
}

TEST(Driver, ListsEveryGpuByUuid) {
  const TinyLibrary library;
  const auto devices = library.open().devices();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1].id().text(), "GPU-bbbb0000-1111-2222-3333-444455556666");
  EXPECT_EQ(devices[1].identity().pci_bus_id, "00000000:02:00.0");
  EXPECT_EQ(devices[1].identity().name, "Tiny");
  EXPECT_EQ(devices[1].identity().display_index, 1U);
}

TEST(Driver, KeepsTheOthersWhenOneGpuIsLost) {
  const TinyLibrary library;
  const Driver driver = library.open();
  library.state().next["nvmlDeviceGetHandleByIndex_v2"] = {NVML_ERROR_GPU_IS_LOST};
  const auto listed = driver.list();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2U);
  ASSERT_FALSE((*listed)[0].device);
  EXPECT_EQ((*listed)[0].device.error().obstacle, Obstacle::lost);
  ASSERT_TRUE((*listed)[1].device);
  EXPECT_EQ((*listed)[1].device->id().text().substr(0, 8), "GPU-bbbb");
}

TEST(Driver, NamesAGpuWithoutNameAndBus) {
  const TinyLibrary library;
  library.state().always["nvmlDeviceGetName"] = NVML_ERROR_NOT_SUPPORTED;
  library.state().always["nvmlDeviceGetPciInfo_v3"] = NVML_ERROR_NOT_SUPPORTED;
  const auto devices = library.open().devices();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].identity().name, "");
}

TEST(Driver, FindsAGpuByThePrefixThatFitsOnlyOne) {
  const TinyLibrary library;
  const Driver driver = library.open();
  const auto found = driver.device(GpuId("GPU-b"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id().text().substr(0, 8), "GPU-bbbb");
  const auto both = driver.device(GpuId("GPU-"));
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("more than one"));
  EXPECT_FALSE(driver.device(GpuId("GPU-c")));
  EXPECT_FALSE(driver.device(GpuId("")));
}

TEST(Driver, OpenedToObserveHasNoWayToChangeAGpu) {
  const TinyLibrary library;
  const Driver driver = library.open(Access::observe);
  const Device device = driver.devices().front();
  EXPECT_FALSE(device.may_set());
  for (const Setting& setting :
       {Setting(CoreLock{}), Setting(CoreLock{ClockRange::exactly({1410})}), Setting(MemoryLock{}),
        Setting(PowerLimit{{300'000}})}) {
    const Done done = device.apply(setting);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().obstacle, Obstacle::denied);
  }
  EXPECT_THAT(library.state().writes, IsEmpty());
  EXPECT_THAT(driver.missing_functions(), Each(Not(StartsWith("nvmlDeviceSet"))));
}

TEST(Driver, OpenedToObserveDoesNotEvenLookTheSettersUp) {
  const TinyLibrary tiny;
  const auto observing = NvmlLibrary::load(tiny.path(), Setters::absent);
  ASSERT_TRUE(observing);
  EXPECT_EQ((*observing)->nvmlDeviceSetGpuLockedClocks.pointer, nullptr);
  EXPECT_EQ((*observing)->nvmlDeviceResetGpuLockedClocks.pointer, nullptr);
  EXPECT_EQ((*observing)->nvmlDeviceSetMemoryLockedClocks.pointer, nullptr);
  EXPECT_EQ((*observing)->nvmlDeviceResetMemoryLockedClocks.pointer, nullptr);
  EXPECT_EQ((*observing)->nvmlDeviceSetPowerManagementLimit.pointer, nullptr);
  EXPECT_NE((*observing)->nvmlDeviceGetPowerManagementLimit.pointer, nullptr);
}

TEST(Driver, StaysLoadedWhileADeviceOfItLives) {
  const TinyLibrary library;
  {
    const Device device = library.open().devices().front();
    EXPECT_EQ(library.state().calls["nvmlShutdown"], 0);
    EXPECT_TRUE(device.energy());
  }
  EXPECT_EQ(library.state().calls["nvmlShutdown"], 1);
}

TEST(Driver, NamesTheFunctionsThatAnOldDriverLacks) {
  const TinyLibrary library(NEGAWATT_TINY_NVML_OLD);
  const Driver driver = library.open();
  const auto missing = driver.missing_functions();
  EXPECT_NE(std::ranges::find(missing, "nvmlDeviceGetTemperatureV"), missing.end());
  EXPECT_EQ(std::ranges::find(missing, "nvmlDeviceGetTemperature"), missing.end());
}

TEST(Driver, SaysWhichVersionItIs) {
  const TinyLibrary library;
  EXPECT_EQ(library.open().driver_version().value_or(""), "580.0");
}

}  // namespace
}  // namespace negawatt::gpu
