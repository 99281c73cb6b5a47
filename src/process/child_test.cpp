// SPDX-License-Identifier: Apache-2.0
#include "process/child.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace negawatt::process {
namespace {

Child shell(const std::string& script, Streams streams = Streams::inherited) {
  auto child = Child::start({.command = {"sh", "-c", script},
                             .environment = {{"NW_TEST", "a value"}},
                             .streams = streams});
  EXPECT_TRUE(child) << child.error().message;
  return std::move(child).value();
}

TEST(Child, TellsHowItEnded) {
  EXPECT_EQ(to_string(shell("exit 3").wait()), "exit code 3");
  const auto ending = shell("kill -9 $$").wait();
  EXPECT_EQ(to_string(ending), "signal 9 (Killed)");
  EXPECT_EQ(ending.shell_code(), 137);
}

TEST(Child, SaysThatACommandDoesNotExist) {
  const auto child = Child::start({.command = {"/nonexistent/program"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().message,
            "cannot start '/nonexistent/program': No such file or directory");
}

TEST(Child, TalksThroughPipesAndSeesItsEnvironment) {
  auto child = shell("while read line; do echo \"$line for $NW_TEST\"; done", Streams::piped);
  for (const auto* word : {"one", "two"}) {
    ASSERT_TRUE(child.write_line(word));
    const auto answer = child.read_line(Seconds(10));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, std::string(word) + " for a value");
  }
  child.close_input();
  EXPECT_EQ(child.wait().exit_code, 0);
  EXPECT_EQ(child.read_line(Seconds(10)).error().message, "the child ended its output");
}

TEST(Child, AChildThatIsGoneIsAnErrorNotASignal) {
  auto child = shell("exit 0", Streams::piped);
  (void)child.wait();
  EXPECT_FALSE(child.write_line("hello"));
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

TEST(Child, ThatCannotHaveItsPipesLeaksNoDescriptor) {
  const auto before = open_descriptors();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto usual = limit.rlim_cur;
  // Room for one pipe, and not for two.
  const int lowest = dup(STDERR_FILENO);
  close(lowest);
  limit.rlim_cur = static_cast<rlim_t>(lowest) + 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto child = Child::start({.command = {"true"}, .streams = Streams::piped});
  limit.rlim_cur = usual;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("cannot make a pipe"), std::string::npos);
  EXPECT_EQ(open_descriptors(), before);
}

volatile std::sig_atomic_t pipe_signals = 0;

TEST(Child, WritingToOneThatIsGoneLeavesTheProcessesSignalsAlone) {
  struct sigaction count{};
  struct sigaction before{};
  count.sa_handler = [](int) { pipe_signals = pipe_signals + 1; };
  ASSERT_EQ(sigaction(SIGPIPE, &count, &before), 0);
  auto child = shell("exit 0", Streams::piped);
  (void)child.wait();
  EXPECT_FALSE(child.write_line("hello"));
  EXPECT_EQ(pipe_signals, 0) << "ours is taken";
  raise(SIGPIPE);
  EXPECT_EQ(pipe_signals, 1) << "others come as before";
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
  sigaction(SIGPIPE, &before, nullptr);
}

TEST(Child, SilenceEndsPatience) {
  auto child = shell("exec sleep 60", Streams::piped);
  EXPECT_EQ(child.read_line(Seconds(0.01)).error().message, "the child said nothing for 0.01 s");
  EXPECT_FALSE(child.poll());
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait().signal, SIGTERM);
}

TEST(Child, IgnoresWhatItsStarterIgnores) {
  const auto before = ::signal(SIGHUP, SIG_IGN);  // as nohup does
  EXPECT_EQ(shell("kill -HUP $$; exit 5").wait().exit_code, 5);
  (void)::signal(SIGHUP, before);
}

TEST(Child, DoesNotInheritBlockedSignals) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  auto child = shell("exec sleep 60");
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait().signal, SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace negawatt::process
