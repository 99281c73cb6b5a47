// SPDX-License-Identifier: Apache-2.0
#include "gpusim/world_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <span>

#include "gpusim/futex.hpp"

namespace negawatt::gpusim {
namespace {

using Place = ClockState::Place;
using Chair = ClockState::Chair;

// How often a sleeper looks whether the thread that all wait for has died.
constexpr std::int64_t kLookNs = 20'000'000;
constexpr std::int64_t kLongestGuestSleepNs = 60'000'000'000;

std::span<Chair> used_chairs(ClockState& state) {
  return std::span(state.chairs).first(std::min<std::size_t>(state.chairs_used, kMostJoined));
}

/// A forked child has its parent's seat in memory, but no place at the clock.
bool is_taken_by_caller(const Seat& seat) { return seat.joined() && seat.pid == ::getpid(); }

/// Frees the chairs of threads that died awake.
void remove_the_dead(ClockState& state) {
  for (auto& chair : used_chairs(state))
    if (chair.place == Place::awake && !chair.life.holder_lives()) chair.place = Place::empty;
}

/// The sleeper that is due first, or null when none is ever due. Frees chairs of the dead it meets.
Chair* first_due(ClockState& state) {
  while (true) {
    Chair* first = nullptr;
    for (auto& chair : used_chairs(state)) {
      if (chair.place != Place::asleep || chair.due_ns == kNever) continue;
      if (first == nullptr || chair.due_ns < first->due_ns ||
          (chair.due_ns == first->due_ns && chair.order < first->order))
        first = &chair;
    }
    if (first == nullptr || first->life.holder_lives()) return first;
    first->place = Place::empty;
  }
}

/// When all sleep, moves the clock to who is due first and returns it, to be woken once the mutex
/// is free. A kill between any two of these lines leaves a state that the next look completes.
Chair* call_next(ClockState& state) {
  for (const auto& chair : used_chairs(state))
    if (chair.place == Place::awake) return nullptr;
  Chair* next = first_due(state);
  if (next == nullptr) return nullptr;
  if (next->due_ns > state.now_ns.load()) {
    state.now_ns.store(next->due_ns);
    state.moves.fetch_add(1);
  }
  next->place = Place::awake;
  next->called.store(1);
  return next;
}

}  // namespace

/// The mutex, and on the way out, with it free, the system calls that wake others.
class WorldClock::Lock {
 public:
  explicit Lock(ClockState& state) : state_(state), moves_(state.moves.load()) {
    if (state_.mutex.lock() == RobustMutex::Locked::after_a_death) remove_the_dead(state_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    Chair* called = call_next(state_);
    const bool moved = state_.moves.load() != moves_;
    state_.mutex.unlock();
    if (called != nullptr && called != own_) futex_wake_all(called->called);
    if (moved && state_.guests.load() > 0) futex_wake_all(state_.moves);
  }
  /// Spares the system call to wake the caller itself.
  void own(const Chair& chair) { own_ = &chair; }

 private:
  ClockState& state_;
  std::uint32_t moves_;
  const Chair* own_ = nullptr;
};

void WorldClock::format(ClockState& state, TimeFlow flow) {
  state.mutex.format();
  state.flow = flow;
  state.started_ns = monotonic_ns();
  for (auto& chair : state.chairs) chair.life.format();
}

std::int64_t WorldClock::now_ns() const {
  if (is_virtual()) return state_->now_ns.load();
  const auto real = monotonic_ns() - state_->started_ns;
  if (state_->flow.mode == TimeMode::real) return real;
  return static_cast<std::int64_t>(static_cast<double>(real) * state_->flow.factor);
}

bool WorldClock::join(Seat& seat) {
  if (!is_virtual() || is_taken_by_caller(seat)) return true;
  const Lock lock(*state_);
  for (std::uint32_t i = 0; i < kMostJoined; ++i) {
    auto& chair = state_->chairs[i];
    if (chair.place != Place::empty && chair.life.holder_lives()) continue;
    if (!chair.life.take()) continue;
    chair.called.store(1);
    chair.place = Place::awake;
    state_->chairs_used = std::max(state_->chairs_used, i + 1);
    seat = {.chair = static_cast<std::int32_t>(i),
            .pid = ::getpid(),
            .seen = state_->notices.load(),
            .is_new = false};
    return true;
  }
  return false;
}

void WorldClock::leave(Seat& seat) {
  if (!seat.joined()) return;
  if (is_taken_by_caller(seat)) {
    const Lock lock(*state_);
    auto& chair = state_->chairs[static_cast<std::size_t>(seat.chair)];
    chair.place = Place::empty;
    chair.life.release();
  }
  seat.chair = -1;
}

void WorldClock::sleep_until(Seat& seat, std::int64_t time_ns) {
  if (seat.is_new) seat = {.seen = state_->notices.load(), .is_new = false};
  if (is_taken_by_caller(seat))
    sleep_in_chair(seat, time_ns, true);
  else
    sleep_as_guest(seat, time_ns);
}

void WorldClock::spend(Seat& seat, std::int64_t duration_ns) {
  if (duration_ns <= 0) return;
  if (!is_virtual()) {
    wait_exactly_ns(
        static_cast<std::int64_t>(static_cast<double>(duration_ns) / state_->flow.factor));
  } else if (is_taken_by_caller(seat)) {
    const auto seen = seat.seen;
    sleep_in_chair(seat, now_ns() + duration_ns, false);
    seat.seen = seen;
  }
}

void WorldClock::notify(Seat& seat) {
  const auto before = state_->notices.fetch_add(1);
  if (seat.seen == before) seat.seen = before + 1;  // what one says oneself is no news
  if (!is_virtual()) {
    state_->moves.fetch_add(1);
    if (state_->guests.load() > 0) futex_wake_all(state_->moves);
    return;
  }
  const Lock lock(*state_);
  state_->moves.fetch_add(1);
  const auto now = state_->now_ns.load();
  for (auto& chair : used_chairs(*state_))
    if (chair.place == Place::asleep && chair.hears != 0)
      chair.due_ns = std::min(chair.due_ns, now);
}

void WorldClock::sleep_in_chair(Seat& seat, std::int64_t time_ns, bool hears) {
  auto& chair = state_->chairs[static_cast<std::size_t>(seat.chair)];
  {
    Lock lock(*state_);
    const bool has_news = hears && state_->notices.load() != seat.seen;
    if (!has_news && state_->now_ns.load() < time_ns) {
      lock.own(chair);
      chair.due_ns = time_ns;
      chair.order = ++state_->sleeps;
      chair.hears = hears ? 1 : 0;
      chair.called.store(0);
      chair.place = Place::asleep;
    }
  }
  while (chair.called.load() == 0) {
    if (futex_wait(chair.called, {.expected = 0, .deadline_ns = monotonic_ns() + kLookNs}))
      continue;
    const Lock look(*state_);
    remove_the_dead(*state_);
    // Whoever called us may have died between saying so and waking us.
    if (chair.place == Place::awake) chair.called.store(1);
  }
  seat.seen = state_->notices.load();
}

std::int64_t WorldClock::guest_deadline_ns(std::int64_t time_ns) const {
  const auto now = monotonic_ns();
  // Guests of virtual time are woken by the threads that move it; the look is for those that died.
  if (is_virtual()) return now + kLookNs;
  const double left_ns = static_cast<double>(time_ns - now_ns()) / state_->flow.factor;
  return now + static_cast<std::int64_t>(
                   std::clamp(left_ns, 0.0, static_cast<double>(kLongestGuestSleepNs)));
}

void WorldClock::sleep_as_guest(Seat& seat, std::int64_t time_ns) {
  state_->guests.fetch_add(1);
  while (true) {
    const auto moves = state_->moves.load();
    const auto notices = state_->notices.load();
    const bool has_news = notices != seat.seen;
    seat.seen = notices;
    if (has_news || now_ns() >= time_ns) break;
    futex_wait(state_->moves, {.expected = moves, .deadline_ns = guest_deadline_ns(time_ns)});
  }
  state_->guests.fetch_sub(1);
}

}  // namespace negawatt::gpusim
