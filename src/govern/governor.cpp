// SPDX-License-Identifier: Apache-2.0
#include "govern/governor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace negawatt::govern {
namespace {

constexpr double kNanoseconds = 1e9;
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
// A program may run at another speed than it was measured at, but not at any.
constexpr double kSlowestPace = 4.0;
constexpr double kFastestPace = 0.25;
// Weight of the newest iteration: follows a warming GPU within a few, and forgets one hiccup.
constexpr double kNewest = 0.5;
// A request that comes later than this is counted as late; less is the noise of a busy machine.
constexpr double kPunctual = 100e3;  // ns

double in_ns(Seconds time) { return time.in_si() * kNanoseconds; }

std::uint64_t as_time(double ns) {
  return ns < static_cast<double>(kNever) ? static_cast<std::uint64_t>(std::ceil(ns)) : kNever;
}

}  // namespace

bool is_off(const Execution& plan, const trace::Position& position) {
  const auto length = plan.sequence.size();
  const auto previous = position.previous_invocations;
  return position.invocation >= length || (previous != 0 && previous != length);
}

Governor::Governor(const Execution& plan) : plan_(plan), asked_(first_clocks()) {
  starts_ns_.reserve(plan.expected.size() + 1);
  starts_ns_.push_back(0.0);
  for (const auto time : plan.expected) starts_ns_.push_back(starts_ns_.back() + in_ns(time));
  const auto* before = &plan.segments.back();
  for (const auto& segment : plan.segments) {
    if (segment.clocks.core != before->clocks.core)
      add_change(segment, Domain::core, segment.clocks.core);
    if (segment.clocks.memory != before->clocks.memory)
      add_change(segment, Domain::memory, segment.clocks.memory);
    before = &segment;
  }
  for (auto& lane : lanes_) order_changes(lane);
}

trace::ClockPair Governor::first_clocks() const { return plan_.segments.front().clocks; }

void Governor::add_change(const PlannedSegment& segment, Domain domain, trace::Clock clock) {
  const auto lead = domain == Domain::core ? segment.core_lead : segment.memory_lead;
  lane(domain).changes.push_back({.invocation = segment.first,
                                  .domain = domain,
                                  .clock = clock,
                                  .lead_ns = in_ns(lead),
                                  .asked_at_ns = starts_ns_[segment.first] - in_ns(lead)});
}

/// A change with a long lead is asked for while an earlier iteration runs. Two changes of one
/// domain keep their order, whatever their leads: the later one is what must remain.
void Governor::order_changes(Lane& lane) const {
  const double length = starts_ns_.back();
  double earliest = -std::numeric_limits<double>::infinity();
  for (auto& change : lane.changes)
    earliest = change.asked_at_ns = std::max(change.asked_at_ns, earliest);
  for (auto& change : lane.changes) {
    if (change.asked_at_ns >= 0.0 || length <= 0.0) continue;
    change.ahead = static_cast<std::int64_t>(std::ceil(-change.asked_at_ns / length));
    change.asked_at_ns += static_cast<double>(change.ahead) * length;
  }
  std::ranges::stable_sort(lane.changes, {}, &Change::asked_at_ns);
}

Decision Governor::decide(const trace::Position& position, std::uint64_t now) {
  if (position.state != trace::ProgramState::running) return {.look_at = kNever};
  if (is_off_plan_ || is_off(plan_, position)) return let_go();
  note_iteration(position);
  const auto before = asked_;
  double look_at = std::numeric_limits<double>::infinity();
  for (auto& lane : lanes_)
    look_at = std::min(look_at, take_due(lane, position, static_cast<double>(now)));
  Decision decision{.look_at = as_time(look_at)};
  if (asked_ != before) decision.clocks = asked_;
  return decision;
}

Decision Governor::let_go() {
  Decision decision{.look_at = kNever};
  if (std::exchange(is_off_plan_, true) || asked_ == trace::ClockPair{}) return decision;
  decision.clocks = asked_ = {};
  return decision;
}

double Governor::take_due(Lane& lane, const trace::Position& position, double now) {
  if (lane.changes.empty()) return std::numeric_limits<double>::infinity();
  // What iterations that went by unseen asked for no longer matters.
  lane.iteration = std::max(lane.iteration, static_cast<std::int64_t>(position.iteration) - 2);
  const auto& held = asked(lane.changes.front().domain);
  const auto before = held;
  while (true) {
    const auto& change = lane.changes[lane.next];
    if (lane.iteration + change.ahead >= 0) {  // else the program began after it
      const double late = lateness(lane, position, now);
      // A driver that is asked again while a change is on its way may forget the first one.
      const double due = std::max(now, now - late);
      if (due > now || lane.in_flight_until > now) {
        if (held != before) lane.in_flight_until = now + lane.lead_ns;
        return std::max(due, lane.in_flight_until);
      }
      take(change, late);
    }
    if (++lane.next < lane.changes.size()) continue;
    lane.next = 0;
    ++lane.iteration;
  }
}

double Governor::lateness(const Lane& lane, const trace::Position& position, double now) const {
  const auto& change = lane.changes[lane.next];
  const auto running = position.invocation;
  const auto iterations =
      lane.iteration + change.ahead - static_cast<std::int64_t>(position.iteration);
  const auto started = static_cast<double>(position.started_ns);
  const double effect = now + change.lead_ns;
  if (iterations < 0 || (iterations == 0 && change.invocation <= running)) return effect - started;
  const double length = starts_ns_[running + 1] - starts_ns_[running];
  // What runs longer than expected may end at any moment.
  const double end = std::max(now, started + pace_ * length);
  const double ahead = static_cast<double>(iterations) * starts_ns_.back() +
                       starts_ns_[change.invocation] - starts_ns_[running + 1];
  return effect - (end + pace_ * ahead);
}

void Governor::take(const Change& change, double late_ns) {
  auto& clock = asked(change.domain);
  if (clock == change.clock) return;  // held since before the first iteration
  clock = change.clock;
  lane(change.domain).lead_ns = change.lead_ns;
  if (!acts_) return;
  ++punctuality_.changes;
  if (late_ns > kPunctual) ++punctuality_.late;
  punctuality_.most_late = std::max(punctuality_.most_late, Seconds(late_ns / kNanoseconds));
}

void Governor::note_iteration(const trace::Position& position) {
  if (newest_ && position.iteration <= newest_->iteration) return;
  const auto previous = std::exchange(newest_, position);
  punctuality_.missed_iterations += position.iteration - (previous ? previous->iteration + 1 : 0);
  if (!previous || position.iteration_started_ns <= previous->iteration_started_ns) return;
  const auto iterations = static_cast<double>(position.iteration - previous->iteration);
  const auto took =
      static_cast<double>(position.iteration_started_ns - previous->iteration_started_ns);
  const double pace = took / (iterations * starts_ns_.back());
  pace_ += kNewest * (std::clamp(pace, kFastestPace, kSlowestPace) - pace_);
}

}  // namespace negawatt::govern
