// SPDX-License-Identifier: Apache-2.0
#include "govern/follow.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include "govern/counter_watch.hpp"

namespace negawatt::govern {
namespace {

// How often to look when nothing is due: for the end of the program, and for a position that comes
// without a notice.
constexpr Seconds kLook(0.02);
// The daemon needs a moment to see that the program uses the GPU. In virtual time, which stands
// still meanwhile, the program would be over before.
constexpr Seconds kReadyPatience(2.0);
// A request that was refused is asked for again, after longer and longer.
constexpr Seconds kFirstRetry(0.1);
constexpr Seconds kLastRetry(5.0);
// A wake-up may be late by the timer slack, 50 us unless one asks for less.
constexpr unsigned long kTimerSlackNs = 1000;

class Follower {
 public:
  Follower(const Execution& plan, const Actuator& actuator, const FollowOptions& options,
           const std::stop_token& stop)
      : plan_(plan),
        governor_(plan),
        ledger_(plan, options.warm_up),
        actuator_(actuator),
        stop_(stop),
        governs_(options.governs) {
    governor_.acts(false);
  }

  /// Returns when to look again. `patience`: how long the first step may wait for the actuator.
  gpu::TimePoint step(const Result<trace::Position>& position, gpu::TimePoint now,
                      Seconds patience) {
    const auto soon = now + kLook;
    if (!position) return followed_.problem = position.error().message, soon;
    if (position->state != trace::ProgramState::running) return soon;
    const bool is_first = !std::exchange(followed_.was_seen, true);
    followed_.problem.clear();
    ledger_.note_position(*position);
    followed_.was_off_plan |= is_off(plan_, *position);
    if (!governs_) return soon;
    const bool became_ready = look_whether_ready(is_first ? patience : Seconds());
    const auto decision =
        governor_.decide(*position, static_cast<std::uint64_t>(now.nanoseconds()));
    const bool is_due = became_ready || decision.clocks || (is_owed_ && now >= ask_again_at_);
    // Who never was on the plan is not asked to leave it.
    const bool has_claim = !governor_.is_off_plan() || followed_.requests > 0;
    if (is_ready_ && is_due && has_claim) ask(governor_.asked(), now);
    auto look_at = soon;
    if (decision.look_at < static_cast<std::uint64_t>(soon.nanoseconds()))
      look_at = gpu::TimePoint::at_nanoseconds(static_cast<std::int64_t>(decision.look_at));
    return is_ready_ && is_owed_ ? std::min(look_at, ask_again_at_) : look_at;
  }

  [[nodiscard]] bool was_seen() const { return followed_.was_seen; }

  void note(const std::vector<CounterReading>& readings) {
    for (const auto& reading : readings) ledger_.note_energy(reading.at_ns, reading.counter);
  }

  Followed finish() {
    followed_.punctuality = governor_.punctuality();
    followed_.pace = governor_.pace();
    followed_.achieved = ledger_.achieved();
    followed_.segment_times = ledger_.segment_times();
    return std::move(followed_);
  }

 private:
  /// Until the actuator is ready, decisions are only remembered: when it becomes so (true), the
  /// newest is to be asked for.
  bool look_whether_ready(Seconds patience) {
    const bool was_ready = std::exchange(is_ready_, actuator_.is_ready(patience, stop_));
    governor_.acts(is_ready_);
    followed_.became_ready |= is_ready_;
    followed_.lost_clocks |= was_ready && !is_ready_;
    return is_ready_ && !was_ready;
  }

  void ask(trace::ClockPair clocks, gpu::TimePoint now) {
    ++followed_.requests;
    if (const auto asked = actuator_.ask(clocks, stop_); asked) {
      ++followed_.accepted;
      is_owed_ = false;
    } else {
      ++followed_.refused;
      followed_.last_refusal = asked.error().message;
      retry_ = std::exchange(is_owed_, true) ? std::min(retry_ * 2.0, kLastRetry) : kFirstRetry;
      ask_again_at_ = now + retry_;
    }
  }

  const Execution& plan_;
  Governor governor_;
  Ledger ledger_;
  const Actuator& actuator_;
  const std::stop_token& stop_;
  bool governs_;
  bool is_ready_ = false;
  bool is_owed_ = false;         ///< the newest request was refused ...
  gpu::TimePoint ask_again_at_;  ///< ... and is made again then
  Seconds retry_;                ///< after the refusal
  Followed followed_;
};

/// Until `look_at`, or a new position.
void wait(const gpu::DeviceClock& clock, const PositionMap& map, std::uint32_t seen,
          gpu::TimePoint look_at) {
  // A simulated clock need not run at the machine's pace; who writes a position there says so.
  if (clock.is_simulated())
    clock.wait_until(look_at);
  else
    map.wait(seen, look_at - clock.now());
}

}  // namespace

Followed follow(const Execution& plan, const PositionMap& map, const gpu::Device& device,
                const Actuator& actuator, const FollowOptions& options,
                const std::stop_token& stop) {
  ::prctl(PR_SET_TIMERSLACK, kTimerSlackNs, 0, 0, 0);
  const auto clock = device.clock();
  const auto patience = clock.is_simulated() ? kReadyPatience : Seconds();
  Follower follower(plan, actuator, options, stop);
  UseWatch use(device, options.is_ours);
  CounterWatch counter(device);
  const auto participation = clock.participate();
  while (!stop.stop_requested()) {
    const auto seen = map.sequence();
    const auto position = trace::read(map.page());
    const auto now = clock.now();
    follower.note(counter.take());
    const bool was_seen = follower.was_seen();
    const auto look_at = follower.step(position, now, patience);
    if (follower.was_seen() && !was_seen) use.look(patience);
    if (position && position->state == trace::ProgramState::finished) break;
    wait(clock, map, seen, look_at);
  }
  auto followed = follower.finish();
  // The daemon activates a lease when the program is on its GPU.
  followed.use = followed.became_ready ? Use::present : use.use();
  return followed;
}

}  // namespace negawatt::govern
