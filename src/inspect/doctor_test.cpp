// SPDX-License-Identifier: Apache-2.0
// Findings about the machine, and how all findings look.
#include "inspect/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "inspect/facts_for_test.hpp"
#include "inspect/machine_findings.hpp"

namespace negawatt::inspect {
namespace {

using gpu::Obstacle;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Finding finding_about(const std::string& subject, const std::vector<Finding>& findings) {
  for (const auto& finding : findings) {
    if (finding.subject == subject) return finding;
  }
  ADD_FAILURE() << "no finding about " << subject;
  return {};
}

struct Case {
  std::string name;
  std::function<void(DoctorFacts&)> change;
  std::string subject;
  State state;
  std::string found;
  std::string action;  ///< empty: nothing to do
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class MachineFinding : public testing::TestWithParam<Case> {};

TEST_P(MachineFinding, IsWhatTheMachineMeans) {
  DoctorFacts facts = facts_of_healthy_machine();
  GetParam().change(facts);
  const auto finding = finding_about(GetParam().subject, diagnose(facts).machine);
  EXPECT_EQ(finding.state, GetParam().state) << finding.found;
  EXPECT_THAT(finding.found, HasSubstr(GetParam().found));
  if (GetParam().action.empty()) {
    EXPECT_EQ(finding.action, "");
  } else {
    EXPECT_THAT(finding.action, HasSubstr(GetParam().action));
  }
}

const auto kNothing = [](DoctorFacts&) {};

Error opening(const std::string& message) { return {Code::unavailable, message}; }

void second_gpu_is_lost(DoctorFacts& f) {
  f.gpus.push_back(f.gpus.front());
  f.gpus.back().display_index = 1;
  f.gpus.back().identity.reset();
  f.gpus.back().lost = no_answer(Obstacle::lost).value();
}

void daemon_is_away(DoctorFacts& f) {
  f.daemon.failure = opening("cannot reach negawattd at /run/x: No such file or directory");
  f.daemon.gpus.clear();
}

INSTANTIATE_TEST_SUITE_P(
    Driver, MachineFinding,
    testing::Values(
        Case{"ALibraryThatOpensIsGood", kNothing, "driver library", State::good,
             "libnvidia-ml.so.1, NVML 13.580.159.04", ""},
        Case{"ASimulatedDriverSaysSo", [](DoctorFacts& f) { f.driver.simulated = true; },
             "driver library", State::good, "nothing here is real", ""},
        Case{"AMissingLibraryNamesItsPathAndWhatToInstall",
             [](DoctorFacts& f) {
               f.machine.kernel_driver.reset();
               f.driver.failure = opening(
                   "cannot load the NVIDIA management library libnvidia-ml.so.1 (no such file): "
                   "install the NVIDIA driver");
             },
             "driver library", State::missing,
             "library libnvidia-ml.so.1 (no such file); no NVIDIA kernel driver is loaded",
             "install the NVIDIA driver"},
        Case{"AVersionMismatchNamesTheLoadedDriver",
             [](DoctorFacts& f) {
               f.driver.failure = opening(
                   "cannot start NVML (libnvidia-ml.so.1): this library and the loaded kernel "
                   "driver are of different versions: reboot");
             },
             "driver library", State::missing, "kernel driver 580.159.04 is loaded", "reboot"},
        Case{"TheUnknownErrorOfContainersIsQuoted",
             [](DoctorFacts& f) {
               f.machine.privilege.container = "docker";
               f.driver.failure = opening(
                   "cannot start NVML (libnvidia-ml.so.1): 'Unknown Error': in a container this is "
                   "what is left when 'systemctl daemon-reload' on the host took its GPUs away: "
                   "restart the container");
             },
             "driver library", State::missing,
             "Failed to initialize NVML: Unknown Error; cannot start NVML (libnvidia-ml.so.1); "
             "this is a docker container",
             "systemctl daemon-reload"},
        Case{"AHangingStartIsSaid", [](DoctorFacts& f) { f.driver.hangs = true; }, "driver library",
             State::missing, "has not returned", "dmesg"},
        Case{"AnUnknownVersionIsUnknown",
             [](DoctorFacts& f) { f.driver.driver_version = no_answer(Obstacle::absent); },
             "driver version", State::unknown, "said no", ""},
        Case{"AFunctionWithoutSubstituteIsNamed",
             [](DoctorFacts& f) {
               f.driver.missing_functions = {"nvmlDeviceGetFieldValues",
                                             "nvmlDeviceGetTemperatureV"};
             },
             "driver functions", State::limited, "lacks nvmlDeviceGetFieldValues", "newer driver"},
        Case{"AllGpusAreCounted", kNothing, "GPUs", State::good, "1 of 1", ""},
        Case{"ALostGpuIsNamedAndLimits", second_gpu_is_lost, "GPUs", State::limited,
             "1 of 2 can be measured and governed; GPU 1 does not answer", ""},
        Case{"NoUsableGpuIsMissing",
             [](DoctorFacts& f) { f.gpus.front().answers->energy = no_answer(Obstacle::absent); },
             "GPUs", State::missing, "0 of 1 can be measured and governed; GPU 0: energy counter",
             ""},
        Case{"ADriverWithoutAGpuIsMissing", [](DoctorFacts& f) { f.gpus.clear(); }, "GPUs",
             State::missing, "has no GPU", "lspci"},
        Case{"AContainerWithoutAGpuIsTold",
             [](DoctorFacts& f) {
               f.gpus.clear();
               f.machine.privilege.container = "docker";
             },
             "GPUs", State::missing, "has no GPU", "--gpus all"},
        Case{"GpusThatCannotBeCountedAreMissing",
             [](DoctorFacts& f) { f.driver.listing = no_answer(Obstacle::lost).value(); }, "GPUs",
             State::missing, "said no", "dmesg"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Surroundings, MachineFinding,
    testing::Values(
        Case{"CudaSeesAllWithoutTheVariable", kNothing, "CUDA sees", State::good,
             "1 of 1 GPUs (CUDA_VISIBLE_DEVICES is not set)", ""},
        Case{"CudaThatSeesNoneIsMissing",
             [](DoctorFacts& f) {
               f.cuda.visible_devices = "7";
               f.visible = {{}, "there is no GPU number '7'"};
             },
             "CUDA sees", State::missing, "0 of 1 GPUs (CUDA_VISIBLE_DEVICES=7); there is no GPU",
             "unset"},
        Case{"ANoteOfTheOrderLimits", [](DoctorFacts& f) { f.visible.note = "the GPUs differ"; },
             "CUDA sees", State::limited, "the GPUs differ", ""},
        Case{"ADaemonThatAnswersIsGood", kNothing, "negawattd", State::good, "1 GPUs; no lease",
             ""},
        Case{"ALeaseNamesItsOwner",
             [](DoctorFacts& f) {
               f.daemon.gpus.front().state = lease::GpuState::leased;
               f.daemon.gpus.front().owner = {.pid = 4242, .uid = 1000, .command = "train"};
             },
             "negawattd", State::good, "leased: GPU-aaaa0000 by train (pid 4242, user 1000)", ""},
        Case{"ADaemonThatIsAwayIsMissing", daemon_is_away, "negawattd", State::missing,
             "cannot reach", "ask an administrator"},
        Case{"RootIsToldToStartTheDaemon",
             [](DoctorFacts& f) {
               daemon_is_away(f);
               f.machine.privilege = {.user_id = 0, .sys_admin = true, .container = {}};
             },
             "negawattd", State::missing, "cannot reach", "start it: systemctl"},
        Case{"OnASimulatedGpuTheDaemonIsStartedByHand",
             [](DoctorFacts& f) {
               daemon_is_away(f);
               f.driver.simulated = true;
             },
             "negawattd", State::missing, "cannot reach", "start it: negawattd"},
        Case{"RootInAContainerHasTheChoice",
             [](DoctorFacts& f) {
               daemon_is_away(f);
               f.machine.privilege = {.user_id = 0, .sys_admin = true, .container = "docker"};
             },
             "negawattd", State::missing, "cannot reach", "start it here, or run negawattd on"},
        Case{"AContainerIsToldToUseTheHostsDaemon",
             [](DoctorFacts& f) {
               daemon_is_away(f);
               f.machine.privilege.container = "podman";
             },
             "negawattd", State::missing, "cannot reach", "on the host"},
        Case{"ADaemonThatOnlyObservesIsMissing",
             [](DoctorFacts& f) { f.daemon.observe_only = true; }, "negawattd", State::missing,
             "only observes", "without --observe-only"},
        Case{"AGpuThatIsNotRestoredIsNamed",
             [](DoctorFacts& f) { f.daemon.gpus.front().state = lease::GpuState::restoring; },
             "negawattd's GPUs", State::limited, "GPU-aaaa0000 is not back", "journalctl"},
        Case{"ClocksAreSetThroughTheDaemon", kNothing, "setting clocks", State::good,
             "through negawattd", ""},
        Case{"AUserWithoutTheDaemonMayNot", daemon_is_away, "setting clocks", State::missing,
             "user 1000 may not", "administrator"},
        Case{"RootInAContainerMayNotWithoutTheCapability",
             [](DoctorFacts& f) {
               daemon_is_away(f);
               f.machine.privilege = {.user_id = 0, .sys_admin = false, .container = "docker"};
             },
             "setting clocks", State::missing,
             "root without CAP_SYS_ADMIN may not (docker container)", "--cap-add SYS_ADMIN"},
        Case{"RootMay",
             [](DoctorFacts& f) {
               daemon_is_away(f);
               f.machine.privilege = {.user_id = 0, .sys_admin = true, .container = {}};
             },
             "setting clocks", State::limited, "this user may", ""},
        Case{"NoOtherToolIsGood", kNothing, "other tools", State::good, "no profiler", ""},
        Case{"OtherToolsAreNamed",
             [](DoctorFacts& f) {
               f.machine.tools = {{"nv-hostengine", 77}};
               f.machine.injection = "/opt/nsys/inject.so";
             },
             "other tools", State::limited,
             "nv-hostengine (pid 77), CUDA_INJECTION64_PATH=/opt/nsys/inject.so", "stop them"}),
    [](const auto& param) { return param.param.name; });

TEST(Doctor, AHealthyMachineWorksAndIsSentToTheSweep) {
  const auto diagnosis = diagnose(facts_of_healthy_machine());
  EXPECT_TRUE(works(diagnosis));
  EXPECT_THAT(next_step(diagnosis), HasSubstr("negawatt sweep"));
}

TEST(Doctor, DoesNotWorkWithoutTheDaemonHoweverGoodTheGpus) {
  auto facts = facts_of_healthy_machine();
  daemon_is_away(facts);
  EXPECT_FALSE(works(diagnose(facts)));
}

TEST(Doctor, WorksWithOneLostGpuOfTwo) {
  auto facts = facts_of_healthy_machine();
  second_gpu_is_lost(facts);
  EXPECT_TRUE(works(diagnose(facts)));
  EXPECT_THAT(next_step(diagnose(facts)), HasSubstr("GPU 1"));
}

TEST(Doctor, NamesTheGravestStepFirst) {
  auto facts = facts_of_healthy_machine();
  facts.machine.tools = {{"nsys", 5}};  // limited, of the machine
  EXPECT_THAT(next_step(diagnose(facts)), HasSubstr("other tools"));
  facts.gpus.front().answers->processes = no_answer(Obstacle::absent);  // missing, of a GPU
  EXPECT_FALSE(works(diagnose(facts)));
  EXPECT_THAT(next_step(diagnose(facts)), HasSubstr("GPU 0, processes"));
}

TEST(Doctor, SaysPlainlyThatThereIsNoDriver) {
  DoctorFacts facts = facts_of_healthy_machine();
  facts.gpus.clear();
  facts.driver.failure = opening("cannot load it (not found): install the NVIDIA driver");
  const auto diagnosis = diagnose(facts);
  EXPECT_FALSE(works(diagnosis));
  EXPECT_THAT(doctor_text(diagnosis, false), HasSubstr("missing  driver library"));
  EXPECT_THAT(doctor_text(diagnosis, false),
              HasSubstr("\nNext: driver library: install the NVIDIA driver\n"));
}

TEST(Doctor, ReplacedFunctionsAreNotLost) {
  EXPECT_THAT(
      without_substitute({"nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetTemperatureV",
                          "nvmlDeviceGetComputeRunningProcesses_v3"}),
      IsEmpty());
  EXPECT_THAT(without_substitute({"nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"}),
              ElementsAre("nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"));
}

TEST(Doctor, EveryLineFitsInEightyColumnsAndIsPlain) {
  DoctorFacts facts = facts_of_healthy_machine();
  second_gpu_is_lost(facts);
  daemon_is_away(facts);
  facts.machine.tools = {{"nsys\033[2J", 5}};
  facts.visible.note = std::string(300, 'x') + " \xC3\xA9\a";
  std::istringstream text(doctor_text(diagnose(facts), false));
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 80) << line;
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  }
}

TEST(Doctor, ColourIsOnlyAnAddition) {
  const auto diagnosis = diagnose(facts_of_healthy_machine());
  std::string coloured = doctor_text(diagnosis, true);
  EXPECT_THAT(coloured, HasSubstr("\033[32mgood"));
  std::string bare;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\033')
      i = coloured.find('m', i);
    else
      bare += coloured[i];
  }
  EXPECT_EQ(bare, doctor_text(diagnosis, false));
}

TEST(Doctor, GpusThatAreAlikeAreShownOnce) {
  DoctorFacts facts = facts_of_healthy_machine();
  facts.gpus.push_back(facts.gpus.front());
  facts.gpus.back().display_index = 1;
  facts.gpus.back().answers->energy->counter = {1};
  EXPECT_THAT(doctor_text(diagnose(facts), false), HasSubstr("as GPU 0, with its own numbers"));
  facts.gpus.back().answers->persistence = false;
  EXPECT_THAT(doctor_text(diagnose(facts), false), Not(HasSubstr("as GPU 0")));
}

TEST(Doctor, JsonHoldsEveryFindingAndTheVerdict) {
  const auto json = nlohmann::json::parse(doctor_json(diagnose(facts_of_healthy_machine())));
  EXPECT_EQ(json.at("works"), true);
  EXPECT_THAT(json.at("next_step").get<std::string>(), HasSubstr("sweep"));
  EXPECT_EQ(json.at("machine").at(0).at("subject"), "driver library");
  EXPECT_EQ(json.at("machine").at(0).at("state"), "good");
  EXPECT_EQ(json.at("gpus").at(0).at("uuid"), "GPU-aaaa0000-1111-2222-3333-444455556666");
  EXPECT_EQ(json.at("gpus").at(0).at("findings").size(), 10);
}

}  // namespace
}  // namespace negawatt::inspect
