// SPDX-License-Identifier: Apache-2.0
#include "govern/run.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include "govern/companion.hpp"
#include "govern/position_map.hpp"

namespace negawatt::govern {
namespace {

// Everything that is meant for the work, not for us. Stopping (Ctrl-Z) stops us both.
constexpr std::array kPassedSignals = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                       SIGUSR1, SIGUSR2, SIGWINCH};

// How long the command waits for us. On a GPU in virtual time it must: it would be over before we
// take part.
constexpr std::chrono::seconds kMeetPatience(1);
// How long its ending does.
constexpr Seconds kEndPatience(1.0);

sigset_t passed_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kPassedSignals) ::sigaddset(&set, number);
  ::sigaddset(&set, SIGCHLD);
  return set;
}

/// The terminal sends its signals to the whole foreground group: the child has it already.
bool is_from_terminal(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

using SteadyClock = std::chrono::steady_clock;

/// The next of our signals, if one comes within `patience`.
std::optional<siginfo_t> next_signal(SteadyClock::duration patience) {
  const auto ns = std::max<std::int64_t>(0, std::chrono::nanoseconds(patience).count());
  const timespec time{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                      .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  const auto signals = passed_signals();
  siginfo_t info{};
  if (::sigtimedwait(&signals, &info, &time) <= 0) return std::nullopt;
  return info;
}

/// Waits for the companion, within its patience. Returns the signal that ended the wait for good:
/// the command that it was meant for does not run yet.
std::optional<int> wait_until_met(const Companion& companion) {
  const auto deadline = SteadyClock::now() + kMeetPatience;
  while (true) {
    const bool is_over = companion.has_met() || SteadyClock::now() >= deadline;
    const auto signal =
        next_signal(is_over ? SteadyClock::duration() : deadline - SteadyClock::now());
    if (signal && signal->si_signo != SIGCHLD && signal->si_signo != SIGWINCH)
      return signal->si_signo;
    if (!signal && is_over) return std::nullopt;
  }
}

process::Ending wait_passing_signals(process::Child& child) {
  // What the terminal sent while the command was being started may not have reached it.
  while (const auto signal = next_signal({}))
    if (signal->si_signo != SIGCHLD) child.signal(signal->si_signo);
  const auto signals = passed_signals();
  while (true) {
    if (const auto ending = child.poll()) return *ending;
    siginfo_t info{};
    const int number = ::sigwaitinfo(&signals, &info);
    if (number > 0 && number != SIGCHLD && !is_from_terminal(info)) child.signal(number);
  }
}

/// With nobody watching: what is left to do where nothing else works.
Result<Ran> run_alone(const RunOrder& order, const Error& why) {
  Ran ran{.note = "runs without us: " + why.message, .note_was_said = true};
  order.say(ran.note);
  NW_TRY(auto child, process::Child::start({.command = order.command}));
  ran.ending = wait_passing_signals(child);
  return ran;
}

}  // namespace

void block_passed_signals() {
  ::signal(SIGCHLD, SIG_DFL);  // whoever started us may ignore it, and then it is not waited for
  const auto signals = passed_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<Ran> run(const RunOrder& order) {
  auto position = PositionMap::create();
  if (!position) return run_alone(order, position.error());
  const process::ChildOptions program{.command = order.command,
                                      .environment = {{kPositionVariable, position->path()}}};
  auto companion = Companion::start(order, std::move(*position));
  if (!companion) return run_alone(order, companion.error());
  if (const auto number = wait_until_met(*companion))
    return Ran{.ending = {.signal = number}, .was_started = false};
  const auto reason = companion->reason();
  if (!reason.empty()) order.say(reason);
  NW_TRY(auto child, process::Child::start(program));
  companion->accompany(child.pid());
  const auto ending = wait_passing_signals(child);
  auto ran = companion->finish(kEndPatience);
  ran.ending = ending;
  ran.note_was_said = ran.note == reason;
  return ran;
}

}  // namespace negawatt::govern
