// SPDX-License-Identifier: Apache-2.0
// Doctor against the scripted driver of room gpu, in its simulated time: one GPU, so that one
// thread at a time asks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>

#include "inspect/doctor.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::inspect {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// NVML's return codes, as its reference lists them.
constexpr int kNoPermission = 4;
constexpr int kDriverNotLoaded = 9;
constexpr int kGpuIsLost = 15;
constexpr int kVersionMismatch = 18;
constexpr int kUnknown = 999;

Finding finding_about(const std::string& subject, const std::vector<Finding>& findings) {
  for (const auto& finding : findings) {
    if (finding.subject == subject) return finding;
  }
  ADD_FAILURE() << "no finding about " << subject;
  return {};
}

/// The milliseconds behind "changes every ".
double period_ms(const std::string& found) {
  const std::string before = "changes every ";
  const auto at = found.find(before);
  return at == std::string::npos ? -1 : std::strtod(found.c_str() + at + before.size(), nullptr);
}

class Gather : public ::testing::Test {
 protected:
  Gather() { tiny_.state().gpus.resize(1); }
  [[nodiscard]] Diagnosis look(bool quick) const {
    return diagnose(gather({.quick = quick,
                            .library = tiny_.path(),
                            .socket = folder_.path("no-daemon"),
                            .root = folder_.path("")}));
  }
  void refuse(const std::string& function, int code) { tiny_.state().always[function] = code; }

  testing::TinyLibrary tiny_;
  testing::TemporaryFolder folder_;
};

TEST_F(Gather, MeasuresPeriodAndCostOfTheCounter) {
  tiny_.state().read_cost_ns = 3'400'000;
  const auto diagnosis = look(false);
  ASSERT_EQ(diagnosis.gpus.size(), 1);
  const auto energy = finding_about("energy counter", diagnosis.gpus.front().findings);
  EXPECT_EQ(energy.state, State::good) << energy.found;
  EXPECT_NEAR(period_ms(energy.found), 100, 1) << energy.found;
  EXPECT_THAT(energy.found, HasSubstr("read in 3.4 ms"));
}

TEST_F(Gather, ComparesCounterAndPower) {
  const auto diagnosis = look(false);
  const auto check = finding_about("counter vs power", diagnosis.gpus.front().findings);
  EXPECT_EQ(check.state, State::good) << check.found;
}

TEST_F(Gather, FindsACounterThatRunsAtHalfTheRate) {
  tiny_.card().counter_mj = [](double time) { return 150'000 * time; };
  const auto diagnosis = look(false);
  const auto check = finding_about("counter vs power", diagnosis.gpus.front().findings);
  EXPECT_EQ(check.state, State::limited) << check.found;
}

TEST_F(Gather, FindsACounterThatStandsStill) {
  tiny_.card().counter_mj = [](double) { return 77'000.0; };
  const auto diagnosis = look(false);
  const auto energy = finding_about("energy counter", diagnosis.gpus.front().findings);
  EXPECT_EQ(energy.state, State::missing) << energy.found;
}

TEST_F(Gather, QuickTakesNoTimeOfTheDevice) {
  const auto before = tiny_.state().now_ns;
  std::ignore = look(true);
  EXPECT_EQ(tiny_.state().now_ns, before);
}

TEST_F(Gather, NeverWritesAndLeavesVirtualTime) {
  std::ignore = look(false);
  EXPECT_THAT(tiny_.state().writes, IsEmpty());
  EXPECT_EQ(tiny_.state().joined, 0);
}

TEST_F(Gather, ALostGpuDoesNotHideTheDriver) {
  refuse("nvmlDeviceGetUUID", kGpuIsLost);
  const auto diagnosis = look(false);
  EXPECT_EQ(finding_about("driver version", diagnosis.machine).found, "580.0");
  EXPECT_EQ(finding_about("GPUs", diagnosis.machine).state, State::missing);
}

TEST_F(Gather, ADaemonThatIsAwayIsAFinding) {
  EXPECT_THAT(finding_about("negawattd", look(true).machine).found, HasSubstr("cannot reach"));
}

struct StartCase {
  const char* name;
  int code;
  const char* words;
};

class GatherStart : public Gather, public ::testing::WithParamInterface<StartCase> {};

TEST_P(GatherStart, SaysWhyTheDriverDoesNotStart) {
  refuse("nvmlInit_v2", GetParam().code);
  const auto library = finding_about("driver library", look(true).machine);
  EXPECT_EQ(library.state, State::missing);
  EXPECT_THAT(library.found + " " + library.action, HasSubstr(GetParam().words));
  EXPECT_NE(library.action, "");
}

INSTANTIATE_TEST_SUITE_P(
    Codes, GatherStart,
    ::testing::Values(StartCase{"NotLoaded", kDriverNotLoaded, "modprobe nvidia"},
                      StartCase{"OtherVersion", kVersionMismatch, "reboot"},
                      StartCase{"Denied", kNoPermission, "/dev/nvidia"},
                      StartCase{"Unknown", kUnknown, "Failed to initialize NVML: Unknown Error"},
                      StartCase{"UnknownsCause", kUnknown, "systemctl daemon-reload"}),
    [](const auto& param) { return param.param.name; });

TEST_F(Gather, AMissingLibraryIsNamed) {
  const auto diagnosis = diagnose(gather({.quick = true,
                                          .library = folder_.path("libnvidia-ml.so.1"),
                                          .socket = folder_.path("no-daemon"),
                                          .root = folder_.path("")}));
  const auto library = finding_about("driver library", diagnosis.machine);
  EXPECT_EQ(library.state, State::missing);
  EXPECT_THAT(library.found, HasSubstr(folder_.path("libnvidia-ml.so.1")));
  EXPECT_THAT(library.action, HasSubstr("install the NVIDIA driver"));
}

}  // namespace
}  // namespace negawatt::inspect
