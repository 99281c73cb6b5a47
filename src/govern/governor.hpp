// SPDX-License-Identifier: Apache-2.0
//
// When to ask for which clocks, decided from where a program is. A change of clocks takes effect
// only after a latency, so that it must be asked for ahead of the invocation it is meant for: the
// governor predicts when that invocation starts from the last position it saw, the times the plan
// expects, and the pace the program has kept so far. Pure: positions and times in, decisions out.
// Times are nanoseconds on the device's clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "govern/execution.hpp"
#include "trace/clocks.hpp"
#include "trace/position.hpp"

namespace negawatt::govern {

/// What to do at `now`: ask for `clocks` at once if there are any; then look again at `look_at`, or
/// earlier when the position changes.
struct Decision {
  std::optional<trace::ClockPair> clocks;
  std::uint64_t look_at = 0;
};

/// How well requests were placed.
struct Punctuality {
  /// Of one domain's clock, and asked for; several that fall due together are one request.
  std::uint64_t changes = 0;
  /// Took effect over 100 us after the invocation they were meant for began.
  std::uint64_t late = 0;
  Seconds most_late;
  std::uint64_t missed_iterations = 0;  ///< went by unseen
};

/// Whether a program at this position runs another iteration than the plan's: one with more
/// invocations, or whose last round had another number of them.
[[nodiscard]] bool is_off(const Execution& plan, const trace::Position& position);

class Governor {
 public:
  /// The plan must outlive the governor.
  explicit Governor(const Execution& plan);

  /// Clocks to hold before the first invocation.
  [[nodiscard]] trace::ClockPair first_clocks() const;
  /// What holds once all requests so far have taken effect.
  [[nodiscard]] trace::ClockPair asked() const { return asked_; }
  /// Call with every new position, and at `look_at`. `now` must not go back.
  [[nodiscard]] Decision decide(const trace::Position& position, std::uint64_t now);
  /// Whether what is decided from now on is asked for, and counts. True at first.
  void acts(bool does) { acts_ = does; }
  /// The program ran another iteration than the plan's: from then on its clocks are automatic.
  [[nodiscard]] bool is_off_plan() const { return is_off_plan_; }
  [[nodiscard]] const Punctuality& punctuality() const { return punctuality_; }
  /// Time of an iteration against the plan's expectation; 1 until one has been seen.
  [[nodiscard]] double pace() const { return pace_; }

 private:
  enum class Domain : unsigned char { core, memory };

  /// One domain's clock, asked for `lead_ns` before an invocation starts.
  struct Change {
    std::uint32_t invocation = 0;
    Domain domain = Domain::core;
    trace::Clock clock;
    double lead_ns = 0.0;
    double asked_at_ns = 0.0;  ///< into an iteration, at the expected pace
    std::int64_t ahead = 0;    ///< that iteration comes so many before the invocation's
  };

  /// One domain's changes. A change of one domain never waits for one of the other.
  struct Lane {
    std::vector<Change> changes;   ///< in the order they are asked for
    std::size_t next = 0;          ///< the change to ask for next ...
    std::int64_t iteration = -1;   ///< ... while this iteration runs; -1: before the first
    double lead_ns = 0.0;          ///< of its newest change
    double in_flight_until = 0.0;  ///< when its last request takes effect
  };

  [[nodiscard]] Lane& lane(Domain domain) { return lanes_[static_cast<std::size_t>(domain)]; }
  [[nodiscard]] trace::Clock& asked(Domain domain) {
    return domain == Domain::core ? asked_.core : asked_.memory;
  }
  void add_change(const PlannedSegment& segment, Domain domain, trace::Clock clock);
  void order_changes(Lane& lane) const;
  /// The clocks are the driver's again.
  [[nodiscard]] Decision let_go();
  /// Pace, and iterations that nobody saw.
  void note_iteration(const trace::Position& position);
  /// Takes what is due; returns when the next of these changes is.
  [[nodiscard]] double take_due(Lane& lane, const trace::Position& position, double now);
  /// How long after the start of its invocation the lane's next change, asked for now, takes
  /// effect.
  [[nodiscard]] double lateness(const Lane& lane, const trace::Position& position,
                                double now) const;
  void take(const Change& change, double late_ns);

  const Execution& plan_;
  std::vector<double> starts_ns_;  ///< per invocation, from the iteration's start; then its length
  std::array<Lane, 2> lanes_;      ///< per domain
  trace::ClockPair asked_;
  double pace_ = 1.0;
  std::optional<trace::Position> newest_;  ///< the first that was seen of the newest iteration
  bool is_off_plan_ = false;
  bool acts_ = true;
  Punctuality punctuality_;
};

}  // namespace negawatt::govern
