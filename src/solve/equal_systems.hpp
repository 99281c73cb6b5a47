// SPDX-License-Identifier: Apache-2.0
//
// Systems on which every group costs the same are one system with their capacities together: found
// before a transportation problem is solved, and told apart again in its solution. Left apart,
// their items would wander from one to the next along paths that gain nothing. Nothing here fails.
#pragma once

#include <cstddef>
#include <vector>

#include "solve/transport.hpp"

namespace negawatt::solve {

class EqualSystems {
 public:
  /// The problem must have passed the checks of transport(), and outlive this.
  explicit EqualSystems(const TransportProblem& problem);

  [[nodiscard]] bool are_there() const { return kinds_.size() < problem_->systems; }
  /// The problem with one system for each kind.
  [[nodiscard]] TransportProblem merged() const;
  /// Turns a solution of the merged problem into one of the whole: the first of equal systems are
  /// filled first.
  void split(TransportPlan& plan) const;

 private:
  [[nodiscard]] bool are_equal(std::size_t a, std::size_t b) const;

  const TransportProblem* problem_;
  std::vector<std::vector<std::uint32_t>> kinds_;  ///< equal systems, in order
};

}  // namespace negawatt::solve
