// SPDX-License-Identifier: Apache-2.0
//
// Least weighted sum of joules and seconds over all valid schedules of the cycle: the dynamic
// program over the cut cycle is a relaxation (the segment across the cut owes nothing); where its
// answer breaks a rule there, the state at the cut is enumerated by branch and bound. Both the
// value found and the bound proven are reported; they are equal unless the work limit was met.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "plan/schedule_dp.hpp"
#include "plan/schedule_tables.hpp"

namespace negawatt::plan {

struct CycleOptimum {
  double bound = 0.0;  ///< no valid schedule has less
  /// Seconds of the walk that attains the bound: how the bound falls with the price of time.
  double bound_time = 0.0;
  /// The best valid schedule found and its value, unless none is below the value known before.
  std::optional<Assignment> assignment;
  double value = 0.0;
};

/// How far to go when the relaxation's schedule breaks a rule across the cut.
enum class Closing : unsigned char {
  none,   ///< leave it: only the bound is wanted
  quick,  ///< find a valid schedule close to it; the bound stays that of the relaxation
  exact,  ///< branch and bound over the states at the cut
};

/// Keeps the cut where the schedules met so far hold their clocks longest.
class CycleSolver {
 public:
  /// Of the limits, `steps` holds for all calls together, and `gap`.
  CycleSolver(const ScheduleTables& tables, const ScheduleLimits& limits);

  /// `known` is the value of a schedule the caller has, or infinity.
  [[nodiscard]] CycleOptimum minimise(Weights weights, double known, Closing closing);

  /// Moves the cut to where the best relaxed walk of the last minimise() holds its clocks longest;
  /// false when it is there already. Bounds before and after are of different relaxations.
  bool move_cut();

  /// A valid schedule that changes its price of time on the way, so as to be faster before an
  /// invocation (counted from the cut) and slower from it on, or the reverse. Holds `pair` across
  /// the cut. Nothing when there is none.
  [[nodiscard]] std::optional<Assignment> divided(Weights weights, LaterTime later,
                                                  std::uint32_t pair);

  /// False when the next minimise() would do no more than one relaxation.
  [[nodiscard]] bool has_steps() const { return steps_left_ > steps_per_run_; }
  /// The cycle from the cut on, and where that is. Changes with minimise().
  [[nodiscard]] const ScheduleTables& cut_tables() const { return cut_tables_; }
  [[nodiscard]] std::uint32_t cut() const { return cut_; }

 private:
  struct Search {
    Weights weights;
    CycleOptimum best;
    double tolerance = 0.0;
    [[nodiscard]] bool is_closed_by(double bound) const { return bound >= best.value - tolerance; }
  };
  void run(Weights weights, DpStart start);
  void cut_at(std::uint32_t invocation);
  /// The relaxation; leaves its best walk in relaxed_.
  void relax(Search& search);
  void offer(Search& search, const Assignment& from_cut) const;
  /// Tries the pairs that the relaxation likes best at the cut.
  void close_quickly(Search& search);
  double close_exactly(Search& search);
  /// How far before the cut a pair must have been taken to be free to change behind it.
  struct Window {
    std::uint32_t first = 0;      ///< a change at or before this boundary is early enough, or
    bool is_long_enough = false;  ///< false: the pair cannot run before this boundary
  };
  [[nodiscard]] Window held_before_cut(std::uint32_t pair) const;
  /// Offers the best schedule of the last run whose last change is at or before `latest`.
  double offer_held(Search& search, std::uint32_t pair, std::uint32_t latest);
  [[nodiscard]] std::vector<std::pair<double, std::uint32_t>> ends_by_value() const;
  /// Settles all schedules that hold `pair` across the cut; returns the bound that remains.
  double settle(Search& search, std::uint32_t pair);
  /// The same for those whose last change before the cut is at `first` or later.
  double settle_short(Search& search, std::uint32_t pair, std::uint32_t first);

  const ScheduleTables& tables_;
  ScheduleTables cut_tables_;
  ScheduleDp dp_;
  std::uint32_t cut_ = 0;
  std::size_t steps_per_run_ = 0;
  std::size_t steps_left_ = 0;
  double gap_ = 0.0;
  Assignment relaxed_;  // from the cut on; empty when nothing beats what was known
};

}  // namespace negawatt::plan
