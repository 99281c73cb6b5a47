// SPDX-License-Identifier: Apache-2.0
//
// The best thresholds on tokens: requests up to them go to one system, the others to another. Every
// pair of systems and every threshold is considered, by sums over the sorted sizes; both thresholds
// at once by a tree of sums over the outputs while the inputs go up, so that the best pair of
// thresholds is found in O(groups log groups), not by trying them all. Systems need not take every
// request: that as few as possible are refused comes before the cost, and none may be in the end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/assign_costs.hpp"

namespace negawatt::plan {

enum class ThresholdOn : std::uint8_t { input, output, both };

/// Whether requests of this size go to the small system.
[[nodiscard]] bool is_below(trace::RequestSize size, const Threshold& threshold);

/// A sum of costs, and of the requests that could not be priced because they are refused.
struct Amount {
  std::int64_t refused = 0;
  double cost = 0.0;

  Amount& operator+=(const Amount& other) {
    refused += other.refused;
    cost += other.cost;
    return *this;
  }
  friend Amount operator+(Amount a, const Amount& b) { return a += b; }
  friend Amount operator-(const Amount& a, const Amount& b) {
    return {a.refused - b.refused, a.cost - b.cost};
  }
  friend bool operator<(const Amount& a, const Amount& b) {
    return a.refused != b.refused ? a.refused < b.refused : a.cost < b.cost;
  }
};

class ThresholdSearch {
 public:
  /// The references must outlive the search.
  ThresholdSearch(const AssignCosts& costs, const Workload& workload);

  /// Threshold 0 sends all to the large system. Where `fixed` says something, it is kept; `small`
  /// is the index of its system. None: whatever the threshold, some request goes where it is
  /// refused.
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
    Amount large_alone;
  };
  /// What a threshold changes against the large system alone.
  struct Cut {
    Amount change;
    std::uint32_t tokens = 0;
  };
  struct Corner {
    Amount change;
    std::uint32_t input = 0;
    std::uint32_t output = 0;
  };

  [[nodiscard]] static Order order_by(const TokenCounts& counts);
  [[nodiscard]] Amount amount(std::size_t group, std::size_t system) const;
  [[nodiscard]] std::vector<Pair> all_pairs() const;
  [[nodiscard]] std::vector<Amount> changes(const Pair& pair) const;
  [[nodiscard]] static Cut best_cut(const Order& order, const std::vector<Amount>& change,
                                    std::optional<std::uint32_t> fixed);
  [[nodiscard]] Corner best_corner(const std::vector<Amount>& change,
                                   const FixedThreshold& fixed) const;
  [[nodiscard]] Amount objective_of(ThresholdOn on, const Pair& pair, const FixedThreshold& fixed,
                                    Threshold& found) const;
  /// The input threshold of the best corner; none: nothing is gained by any.
  [[nodiscard]] std::optional<std::uint32_t> best_corner_input(
      const std::vector<Amount>& change) const;

  const AssignCosts* costs_;
  TokenCounts outputs_;
  Order by_input_;
  Order by_output_;
  std::vector<Pair> pairs_;  ///< the lowest bound first
};

}  // namespace negawatt::plan
