// SPDX-License-Identifier: Apache-2.0
//
// A schedule problem laid out for the solvers: dense tables in SI doubles, pairs sorted by memory
// then core clock, latencies as a few classes. Dwell times are compared in whole picoseconds, so
// that sums do not depend on their order and a dwell of exactly the latency is long enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "plan/schedule.hpp"

namespace negawatt::plan {

/// The pair of every invocation, as an index into ScheduleTables' pairs.
using Assignment = std::vector<std::uint16_t>;

struct PairChange {
  std::uint32_t latency_class = 0;
  double energy = 0.0;  ///< joules
};

/// What an assignment costs around the cycle, and the first rule it breaks, if any.
struct Assessment {
  double time = 0.0;    ///< seconds
  double energy = 0.0;  ///< joules, changes included
  std::uint32_t switches = 0;
  std::string broken;  ///< empty: a valid schedule
};

class ScheduleTables {
 public:
  /// Fails with Code::invalid on a problem that contradicts itself.
  static Result<ScheduleTables> build(const ScheduleProblem& problem);

  [[nodiscard]] std::uint32_t invocations() const { return invocations_; }
  [[nodiscard]] std::uint32_t pairs() const { return pairs_; }
  [[nodiscard]] std::uint32_t kernels() const { return kernels_; }
  /// Kernel of an invocation counted from the cut; `offset` may run to invocations() - 1.
  [[nodiscard]] std::uint32_t kernel(std::uint32_t invocation) const {
    return sequence_[invocation];
  }
  [[nodiscard]] const trace::Sequence& sequence() const { return sequence_; }

  /// Kernel x pair, row by row; 0 where not measured.
  [[nodiscard]] const std::vector<double>& times() const { return times_; }
  [[nodiscard]] const std::vector<double>& energies() const { return energies_; }
  [[nodiscard]] const std::vector<std::int64_t>& ticks() const { return ticks_; }
  [[nodiscard]] std::size_t cell(std::uint32_t invocation, std::uint32_t pair) const {
    return std::size_t{sequence_[invocation]} * pairs_ + pair;
  }
  /// Pairs a kernel was not measured at.
  [[nodiscard]] std::span<const std::uint16_t> missing(std::uint32_t kernel) const {
    return missing_[kernel];
  }
  [[nodiscard]] bool is_measured(std::uint32_t invocation, std::uint32_t pair) const {
    return measured_[cell(invocation, pair)] != 0;
  }

  /// Distinct latencies of all possible changes, in picoseconds, ascending.
  [[nodiscard]] const std::vector<std::int64_t>& latencies() const { return latencies_; }
  [[nodiscard]] PairChange change(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::int64_t latency(std::uint32_t from, std::uint32_t to) const {
    return latencies_[change(from, to).latency_class];
  }

  /// What a change to a pair costs when only its core clock changes, only its memory clock, both.
  struct Target {
    PairChange core;
    PairChange memory;
    PairChange both;
  };
  [[nodiscard]] const std::vector<Target>& targets() const { return targets_; }
  /// Pairs memory_groups()[g] .. memory_groups()[g + 1] - 1 share a memory clock.
  [[nodiscard]] const std::vector<std::uint32_t>& memory_groups() const { return groups_; }
  [[nodiscard]] const std::vector<std::uint32_t>& memory_of() const { return memory_of_; }
  [[nodiscard]] const std::vector<std::uint32_t>& core_of() const { return core_of_; }
  [[nodiscard]] std::uint32_t cores() const { return cores_; }

  /// Index into ScheduleProblem::pairs, and back.
  [[nodiscard]] std::uint32_t original(std::uint32_t pair) const { return original_[pair]; }
  [[nodiscard]] std::uint32_t sorted(std::uint32_t original) const { return sorted_[original]; }

  /// The cycle of the first invocations only: a sample of the iteration.
  [[nodiscard]] ScheduleTables first(std::uint32_t invocations) const;
  /// The same cycle, told from another invocation on.
  [[nodiscard]] ScheduleTables starting_at(std::uint32_t invocation) const;

  [[nodiscard]] Assessment assess(std::span<const std::uint16_t> assignment) const;

 private:
  Status take_costs(const ScheduleProblem& problem);
  void take_pairs(const ScheduleProblem& problem);
  void take_switching(const ScheduleProblem& problem);
  [[nodiscard]] std::string first_short_dwell(std::span<const std::uint16_t> assignment) const;

  std::uint32_t invocations_ = 0;
  std::uint32_t pairs_ = 0;
  std::uint32_t kernels_ = 0;
  std::uint32_t cores_ = 0;
  trace::Sequence sequence_;
  std::vector<double> times_;
  std::vector<double> energies_;
  std::vector<std::int64_t> ticks_;
  std::vector<std::uint8_t> measured_;
  std::vector<std::vector<std::uint16_t>> missing_;
  std::vector<std::int64_t> latencies_;
  std::vector<Target> targets_;
  std::vector<std::uint32_t> groups_;
  std::vector<std::uint32_t> memory_of_;
  std::vector<std::uint32_t> core_of_;
  std::vector<std::uint32_t> original_;
  std::vector<std::uint32_t> sorted_;
  std::vector<trace::ClockPair> clocks_;
};

}  // namespace negawatt::plan
