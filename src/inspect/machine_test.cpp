// SPDX-License-Identifier: Apache-2.0
#include "inspect/machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "tests/temporary_folder.hpp"

namespace negawatt::inspect {
namespace {

namespace fs = std::filesystem;

/// A machine's root folder, with the files that a test puts there.
class Root {
 public:
  Root() {
    put("proc/self/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
  }
  void put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(folder_.path(name)).parent_path());
    std::ignore = folder_.file(name, bytes);
  }
  [[nodiscard]] MachineFacts read() const { return read_machine(folder_.path("")); }
  [[nodiscard]] fs::path path() const { return folder_.path(""); }

 private:
  testing::TemporaryFolder folder_;
};

TEST(Machine, ReadsTheEffectiveUser) {
  const Root root;
  root.put("proc/self/status", "Name:\tx\nUid:\t1000\t0\t1000\t1000\nCapEff:\t000001ffffffffff\n");
  EXPECT_EQ(root.read().privilege.user_id, 0);
  EXPECT_TRUE(root.read().privilege.sys_admin);
}

TEST(Machine, ReadsTheOneCapabilityThatCounts) {
  const Root root;
  // What Docker leaves to root: without CAP_SYS_ADMIN, which is bit 21.
  root.put("proc/self/status", "Uid:\t0\t0\t0\t0\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n");
  EXPECT_FALSE(root.read().privilege.sys_admin);
  root.put("proc/self/status", "\nUid:\t0\t0\t0\t0\nCapEff:\t0000000000200000\n");
  EXPECT_TRUE(root.read().privilege.sys_admin);
}

TEST(Machine, KnowsContainersByTheirMarks) {
  const Root none;
  none.put("proc/1/cgroup", "0::/init.scope\n");
  EXPECT_EQ(none.read().privilege.container, std::nullopt);
  const Root docker;
  docker.put(".dockerenv", "");
  EXPECT_EQ(docker.read().privilege.container, "docker");
  const Root podman;
  podman.put("run/.containerenv", "");
  EXPECT_EQ(podman.read().privilege.container, "podman");
  const Root nspawn;
  nspawn.put("run/systemd/container", "systemd-nspawn\n");
  EXPECT_EQ(nspawn.read().privilege.container, "systemd-nspawn");
  const Root pod;
  pod.put("proc/1/cgroup", "0::/kubepods.slice/kubepods-burstable.slice\n");
  EXPECT_EQ(pod.read().privilege.container, "kubepods");
}

TEST(Machine, ReadsTheLoadedDriversVersion) {
  const Root root;
  EXPECT_EQ(root.read().kernel_driver, std::nullopt);
  root.put("proc/driver/nvidia/version",
           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Mon Jan  5\n");
  EXPECT_EQ(root.read().kernel_driver, "580.159.04");
  root.put("proc/driver/nvidia/version",
           "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n");
  EXPECT_EQ(root.read().kernel_driver, "570.86.15");
}

TEST(Machine, FindsProfilersAmongTheProcesses) {
  const Root root;
  root.put("proc/12/comm", "nv-hostengine\n");
  root.put("proc/7/comm", "ncu\n");
  root.put("proc/13/comm", "bash\n");
  root.put("proc/bus/comm", "nsys\n");  // not a process
  const auto tools = root.read().tools;
  ASSERT_EQ(tools.size(), 2);
  EXPECT_EQ(tools[0].name, "ncu");
  EXPECT_EQ(tools[1].name, "nv-hostengine");
  EXPECT_EQ(tools[1].pid, 12);
}

TEST(Machine, AProcessThatIsGoneHasNoName) {
  const Root root;
  root.put("proc/12/comm", "python3\n");
  EXPECT_EQ(command_of(root.path(), 12), "python3");
  EXPECT_EQ(command_of(root.path(), 99), "");
}

TEST(Machine, AnUnreadableMachineIsNobodysAndNothingFails) {
  const Root root;
  fs::remove_all(root.path() / "proc");
  const auto facts = root.read();
  EXPECT_FALSE(facts.privilege.sys_admin);
  EXPECT_TRUE(facts.tools.empty());
}

}  // namespace
}  // namespace negawatt::inspect
