// SPDX-License-Identifier: Apache-2.0
//
// Time and energy of a program's iterations, from positions and readings of an energy counter that
// moves in steps. The energy at an iteration's start is read between the two refreshes around it,
// so that an iteration's energy is uncertain by what the power varies within a refresh; over many
// iterations that averages out. Uses the same memory however long the program runs. Pure. Times
// are nanoseconds on the device's clock.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/cost.hpp"
#include "core/units.hpp"
#include "govern/execution.hpp"
#include "trace/position.hpp"

namespace negawatt::govern {

/// The mean of so many values, at least one.
struct MeanOf {
  double mean = 0.0;
  std::uint64_t count = 1;
};

/// Mean of many values and its standard error, without keeping them (Welford 1962). Of some values
/// only the mean of several is known: such a mean weighs as many, and is one observation of how
/// values vary (West 1979).
class RunningMean {
 public:
  void add(double value) { add_mean({value, 1}); }
  void add_mean(MeanOf observed);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// 0 for fewer than two observations: unknown.
  [[nodiscard]] double standard_error() const;

 private:
  std::uint64_t count_ = 0;
  std::uint64_t observations_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

/// What whole iterations took, first to last that count.
struct Achieved {
  std::uint64_t iterations = 0;
  Cost mean;   ///< of one
  Cost error;  ///< standard error of the means; energy: from the ends of the stretch, see below
  bool has_energy = false;
};

class Ledger {
 public:
  /// The first `warm_up` iterations do not count: their clocks were on the way.
  Ledger(const Execution& plan, std::uint64_t warm_up);

  void note_position(const trace::Position& position);
  /// A reading of the counter right after it moved.
  void note_energy(std::uint64_t at_ns, Joules counter);
  /// The counter was reset: what lies before cannot be compared with what comes.
  void note_reset();

  [[nodiscard]] Achieved achieved() const;
  /// Per segment of the plan: its mean time, over the times its start and its end were both seen.
  [[nodiscard]] const std::vector<RunningMean>& segment_times() const { return segment_times_; }

 private:
  struct Reading {
    std::uint64_t at_ns = 0;
    Joules counter;
  };
  struct Start {
    std::uint64_t iteration = 0;
    std::uint64_t at_ns = 0;
  };
  /// Counts what lies before this iteration, of which `position` is the first that was seen.
  void note_iteration(const trace::Position& position);
  void note_segment(const trace::Position& position);
  void begin_segment(const trace::Position& position);
  void settle();

  std::uint64_t warm_up_;
  std::vector<std::uint32_t> first_of_segment_;  ///< invocation that begins it
  std::vector<RunningMean> segment_times_;
  std::optional<Start> last_start_;
  std::optional<std::uint64_t> segment_started_ns_;  ///< of segment_
  std::uint64_t segment_iteration_ = 0;
  std::size_t segment_ = 0;
  RunningMean times_;

  std::optional<Reading> older_;
  std::optional<Reading> newest_;
  std::deque<Start> unsettled_;  ///< iteration starts later than the newest reading
  std::optional<std::pair<Start, Joules>> first_settled_;
  std::optional<std::pair<Start, Joules>> last_settled_;
  Joules ends_error_;  ///< of the two settled ends, together
  Joules summed_;      ///< over stretches that a reset ended
  std::uint64_t summed_iterations_ = 0;
};

}  // namespace negawatt::govern
