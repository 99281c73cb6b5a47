// SPDX-License-Identifier: Apache-2.0
//
// The best thresholds on tokens: requests up to them go to one system, the others to another. Every
// pair of systems and every threshold is considered, by sums over the sorted sizes; both thresholds
// at once by a tree of sums over the outputs while the inputs go up, so that the best pair of
// thresholds is found in O(groups log groups), not by trying them all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/assign_costs.hpp"

namespace negawatt::plan {

enum class ThresholdOn : std::uint8_t { input, output, both };

/// Whether requests of this size go to the small system.
[[nodiscard]] bool is_below(trace::RequestSize size, const Threshold& threshold);

class ThresholdSearch {
 public:
  /// The references must outlive the search.
  ThresholdSearch(const AssignCosts& costs, const Workload& workload);

  /// Threshold 0 sends all to the large system. Where `fixed` says something, it is kept; `small`
  /// is the index of its system. None: there are not two systems that take every request.
  [[nodiscard]] std::optional<Threshold> best(ThresholdOn on, const FixedThreshold& fixed,
                                              std::optional<std::size_t> small) const;

  /// How many groups the search for both thresholds may have to go through, over all pairs.
  [[nodiscard]] std::uint64_t work() const { return pairs_.size() * costs_->groups(); }

 private:
  /// The groups in order of one count of tokens.
  struct Order {
    std::vector<std::uint32_t> group;
    std::vector<std::uint32_t> tokens;  ///< of group[i]

    /// Whether i is the last of those with its tokens.
    [[nodiscard]] bool ends_at(std::size_t i) const {
      return i + 1 == tokens.size() || tokens[i + 1] != tokens[i];
    }
  };
  struct Pair {
    std::size_t small = 0;
    std::size_t large = 0;
    double bound = 0.0;  ///< no threshold between the two gets below
    double large_alone = 0.0;
  };
  /// What a threshold changes against the large system alone.
  struct Cut {
    double change = 0.0;
    std::uint32_t tokens = 0;
  };
  struct Corner {
    double change = 0.0;
    std::uint32_t input = 0;
    std::uint32_t output = 0;
  };

  [[nodiscard]] Order order_by(std::uint32_t trace::RequestSize::* count) const;
  [[nodiscard]] std::vector<Pair> all_pairs() const;
  [[nodiscard]] std::vector<double> changes(const Pair& pair) const;
  [[nodiscard]] static Cut best_cut(const Order& order, const std::vector<double>& change,
                                    std::optional<std::uint32_t> fixed);
  [[nodiscard]] Corner best_corner(const std::vector<double>& change,
                                   const FixedThreshold& fixed) const;
  [[nodiscard]] double objective_of(ThresholdOn on, const Pair& pair, const FixedThreshold& fixed,
                                    Threshold& found) const;
  /// The input threshold of the best corner; none: nothing is gained by any.
  [[nodiscard]] std::optional<std::uint32_t> best_corner_input(
      const std::vector<double>& change) const;

  const AssignCosts* costs_;
  const Workload* workload_;
  Order by_input_;
  Order by_output_;
  std::vector<std::uint32_t> output_rank_;  ///< of each group, among the different outputs
  std::vector<Pair> pairs_;                 ///< the lowest bound first
};

}  // namespace negawatt::plan
