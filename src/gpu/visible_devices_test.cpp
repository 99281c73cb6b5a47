// SPDX-License-Identifier: Apache-2.0
#include "gpu/visible_devices.hpp"

#include <gtest/gtest.h>

#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

/// Four GPUs alike; the driver lists them in another order than the bus.
std::vector<PhysicalGpu> four() {
  return {{GpuId("GPU-aa11"), "00000000:01:00.0", "Tiny"},
          {GpuId("GPU-aa22"), "00000000:02:00.0", "Tiny"},
          {GpuId("GPU-dd44"), "00000000:04:00.0", "Tiny"},
          {GpuId("GPU-cc33"), "00000000:03:00.0", "Tiny"}};
}

std::string shown(const Visibility& seen) {
  std::string text;
  for (const auto& device : seen.devices) {
    if (!text.empty()) text += ' ';
    text += device.instance ? device.instance->text() : device.gpu.text();
  }
  return text;
}

struct Case {
  const char* name;
  const char* variable;  ///< null: not set
  const char* seen;
};

class VisibleDevices : public ::testing::TestWithParam<Case> {};

TEST_P(VisibleDevices, AreWhatCudaSees) {
  CudaEnvironment environment;
  if (GetParam().variable != nullptr) environment.visible_devices = GetParam().variable;
  EXPECT_EQ(shown(visible_devices(environment, four())), GetParam().seen);
}

INSTANTIATE_TEST_SUITE_P(
    Whole, VisibleDevices,
    ::testing::Values(
        Case{"Unset", nullptr, "GPU-aa11 GPU-aa22 GPU-cc33 GPU-dd44"}, Case{"Empty", "", ""},
        Case{"Blank", " ", ""}, Case{"One", "1", "GPU-aa22"},
        Case{"InTheirOrder", "3,0", "GPU-dd44 GPU-aa11"},
        Case{"WithBlanks", " 1 , 2", "GPU-aa22 GPU-cc33"}, Case{"MinusOne", "-1", ""},
        Case{"StopsAtMinusOne", "0,-1,1", "GPU-aa11"},
        Case{"StopsAtOneTooHigh", "0,4,1", "GPU-aa11"}, Case{"StopsAtText", "0,x,1", "GPU-aa11"},
        Case{"StopsAtNothing", "0,,1", "GPU-aa11"},
        Case{"NumbersAsStrtolReadsThem", "1gpu2,2ampere", "GPU-aa22 GPU-cc33"},
        Case{"PlusSign", "+1", "GPU-aa22"}, Case{"TwiceIsNone", "0,1,0", ""},
        Case{"TwiceBehindAnInvalidOneIsNotSeen", "0,9,0", "GPU-aa11"},
        Case{"TooLongANumber", "99999999999999999999", ""}, Case{"Nonsense", "all", ""},
        Case{"Uuid", "GPU-cc33", "GPU-cc33"}, Case{"UuidPrefix", "GPU-c", "GPU-cc33"},
        Case{"UuidsInTheirOrder", "GPU-dd44,GPU-aa2", "GPU-dd44 GPU-aa22"},
        Case{"AmbiguousPrefix", "GPU-aa", ""}, Case{"StopsAtAmbiguous", "GPU-c,GPU-aa", "GPU-cc33"},
        Case{"UnknownUuid", "GPU-ee", ""}, Case{"StopsAtUnknown", "GPU-c,GPU-ee,GPU-d", "GPU-cc33"},
        Case{"UuidTwiceByTwoPrefixes", "GPU-c,GPU-cc", ""},
        Case{"StopsAtIndexAmongUuids", "GPU-c,0", "GPU-cc33"},
        Case{"StopsAtUuidAmongIndices", "0,GPU-c", "GPU-aa11"},
        Case{"LowerCaseIsNoUuid", "gpu-cc33", ""}, Case{"MigWithoutMig", "MIG-1", ""}),
    [](const auto& test) { return test.param.name; });

TEST(VisibleDevicesNote, SaysWhatIsWrongAndWhatFollows) {
  const auto note = [](const char* variable) {
    return visible_devices({.visible_devices = variable}, four()).note;
  };
  EXPECT_EQ(note("0,1"), "");
  EXPECT_NE(note("0,7").find("no GPU number '7'"), std::string::npos);
  EXPECT_NE(note("GPU-aa").find("more than one GPU begins with"), std::string::npos);
  EXPECT_NE(note("0,0").find("twice"), std::string::npos);
  EXPECT_NE(note("").find("empty"), std::string::npos);
}

TEST(VisibleDevicesOrder, IsOnlyKnownForEqualGpusOrByBus) {
  auto gpus = four();
  gpus[1].name = "Other";
  EXPECT_NE(visible_devices({.visible_devices = "1"}, gpus).note, "");
  EXPECT_EQ(visible_devices({.visible_devices = "1", .device_order = "PCI_BUS_ID"}, gpus).note, "");
  EXPECT_EQ(visible_devices({.visible_devices = "GPU-c"}, gpus).note, "");
}

/// A whole GPU, and one that is cut in two.
std::vector<PhysicalGpu> with_instances() {
  return {{GpuId("GPU-aa11"), "00000000:01:00.0", "Tiny"},
          {GpuId("GPU-bb22"), "00000000:02:00.0", "Tiny", true, {MigId("MIG-71"), MigId("MIG-72")}},
          {GpuId("GPU-cc33"), "00000000:03:00.0", "Tiny", true, {}}};
}

class VisibleInstances : public ::testing::TestWithParam<Case> {};

TEST_P(VisibleInstances, AreWhatCudaSees) {
  CudaEnvironment environment;
  if (GetParam().variable != nullptr) environment.visible_devices = GetParam().variable;
  EXPECT_EQ(shown(visible_devices(environment, with_instances())), GetParam().seen);
}

INSTANTIATE_TEST_SUITE_P(
    Mig, VisibleInstances,
    ::testing::Values(
        Case{"ById", "MIG-72", "MIG-72"}, Case{"ByPrefix", "MIG-71", "MIG-71"},
        Case{"Ambiguous", "MIG-7", ""}, Case{"OnlyTheFirst", "MIG-72,MIG-71", "MIG-72"},
        Case{"Twice", "MIG-72,MIG-72", ""}, Case{"AGpuWithMigIsItsFirstInstance", "1", "MIG-71"},
        Case{"AlsoByUuid", "GPU-bb", "MIG-71"}, Case{"AnInstanceHidesWholeGpus", nullptr, "MIG-71"},
        Case{"AWholeGpuAlone", "0", "GPU-aa11"}, Case{"MigWithoutInstances", "2", ""},
        Case{"AWholeGpuBesideOneWithoutInstances", "0,2", "GPU-aa11"}),
    [](const auto& test) { return test.param.name; });

TEST(VisibleInstancesNote, NamesTheGpuBehindAnInstance) {
  const auto seen = visible_devices({.visible_devices = "MIG-72"}, with_instances());
  ASSERT_EQ(seen.devices.size(), 1U);
  EXPECT_EQ(seen.devices[0].gpu, GpuId("GPU-bb22"));
}

TEST(PhysicalGpus, AreTheDriversGpusWithTheirInstances) {
  const testing::TinyLibrary library;
  library.card(1).mig = true;
  library.card(1).instances = {"MIG-71"};
  const auto gpus = physical_gpus(library.open());
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_FALSE(gpus[0].mig);
  EXPECT_EQ(gpus[1].instances, (std::vector<MigId>{MigId("MIG-71")}));
  EXPECT_EQ(shown(visible_devices({}, gpus)), "MIG-71");
}

}  // namespace
}  // namespace negawatt::gpu
