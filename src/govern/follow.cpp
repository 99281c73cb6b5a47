// SPDX-License-Identifier: Apache-2.0
#include "govern/follow.hpp"

#include <stop_token>
#include <utility>
#include <vector>

#include "govern/counter_watch.hpp"

namespace negawatt::govern {
namespace {

// How often to look when nothing is due: for the end of the program, and for a position that comes
// without a notice.
constexpr Seconds kLook(0.02);
// The daemon needs a moment to see that the program uses the GPU. In virtual time, which stands
// still meanwhile, the program would be over before.
constexpr Seconds kReadyPatience(2.0);

class Follower {
 public:
  Follower(const Execution& plan, const Actuator& actuator, const FollowOptions& options)
      : governor_(plan),
        ledger_(plan, options.warm_up),
        actuator_(actuator),
        governs_(options.governs) {}

  /// Until the actuator is ready, decisions are only remembered: then the newest is asked for.
  void look_whether_ready() {
    if (!governs_ || is_ready_ || !followed_.was_seen) return;
    is_ready_ = actuator_.is_ready(std::exchange(patience_, Seconds()));
    if (is_ready_) ask(governor_.asked());
  }

  /// Returns when to look again.
  gpu::TimePoint step(const Result<trace::Position>& position, gpu::TimePoint now) {
    const auto soon = now + kLook;
    if (!position || position->state != trace::ProgramState::running) return soon;
    followed_.was_seen = true;
    look_whether_ready();
    ledger_.note_position(*position);
    if (!governs_) return soon;
    const auto at = static_cast<std::uint64_t>(now.nanoseconds());
    const auto decision = governor_.decide(*position, at);
    followed_.was_off_plan |= governor_.is_off_plan();
    if (decision.clocks && is_ready_) ask(*decision.clocks);
    if (decision.look_at > static_cast<std::uint64_t>(soon.nanoseconds())) return soon;
    return gpu::TimePoint::at_nanoseconds(static_cast<std::int64_t>(decision.look_at));
  }

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
  void ask(trace::ClockPair clocks) {
    ++followed_.requests;
    if (const auto asked = actuator_.ask(clocks); !asked) {
      ++followed_.refused;
      followed_.last_refusal = asked.error().message;
    }
  }

  Governor governor_;
  Ledger ledger_;
  const Actuator& actuator_;
  bool governs_;
  bool is_ready_ = false;
  Seconds patience_ = kReadyPatience;  ///< for the first look: there is nothing else to do yet
  Followed followed_;
};

}  // namespace

Followed follow(const Execution& plan, const trace::PositionPage& page, const gpu::Device& device,
                const Actuator& actuator, const FollowOptions& options,
                const std::stop_token& stop) {
  const auto clock = device.clock();
  Follower follower(plan, actuator, options);
  CounterWatch counter(device);
  // After the watch, so that it ends before: who takes part while waiting for the watch's thread
  // would stop the time that thread sleeps by.
  const auto participation = clock.participate();
  while (!stop.stop_requested()) {
    const auto position = trace::read(page);
    const auto now = clock.now();
    follower.note(counter.take());
    const auto look_at = follower.step(position, now);
    if (position && position->state == trace::ProgramState::finished) break;
    clock.wait_until(look_at);
  }
  return follower.finish();
}

}  // namespace negawatt::govern
