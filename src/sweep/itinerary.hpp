// SPDX-License-Identifier: Apache-2.0
//
// In which order a sweep visits kernels at clock pairs, and when it has seen enough of one. Rounds
// are interleaved: every round goes once over all that is still wanted, its pairs in a new random
// order, so that a slow drift of the machine does not look like an effect of the clocks. A kernel
// at a pair is done when the 95 % confidence interval of its energy is narrow enough, for which it
// takes two visits at least. Stopping when repeats agree makes stated errors somewhat small (down
// to three quarters; docs/closed-loop.md). Pure; the seed decides the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sweep/visits.hpp"
#include "trace/clocks.hpp"

namespace negawatt::sweep {

struct StopRule {
  std::size_t least_visits = 3;
  std::size_t most_visits = 10;
  double half_width = 0.01;  ///< of the 95 % confidence interval of the energy, over the mean
};

struct Stop {
  std::uint32_t kernel = 0;
  trace::ClockPair clocks;
};

class Itinerary {
 public:
  Itinerary(std::size_t kernels, std::vector<trace::ClockPair> pairs, StopRule rule,
            std::uint64_t seed);

  /// Notes a visit of this sweep or of an earlier one that it continues.
  void note(const Visit& visit);
  /// Goes to this kernel at these clocks no more.
  void give_up(const Stop& stop);
  /// Goes to these clocks no more.
  void give_up(trace::ClockPair clocks);
  /// Where to go next; nothing when all is measured well enough or given up.
  [[nodiscard]] std::optional<Stop> next();
  /// Visits still to come if every kernel and pair needed as few as they can, at least 0.
  [[nodiscard]] std::size_t left() const;
  [[nodiscard]] std::size_t noted() const { return noted_; }
  /// Energies per call, in joules, of one kernel at one of the pairs (by their indices).
  [[nodiscard]] const std::vector<double>& energies(std::size_t kernel, std::size_t pair) const {
    return energies_[index_of(kernel, pair)];
  }

 private:
  [[nodiscard]] std::size_t index_of(std::size_t kernel, std::size_t pair) const {
    return pair * kernels_ + kernel;
  }
  [[nodiscard]] std::size_t still_wanted(std::size_t kernel, std::size_t pair) const;
  void start_round();

  std::size_t kernels_;
  std::vector<trace::ClockPair> pairs_;
  StopRule rule_;
  std::uint64_t random_;
  std::vector<std::vector<double>> energies_;
  std::vector<bool> given_up_;
  std::vector<Stop> round_;  ///< what is left of it, last first
  std::size_t noted_ = 0;
};

}  // namespace negawatt::sweep
