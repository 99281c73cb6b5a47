// SPDX-License-Identifier: Apache-2.0
#include "plan/assign_threshold.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace negawatt::plan {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sums over a sequence whose entries change, with the least sum of any prefix (the empty one is
/// 0).
class PrefixTree {
 public:
  explicit PrefixTree(std::size_t size) {
    while (leaves_ < size) leaves_ *= 2;
    sum_.resize(2 * leaves_);
    least_.resize(2 * leaves_);
  }
  struct Change {
    std::size_t at = 0;
    Amount by;
  };
  void add(const Change& change) {
    auto node = leaves_ + change.at;
    sum_[node] += change.by;
    least_[node] = std::min(Amount{}, sum_[node]);
    while ((node /= 2) > 0) {
      sum_[node] = sum_[2 * node] + sum_[2 * node + 1];
      least_[node] = std::min(least_[2 * node], sum_[2 * node] + least_[2 * node + 1]);
    }
  }
  [[nodiscard]] Amount least() const { return least_[1]; }

 private:
  std::size_t leaves_ = 1;
  std::vector<Amount> sum_;
  std::vector<Amount> least_;
};

}  // namespace

bool is_below(trace::RequestSize size, const Threshold& threshold) {
  return (!threshold.input_tokens || size.input_tokens <= *threshold.input_tokens) &&
         (!threshold.output_tokens || size.output_tokens <= *threshold.output_tokens);
}

ThresholdSearch::ThresholdSearch(const AssignCosts& costs, const Workload& workload)
    : costs_(&costs),
      outputs_(&trace::RequestSize::output_tokens, workload),
      by_input_(order_by(TokenCounts(&trace::RequestSize::input_tokens, workload))),
      by_output_(order_by(outputs_)),
      pairs_(all_pairs()) {}

/// Sorts by counting: there are few different counts of tokens.
ThresholdSearch::Order ThresholdSearch::order_by(const TokenCounts& counts) {
  std::vector<std::size_t> next(counts.tokens.size() + 1, 0);
  for (const auto rank : counts.rank) ++next[rank + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  Order order;
  order.group.resize(counts.rank.size());
  order.tokens.resize(counts.rank.size());
  for (std::uint32_t group = 0; group < counts.rank.size(); ++group) {
    const auto at = next[counts.rank[group]]++;
    order.group[at] = group;
    order.tokens[at] = counts.tokens[counts.rank[group]];
  }
  return order;
}

/// Of all requests of a group on a system.
Amount ThresholdSearch::amount(std::size_t group, std::size_t system) const {
  const auto requests = costs_->requests_in(group);
  if (!costs_->takes(group, system)) return {static_cast<std::int64_t>(requests), 0.0};
  return {0, static_cast<double>(requests) * costs_->utility(group, system)};
}

std::vector<ThresholdSearch::Pair> ThresholdSearch::all_pairs() const {
  const auto systems = costs_->systems();
  std::vector<Amount> alone(systems);
  std::vector<double> together(systems * systems, 0.0);  // of a < b
  std::vector<double> utility(systems);
  for (std::size_t g = 0; g < costs_->groups(); ++g) {
    for (std::size_t s = 0; s < systems; ++s) {
      const auto all = amount(g, s);
      alone[s] += all;
      utility[s] = all.refused > 0 ? kInfinity : all.cost;
    }
    for (std::size_t a = 0; a < systems; ++a)
      for (std::size_t b = a + 1; b < systems; ++b)
        together[a * systems + b] += std::min(utility[a], utility[b]);
  }
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < systems; ++a) {
    for (std::size_t b = 0; b < systems; ++b) {
      const double bound = together[std::min(a, b) * systems + std::max(a, b)];
      // Infinite: neither takes some request.
      if (a != b && bound < kInfinity) pairs.push_back({a, b, bound, alone[b]});
    }
  }
  std::ranges::stable_sort(pairs, {}, &Pair::bound);
  return pairs;
}

std::vector<Amount> ThresholdSearch::changes(const Pair& pair) const {
  std::vector<Amount> change(costs_->groups());
  for (std::size_t g = 0; g < change.size(); ++g)
    change[g] = amount(g, pair.small) - amount(g, pair.large);
  return change;
}

/// The tokens up to which the changes sum up to least.
ThresholdSearch::Cut ThresholdSearch::best_cut(const Order& order,
                                               const std::vector<Amount>& change,
                                               std::optional<std::uint32_t> fixed) {
  Cut best{{}, fixed.value_or(0)};
  Amount sum;
  for (std::size_t i = 0; i < order.group.size(); ++i) {
    if (fixed && order.tokens[i] > *fixed) break;
    sum += change[order.group[i]];
    if (fixed)
      best.change = sum;
    else if (order.ends_at(i) && sum < best.change)
      best = {sum, order.tokens[i]};
  }
  return best;
}

std::optional<std::uint32_t> ThresholdSearch::best_corner_input(
    const std::vector<Amount>& change) const {
  PrefixTree tree(outputs_.tokens.size());
  std::optional<std::uint32_t> input;
  Amount least;
  for (std::size_t i = 0; i < by_input_.group.size(); ++i) {
    const auto group = by_input_.group[i];
    tree.add({.at = outputs_.rank[group], .by = change[group]});
    if (!by_input_.ends_at(i) || !(tree.least() < least)) continue;
    least = tree.least();
    input = by_input_.tokens[i];
  }
  return input;
}

ThresholdSearch::Corner ThresholdSearch::best_corner(const std::vector<Amount>& change,
                                                     const FixedThreshold& fixed) const {
  auto input = fixed.input_tokens;
  if (!input && !fixed.output_tokens) input = best_corner_input(change);
  if (!input && !fixed.output_tokens) return {};
  // One of them is known: the other is the best cut through what is below it.
  const auto& known = input ? by_input_ : by_output_;
  const auto limit = input ? *input : *fixed.output_tokens;
  auto inside = change;
  for (std::size_t i = 0; i < known.group.size(); ++i)
    if (known.tokens[i] > limit) inside[known.group[i]] = {};
  if (!input) {
    const auto cut = best_cut(by_input_, inside, std::nullopt);
    return {cut.change, cut.tokens, limit};
  }
  const auto cut = best_cut(by_output_, inside, fixed.output_tokens);
  return {cut.change, limit, cut.tokens};
}

/// The objective of the best thresholds between two systems, which are put into `found`.
Amount ThresholdSearch::objective_of(ThresholdOn on, const Pair& pair, const FixedThreshold& fixed,
                                     Threshold& found) const {
  const auto change = changes(pair);
  found = {.small = pair.small, .large = pair.large};
  if (on == ThresholdOn::both) {
    const auto corner = best_corner(change, fixed);
    found.input_tokens = corner.input;
    found.output_tokens = corner.output;
    return pair.large_alone + corner.change;
  }
  const bool on_input = on == ThresholdOn::input;
  const auto cut = on_input ? best_cut(by_input_, change, fixed.input_tokens)
                            : best_cut(by_output_, change, fixed.output_tokens);
  (on_input ? found.input_tokens : found.output_tokens) = cut.tokens;
  return pair.large_alone + cut.change;
}

std::optional<Threshold> ThresholdSearch::best(ThresholdOn on, const FixedThreshold& fixed,
                                               std::optional<std::size_t> small) const {
  std::optional<Threshold> best;
  double least = kInfinity;
  for (const auto& pair : pairs_) {
    if (pair.bound >= least) break;
    if (small && pair.small != *small) continue;
    Threshold found;
    const auto objective = objective_of(on, pair, fixed, found);
    if (objective.refused > 0 || objective.cost >= least) continue;
    least = objective.cost;
    best = found;
  }
  return best;
}

}  // namespace negawatt::plan
