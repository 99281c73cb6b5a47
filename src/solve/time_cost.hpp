// SPDX-License-Identifier: Apache-2.0
//
// The project time-cost trade-off: activities between events cost less energy when they take
// longer; which total duration costs how much at least? Walks the exact curve from the slowest
// duration that is of use to the shortest possible one, breakpoint by breakpoint.
//
// The curve of the convex problem, in which an activity may run at a mixture of two options, is
// convex and piecewise linear. It is a lower bound for plans that use single options.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/cost.hpp"
#include "core/units.hpp"

namespace negawatt::solve {

/// Runs between two events. Options: fastest first, strictly longer and strictly cheaper along the
/// list, strictly convex. Energies may be negative (they are relative to waiting).
struct Activity {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::vector<Cost> options;
};

/// `after` does not happen before `before`.
struct Precedence {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
};

/// A directed acyclic graph of events. Every event lies on a path from source to sink.
struct Project {
  std::uint32_t events = 0;
  std::uint32_t source = 0;
  std::uint32_t sink = 0;
  std::vector<Activity> activities;
  std::vector<Precedence> precedences;
};

/// A line below the cost of every plan: energy(T) >= at_zero - price * T.
struct BoundLine {
  Watts price;
  Joules at_zero;

  [[nodiscard]] Joules at(Seconds duration) const { return at_zero - price * duration; }
};

/// The walk. Between two breakpoints it stands on a segment: durations from shortest() to
/// longest(), on which one more second saves `bound().price`. Terminates: times and prices are
/// integers inside, and every step makes the project strictly shorter.
class TimeCostWalk {
 public:
  /// Stands on the slowest segment. `project` is not kept.
  explicit TimeCostWalk(const Project& project);

  /// No faster plan exists: the segment is the single point shortest() == longest().
  [[nodiscard]] bool at_end() const { return at_end_; }
  /// Moves to the next faster segment. Not to be called at the end.
  void advance();

  [[nodiscard]] Seconds longest() const { return seconds(longest_); }
  [[nodiscard]] Seconds shortest() const { return seconds(time_[sink_]); }
  /// Energy that one more second saves on the segment.
  [[nodiscard]] Watts price() const { return Watts(static_cast<double>(flow_) * price_unit_); }
  /// Proven by the flow alone: valid whatever rounding did.
  [[nodiscard]] BoundLine bound() const;
  /// Energy that one more second for this activity would save.
  [[nodiscard]] Watts price_of(std::size_t activity) const;
  /// When every event happens in an optimal plan of `duration`, which lies on the segment.
  void event_times(Seconds duration, std::span<double> seconds) const;

 private:
  // Units: time and price are integers (time_unit_ seconds, price_unit_ watts). A price of an
  // activity is a flow through its arc; a conserving flow is a feasible dual solution.
  using Ticks = std::int64_t;
  using Flow = std::int64_t;

  /// One direction of an arc in the residual network: more flow, or flow taken back. It is tight
  /// when time[head] - time[tail] + offset, its slack, is 0. Lies beside the others of its tail.
  struct HalfArc {
    std::uint32_t head = 0;
    std::uint32_t arc = 0;  ///< 2 * arc, or 2 * arc + 1 for taking back
    Ticks offset = 0;       ///< minus the duration that more flow asks for, plus the one it allows
    Flow room = 0;
  };

  struct Arc {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t forward = 0;  ///< its half arcs
    std::uint32_t back = 0;
    std::uint32_t slowest = 0;  ///< its slowest vertex, an index into vertex_time_
    std::uint32_t vertex = 0;   ///< the vertex that more flow would use
    Flow used = 0;              ///< flow in that vertex
    Flow flow = 0;              ///< flow in all of them
  };

  void add_arc(std::uint32_t from, std::uint32_t to, std::span<const Cost> options);
  void index_arcs();
  void set_slowest_times();
  /// From the times of a corner to the next faster segment.
  void step();
  /// Largest flow through tight arcs, given the times. False when it is without bound.
  bool saturate();
  bool number_levels();
  /// One augmenting path through the levels; how much it carried.
  Flow augment();
  void push(const HalfArc& half, Flow amount);
  /// Sets the half arcs from vertex and used.
  void refresh(const Arc& arc);
  /// Makes the project as much shorter as the flow stays optimal for. Follows saturate().
  void shorten();
  void relax(std::uint32_t event, Ticks distance);

  [[nodiscard]] bool is_tight(std::uint32_t tail, const HalfArc& half) const {
    return half.room != 0 && time_[half.head] - time_[tail] + half.offset == 0;
  }
  [[nodiscard]] std::uint32_t tail_of(const HalfArc& half) const;
  [[nodiscard]] std::span<const HalfArc> out_of(std::uint32_t event) const {
    return std::span(half_arcs_)
        .subspan(first_half_arc_[event], first_half_arc_[event + 1] - first_half_arc_[event]);
  }
  [[nodiscard]] Seconds seconds(Ticks ticks) const {
    return Seconds(static_cast<double>(ticks) * time_unit_);
  }

  std::uint32_t source_ = 0;
  std::uint32_t sink_ = 0;
  double time_unit_ = 1.0;
  double price_unit_ = 1.0;
  std::size_t activities_ = 0;
  bool at_end_ = false;
  Ticks longest_ = 0;
  Flow flow_ = 0;

  std::vector<Arc> arcs_;                      // activities first, then precedences
  std::vector<Cost> vertex_cost_;              // options of all activities
  std::vector<std::size_t> cost_end_;          // per arc, into vertex_cost_
  std::vector<Ticks> vertex_time_;             // per arc, slowest first
  std::vector<Flow> vertex_room_;              // price range over which the vertex is best
  std::vector<std::uint32_t> first_half_arc_;  // per event, into half_arcs_
  std::vector<HalfArc> half_arcs_;             // by tail
  std::vector<Ticks> time_;                    // per event, at shortest()
  std::vector<Ticks> shift_;  // per event: time at longest() minus time at shortest(), uncapped

  // scratch, kept to spare allocations
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> next_half_arc_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> path_;
  std::vector<std::pair<Ticks, std::uint32_t>> heap_;
};

}  // namespace negawatt::solve
