// SPDX-License-Identifier: Apache-2.0
#include "govern/run.hpp"

#include <signal.h>

#include <array>
#include <cerrno>
#include <stop_token>
#include <thread>
#include <utility>

#include "govern/position_map.hpp"

namespace negawatt::govern {
namespace {

// Everything that is meant for the work, not for us. Stopping (Ctrl-Z) stops us both.
constexpr std::array kPassedSignals = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                       SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t passed_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kPassedSignals) ::sigaddset(&set, number);
  ::sigaddset(&set, SIGCHLD);
  return set;
}

/// The terminal sends its signals to the whole foreground group: the child has it already.
bool is_from_terminal(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

process::Ending wait_passing_signals(process::Child& child) {
  const auto signals = passed_signals();
  while (true) {
    if (const auto ending = child.poll()) return *ending;
    siginfo_t info{};
    const int number = ::sigwaitinfo(&signals, &info);
    if (number > 0 && number != SIGCHLD && !is_from_terminal(info)) child.signal(number);
  }
}

}  // namespace

void block_passed_signals() {
  ::signal(SIGCHLD, SIG_DFL);  // whoever started us may ignore it, and then it is not waited for
  const auto signals = passed_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<Ran> run(const Execution& plan, const std::vector<std::string>& command,
                const gpu::Device& device, const Actuator& actuator, const FollowOptions& options) {
  NW_TRY(const auto position, PositionMap::create());
  NW_TRY(auto child,
         process::Child::start(
             {.command = command, .environment = {{kPositionVariable, position.path()}}}));
  Ran ran;
  {
    std::jthread follower([&](const std::stop_token& stop) {
      ran.followed = follow(plan, position.page(), device, actuator, options, stop);
    });
    ran.ending = wait_passing_signals(child);
  }
  return ran;
}

Result<process::Ending> run_alone(const std::vector<std::string>& command) {
  NW_TRY(auto child, process::Child::start({.command = command}));
  return wait_passing_signals(child);
}

}  // namespace negawatt::govern
