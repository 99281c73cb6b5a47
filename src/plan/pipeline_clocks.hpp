// SPDX-License-Identifier: Apache-2.0
//
// Real clocks for the instructions of a pipeline: which options each kind of instruction has, how
// long a plan takes, how to turn ideal times into clocks of the table, and how to spend what slack
// a plan still has. Energies here are effective: what the instruction uses beyond waiting, so that
// a plan's energy is their sum plus blocking watts * stages * iteration time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cost.hpp"
#include "core/units.hpp"
#include "plan/pipeline_graph.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::plan {

struct ClockOption {
  double time = 0.0;    ///< s
  double energy = 0.0;  ///< J, effective
  std::uint32_t mhz = 0;
};

/// The options of one kind of instruction that no other option beats in time and effective
/// energy; fastest first.
using ClockOptions = std::vector<ClockOption>;

[[nodiscard]] ClockOptions efficient_options(std::span<const trace::PassOption> options,
                                             Watts blocking);

/// Those of them on the lower convex hull.
[[nodiscard]] std::vector<Cost> convex_options(const ClockOptions& options);

/// Per instruction of the graph: an index into the options of its kind.
using PassClocks = std::vector<std::uint16_t>;

/// Times and repairs plans of one pipeline. Not to be shared between threads (it owns scratch
/// space). Deadlines are kept to a relative tolerance of 1e-12.
class PassClockPlanner {
 public:
  PassClockPlanner(const std::vector<PipelineInstruction>& instructions,
                   std::vector<ClockOptions> by_kind);

  [[nodiscard]] const ClockOptions& options(std::size_t instruction) const {
    return by_kind_[instructions_[instruction].kind()];
  }

  /// s from start to end when every instruction starts as early as it can.
  [[nodiscard]] double makespan(const PassClocks& plan);
  /// J, effective.
  [[nodiscard]] double energy(const PassClocks& plan) const;
  /// When each instruction ends (s) in the plan last given to makespan().
  [[nodiscard]] std::span<const double> ends() const { return std::span(end_).first(size()); }

  /// Every instruction, in order of time, gets the least energy that still ends at `end`. What
  /// rounding leaves unused goes to the instructions behind it.
  [[nodiscard]] PassClocks rounded_forward(std::span<const double> end);
  /// The same from the last instruction to the first: none starts before `start`.
  [[nodiscard]] PassClocks rounded_backward(std::span<const double> start, double deadline);
  /// Slows instructions that have slack within the deadline; never raises the energy.
  void spend_slack(PassClocks& plan, double deadline);

 private:
  [[nodiscard]] std::size_t size() const { return instructions_.size(); }
  [[nodiscard]] double ready(std::size_t i) const {
    return std::max(end_[instructions_[i].before_on_stage], end_[instructions_[i].before_in_data]);
  }
  [[nodiscard]] double due(std::size_t i) const {
    return std::min(start_[instructions_[i].after_on_stage],
                    start_[instructions_[i].after_in_data]);
  }
  /// One sweep in order of time, one against it; true when an instruction got slower.
  bool slow_forward(PassClocks& plan, double deadline);
  bool slow_backward(PassClocks& plan, double deadline);

  // Missing neighbours point at index size(): it ends at 0 and starts at the deadline.
  std::vector<PipelineInstruction> instructions_;
  std::vector<ClockOptions> by_kind_;
  std::vector<double> end_;    // s
  std::vector<double> start_;  // s
};

}  // namespace negawatt::plan
