// SPDX-License-Identifier: Apache-2.0
#include "govern/governor.hpp"

#include <algorithm>
#include <array>
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

}  // namespace

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
  order_changes();
}

trace::ClockPair Governor::first_clocks() const { return plan_.segments.front().clocks; }

void Governor::add_change(const PlannedSegment& segment, Domain domain, trace::Clock clock) {
  const auto lead = domain == Domain::core ? segment.core_lead : segment.memory_lead;
  changes_.push_back({.invocation = segment.first,
                      .domain = domain,
                      .clock = clock,
                      .lead_ns = in_ns(lead),
                      .asked_at_ns = starts_ns_[segment.first] - in_ns(lead)});
}

/// A change with a long lead is asked for while an earlier iteration runs. Two changes of one
/// domain keep their order, whatever their leads: the later one is what must remain.
void Governor::order_changes() {
  const double length = starts_ns_.back();
  std::array<double, 2> last = {-std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  for (auto& change : changes_) {
    auto& earliest = last[static_cast<std::size_t>(change.domain)];
    earliest = change.asked_at_ns = std::max(change.asked_at_ns, earliest);
  }
  for (auto& change : changes_) {
    if (change.asked_at_ns >= 0.0 || length <= 0.0) continue;
    change.ahead = static_cast<std::int64_t>(std::ceil(-change.asked_at_ns / length));
    change.asked_at_ns += static_cast<double>(change.ahead) * length;
  }
  std::ranges::stable_sort(changes_, {}, &Change::asked_at_ns);
}

bool Governor::has_begun(const Change& change, const trace::Position& position) const {
  const auto iteration = iteration_ + change.ahead;
  const auto running = static_cast<std::int64_t>(position.iteration);
  return iteration < running || (iteration == running && change.invocation <= position.invocation);
}

double Governor::predicted_start(const Change& change, const trace::Position& position,
                                 double now) const {
  const auto running = position.invocation;
  const double length = starts_ns_[running + 1] - starts_ns_[running];
  // What runs longer than expected may end at any moment.
  const double end = std::max(now, static_cast<double>(position.started_ns) + pace_ * length);
  const auto iterations = static_cast<double>(iteration_ + change.ahead -
                                              static_cast<std::int64_t>(position.iteration));
  return end + pace_ * (iterations * starts_ns_.back() + starts_ns_[change.invocation] -
                        starts_ns_[running + 1]);
}

Decision Governor::decide(const trace::Position& position, std::uint64_t now) {
  if (position.state != trace::ProgramState::running) return {.look_at = kNever};
  is_off_plan_ = position.invocation >= plan_.sequence.size();
  if (is_off_plan_ || changes_.empty()) return {.look_at = kNever};
  note_pace(position);
  catch_up(position);
  const auto before = asked_;
  const auto at = static_cast<double>(now);
  while (true) {
    const auto& change = changes_[next_];
    const bool is_for_nothing = iteration_ + change.ahead < 0;  // the program began after it
    if (!is_for_nothing) {
      const bool begun = has_begun(change, position);
      const double start =
          begun ? static_cast<double>(position.started_ns) : predicted_start(change, position, at);
      const double late = at + change.lead_ns - start;
      // A driver that is asked again while a change is on its way may forget the first one.
      const auto& in_flight_until = in_flight_until_[static_cast<std::size_t>(change.domain)];
      const double due = begun ? at : at - late;
      if (due > at || in_flight_until > at) {
        Decision decision;
        if (asked_ != before) decision.clocks = asked_;
        note_flight(before, at);
        decision.look_at = static_cast<std::uint64_t>(std::ceil(std::max(due, in_flight_until)));
        return decision;
      }
      take(change, late);
    }
    advance();
  }
}

/// From now on the requests that were just decided on are on their way.
void Governor::note_flight(trace::ClockPair before, double now) {
  if (asked_.core != before.core) in_flight_until_[0] = now + leads_ns_[0];
  if (asked_.memory != before.memory) in_flight_until_[1] = now + leads_ns_[1];
}

void Governor::take(const Change& change, double late_ns) {
  auto& asked = change.domain == Domain::core ? asked_.core : asked_.memory;
  if (asked == change.clock) return;  // held since before the first iteration
  asked = change.clock;
  leads_ns_[static_cast<std::size_t>(change.domain)] = change.lead_ns;
  ++punctuality_.changes;
  if (late_ns > kPunctual) ++punctuality_.late;
  punctuality_.most_late = std::max(punctuality_.most_late, Seconds(late_ns / kNanoseconds));
}

void Governor::advance() {
  if (++next_ < changes_.size()) return;
  next_ = 0;
  ++iteration_;
}

void Governor::catch_up(const trace::Position& position) {
  const auto oldest = static_cast<std::int64_t>(position.iteration) - 2;
  if (iteration_ >= oldest) return;
  // Whole iterations went by unseen. What they asked for no longer matters.
  punctuality_.missed_iterations += static_cast<std::uint64_t>(oldest - iteration_);
  iteration_ = oldest;
}

void Governor::note_pace(const trace::Position& position) {
  if (position.invocation != 0) return;
  const auto previous = std::exchange(iteration_start_, position);
  if (!previous || position.iteration <= previous->iteration || starts_ns_.back() <= 0.0) return;
  const auto iterations = static_cast<double>(position.iteration - previous->iteration);
  const auto took = static_cast<double>(position.started_ns - previous->started_ns);
  const double pace = took / (iterations * starts_ns_.back());
  pace_ += kNewest * (std::clamp(pace, kFastestPace, kSlowestPace) - pace_);
}

}  // namespace negawatt::govern
