// SPDX-License-Identifier: Apache-2.0
//
// The dynamic program over one cut cycle: least weight of joules and seconds from the cut to every
// change of clocks, each segment held until the next change can take effect. The cycle is cut
// before invocation 0; what the segment across the cut owes is the caller's business (see
// schedule_cycle.hpp). O(invocations * pairs * latency classes) time and memory.
//
// Values are energy_weight * J + time_weight * s. Boundary m lies before invocation m.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "plan/schedule_tables.hpp"

namespace negawatt::plan {

struct Weights {
  double energy = 1.0;
  double time = 0.0;
};

/// The weight of time from one boundary on, where it differs from that before.
struct LaterTime {
  std::uint32_t from = std::numeric_limits<std::uint32_t>::max();
  double time = 0.0;
};

/// In which states the walk may start at the cut.
struct DpStart {
  std::optional<std::uint32_t> pair;  ///< nothing: at any pair
  /// How long the pair has been held before the cut, in picoseconds; nothing: long enough.
  std::optional<std::int64_t> credit;
};

class ScheduleDp {
 public:
  explicit ScheduleDp(const ScheduleTables& tables);

  /// Bytes that the constructor and keep_arrivals() will take.
  [[nodiscard]] static std::size_t bytes_for(const ScheduleTables& tables);

  /// Also keep arrival() of every pair, not only of the start's.
  void keep_arrivals() { keeps_arrivals_ = true; }

  void run(const ScheduleTables& tables, Weights weights, DpStart start, LaterTime later = {});

  /// Least value of ending at `pair` after at least one change.
  [[nodiscard]] double end_value(std::uint32_t pair) const;
  /// Value of holding `pair` all the way from the cut to the cut; infinite where it may not.
  [[nodiscard]] double constant_value(std::uint32_t pair) const;
  /// Least value of ending at `pair` when the last change takes effect at `boundary` (1 ... n).
  /// Of the start's pair only, unless arrivals are kept.
  [[nodiscard]] double end_value_from(std::uint32_t pair, std::uint32_t boundary) const;
  /// end_value over all changes at or before `boundary`.
  [[nodiscard]] double end_value_up_to(std::uint32_t pair, std::uint32_t boundary) const;

  /// The least-value walk whose last change is to `pair` and takes effect at `boundary`.
  [[nodiscard]] Assignment walk(const ScheduleTables& tables, std::uint32_t pair,
                                std::uint32_t boundary) const;
  /// The boundary that attains end_value(pair).
  [[nodiscard]] std::uint32_t last_change(const ScheduleTables& tables, std::uint32_t pair) const;

  /// Of the last run: weight of invocations 0 ... boundary - 1 at `pair`, needs kept arrivals.
  /// arrival() is the least value of a walk that changes to `pair` at `boundary`, minus
  /// prefix(boundary, pair); least_arrival() its least over all boundaries up to this one that
  /// reach it without meeting a kernel that was not measured at `pair`.
  [[nodiscard]] double arrival(std::uint32_t boundary, std::uint32_t pair) const {
    return arrivals_[std::size_t{boundary} * pairs_ + pair];
  }
  [[nodiscard]] double least_arrival(std::uint32_t boundary, std::uint32_t pair) const {
    return least_arrivals_[std::size_t{boundary} * pairs_ + pair];
  }
  /// Latest boundary at which a change to `pair` may take effect so that a change of the latency
  /// class may follow at `boundary`; 0 when there is none.
  [[nodiscard]] std::uint32_t latest_start(std::uint32_t boundary, std::uint32_t latency_class,
                                           std::uint32_t pair) const {
    return latest_start_[(std::size_t{boundary} * classes_ + latency_class) * pairs_ + pair];
  }

 private:
  struct Predecessor {
    std::uint32_t pair = 0;
    std::uint32_t latency_class = 0;
    double value = 0.0;
  };
  /// Where a change to a pair finds the least of what it may come from, and what it weighs.
  struct Source {
    std::uint32_t by_memory = 0;
    std::uint32_t by_core = 0;
    std::uint32_t by_any = 0;
    double core_weight = 0.0;
    double memory_weight = 0.0;
    double both_weight = 0.0;
  };
  static double least_of(std::span<const double> values);
  void find_latest_starts(const ScheduleTables& tables);
  void begin(const ScheduleTables& tables, DpStart start);
  void weigh(const ScheduleTables& tables, Weights weights, LaterTime later);
  [[nodiscard]] const double* weights_of(const ScheduleTables& tables,
                                         std::uint32_t invocation) const {
    const auto& weights = invocation < later_from_ ? weights_ : later_weights_;
    return weights.data() + tables.cell(invocation, 0);
  }
  void advance(const ScheduleTables& tables, std::uint32_t boundary);
  void open_starts(std::uint32_t boundary);
  void forget_missing(const ScheduleTables& tables, std::uint32_t invocation);
  void gather_mature(std::uint32_t boundary);
  void reduce_mature(const ScheduleTables& tables);
  void arrive(const ScheduleTables& tables, std::uint32_t boundary);
  [[nodiscard]] Predecessor best_predecessor(const ScheduleTables& tables, std::uint32_t to,
                                             std::uint32_t boundary,
                                             const std::vector<double>& prefix) const;
  [[nodiscard]] double start_value(std::uint32_t boundary, std::uint32_t latency_class,
                                   std::uint32_t pair) const;
  [[nodiscard]] std::uint32_t change_behind(const ScheduleTables& tables, std::uint32_t boundary,
                                            std::uint32_t pair) const;

  // Constant after construction.
  std::uint32_t pairs_ = 0;
  std::uint32_t invocations_ = 0;
  std::uint32_t classes_ = 0;
  std::vector<std::uint32_t> latest_start_;
  std::vector<std::uint32_t> first_missing_;       // per pair: first invocation it cannot run
  std::vector<std::uint8_t> class_serves_memory_;  // may a change of memory alone take it?
  bool keeps_arrivals_ = false;

  // Of the last run.
  DpStart start_;
  double energy_weight_ = 1.0;
  std::vector<Source> sources_;  // per pair
  std::uint32_t later_from_ = 0;
  std::vector<double> weights_, later_weights_;  // kernel x pair
  std::vector<double> prefix_;                   // per pair, up to the current boundary
  std::vector<std::uint32_t> opens_at_;          // per class: when the start's pair may be left
  std::vector<double> open_;            // class x pair: 0 where the start may be left, or inf
  std::vector<double> least_arrivals_;  // boundary x pair
  std::vector<double> arrivals_;        // boundary x pair, or boundary for the start's pair
  std::vector<double> mature_;          // class x pair
  std::vector<double> by_memory_, by_core_, by_any_;  // least of mature_ per class and group
  std::vector<double> fresh_;  // per pair: value of a change at this boundary
};

}  // namespace negawatt::plan
