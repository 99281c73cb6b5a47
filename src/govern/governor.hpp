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
  std::uint64_t changes =
      0;  ///< of one domain's clock; several that fall due together are one request
  std::uint64_t late =
      0;  ///< took effect over 100 us after the invocation they were meant for began
  Seconds most_late;
  std::uint64_t missed_iterations = 0;  ///< went by unseen
};

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
  /// The program is somewhere the plan does not know: it runs another iteration than was planned.
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

  void add_change(const PlannedSegment& segment, Domain domain, trace::Clock clock);
  void order_changes();
  void note_pace(const trace::Position& position);
  /// Skips what a program that left the governor far behind has passed.
  void catch_up(const trace::Position& position);
  [[nodiscard]] bool has_begun(const Change& change, const trace::Position& position) const;
  /// When the invocation that a change is meant for starts.
  [[nodiscard]] double predicted_start(const Change& change, const trace::Position& position,
                                       double now) const;
  void note_flight(trace::ClockPair before, double now);
  void take(const Change& change, double late_ns);
  void advance();

  const Execution& plan_;
  std::vector<double> starts_ns_;  ///< per invocation, from the iteration's start; then its length
  std::vector<Change> changes_;    ///< in the order they are asked for
  std::size_t next_ = 0;           ///< the change to ask for next ...
  std::int64_t iteration_ = -1;    ///< ... while this iteration runs; -1: before the first
  trace::ClockPair asked_;
  std::array<double, 2> leads_ns_{};         ///< per domain: of its newest change
  std::array<double, 2> in_flight_until_{};  ///< per domain: when its last request takes effect
  double pace_ = 1.0;
  std::optional<trace::Position> iteration_start_;
  bool is_off_plan_ = false;
  Punctuality punctuality_;
};

}  // namespace negawatt::govern
