// SPDX-License-Identifier: Apache-2.0
#include "sweep/runner.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace negawatt::sweep {
namespace {

/// A runner in shell: counts 7 calls and 3 us a `count`.
constexpr const char* kRunner = R"sh(
calls=0
while read -r verb name; do
  case $verb in
    kernels) echo 'kernel a\ gemm forward 24'; echo 'kernel gelu forward 1'; echo end ;;
    start) if [ "$name" = 'a\ gemm' ]; then echo started; else echo "error no kernel $name"; fi ;;
    count) calls=$((calls + 7)); echo "count $calls $((calls * 3000))" ;;
    stop) echo "stopped $calls 1.5" ;;
    quit) exit 0 ;;
  esac
done)sh";

process::ChildOptions script(const std::string& text) { return {.command = {"sh", "-c", text}}; }

TEST(KernelRunner, SpeaksLines) {
  auto runner = KernelRunner::start(script(kRunner));
  ASSERT_TRUE(runner) << runner.error().message;
  ASSERT_EQ(runner->kernels().size(), 2U);
  EXPECT_EQ(runner->kernels()[0].name, "a gemm");
  EXPECT_EQ(runner->kernels()[0].calls, 24U);
  ASSERT_TRUE(runner->start_kernel("a gemm"));
  EXPECT_EQ(runner->count()->calls, 7U);
  EXPECT_EQ(runner->count()->device_ns, 42'000U);
  EXPECT_TRUE(runner->stop_kernel());
  EXPECT_EQ(runner->start_kernel("other").error().message,
            "the kernel runner says: no kernel other");
}

TEST(KernelRunner, SaysWhatItDidNotUnderstand) {
  const auto message = [](const std::string& text) {
    const auto runner = KernelRunner::start(script(text));
    EXPECT_FALSE(runner) << text;
    return runner ? "" : runner.error().message;
  };
  EXPECT_EQ(message("read x; echo end"), "the kernel runner has no kernels");
  EXPECT_EQ(message("read x; echo kernel gemm"),
            "the kernel runner did not list its kernels as 'kernel NAME GROUP CALLS' and 'end'");
  EXPECT_EQ(message("read x; echo 'kernel a b -1'"),
            "the kernel runner said '-1' where a whole number was expected");
  EXPECT_EQ(message("read x; echo 'kernel a b 1'; echo 'kernel a c 2'; echo end"),
            "the kernel runner names kernel 'a' twice");
  EXPECT_EQ(message("read x; echo 'kernel a b 0'"),
            "the kernel runner named a kernel with no calls");
  EXPECT_EQ(message("read x; printf 'kernel \\033[2J b 1\\n'"),
            "the kernel runner wrote something unprintable");
  EXPECT_EQ(message("read x; exit 1"), "the child ended its output");
}

TEST(KernelRunner, AnAnswerThatDoesNotFitEndsTheTalkAndARefusalDoesNot) {
  auto runner = KernelRunner::start(script(R"sh(
while read -r verb name; do
  case $verb in
    kernels) echo 'kernel gemm forward 1'; echo end ;;
    start) echo started ;;
    count) echo "error not now" ;;
    stop) echo "count 1 1" ;;
    quit) exit 0 ;;
  esac
done)sh"));
  ASSERT_TRUE(runner) << runner.error().message;
  EXPECT_TRUE(runner->stop_kernel()) << "nothing runs: nothing to ask";
  ASSERT_TRUE(runner->start_kernel("gemm"));
  EXPECT_FALSE(runner->count());
  EXPECT_FALSE(runner->is_broken());
  EXPECT_FALSE(runner->stop_kernel());
  EXPECT_TRUE(runner->is_broken());
  EXPECT_EQ(runner->start_kernel("gemm").error().message,
            "the kernel runner does not answer any more");
}

TEST(KernelRunner, WhatDoesNotEndIsKilled) {
  const auto pid_file = ::testing::TempDir() + "negawatt-runner-pid-" + std::to_string(::getpid());
  // Out of step, so that it is not asked to quit; and deaf to SIGTERM.
  const auto runner =
      KernelRunner::start(script("trap '' TERM; echo $$ > '" + pid_file +
                                 "'; read x; printf '\\033\\n'; while :; do sleep 0.1; done"));
  EXPECT_FALSE(runner);
  int pid = 0;
  std::ifstream(pid_file) >> pid;
  std::filesystem::remove(pid_file);
  ASSERT_GT(pid, 0);
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace negawatt::sweep
