// SPDX-License-Identifier: Apache-2.0
//
// Sets of partial choices: what some items of the core can do together, as sums of their moves.
// A front keeps the partial choices that no other beats in time and energy, fastest first. Raw
// doubles in seconds and joules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solve/choice_core.hpp"

namespace negawatt::solve {

/// The move of a partial choice that leaves its newest item at the relaxed option.
inline constexpr std::uint32_t kNoMove = UINT32_MAX;

struct Partial {
  double time = 0.0;
  double reduced = 0.0;
  std::uint32_t node = 0;        ///< how it came about: see MoveHistory
  std::uint32_t move = kNoMove;  ///< made after `node`, not yet recorded there
};

using Front = std::vector<Partial>;

/// Least gap that a partial choice can reach together with one of `other` and with items that are
/// in neither front. Both fronts have a time order, so asking for falling `left` costs one pass
/// over `other` in all.
class CompletionBound {
 public:
  /// `price` is what unused time costs.
  CompletionBound(const Front& other, Rest rest, double price);

  /// Starts over with a large `left`.
  void rewind() { fitting_ = other_.size(); }
  /// Bound for what the partner and the rest add when `left` seconds of slack are left.
  [[nodiscard]] double at(double left);
  /// The slowest partner that fits into the `left` asked for last; null when none does.
  [[nodiscard]] const Partial* partner() const {
    return fitting_ > 0 ? &other_[fitting_ - 1] : nullptr;
  }

 private:
  [[nodiscard]] double when_fitting(double left) const;
  [[nodiscard]] double when_late(double left) const;

  const Front& other_;
  double price_;
  Leeway slower_;
  Leeway faster_;
  std::vector<double> best_fitting_;  // over other[0..i]: reduced - slower rate * time
  std::vector<double> best_late_;     // over other[i..]: reduced + faster rate * time
  std::size_t fitting_;               // partners that fit into `left` by themselves
};

/// Merges `runs` of `partials` (each in time order, runs[i] is where run i starts) into one order.
void merge_runs(std::vector<Partial>& partials, std::vector<std::size_t> runs);

/// A partial choice's energy is reduced - price * time, and counts as equal within tolerance.
struct EnergyOrder {
  double price;
  double tolerance;
};

/// Drops what another partial choice beats in time and in energy, or equals.
void keep_undominated(std::vector<Partial>& in_time_order, EnergyOrder order);

/// How partial choices came about: a tree of moves, shared by all that start the same way.
class MoveHistory {
 public:
  /// Records the pending move of every partial choice.
  void record(Front& front);
  /// Calls visit(move) for every move on the way to `node`.
  template <class Visit>
  void for_each(std::uint32_t node, const Visit& visit) const {
    for (; node != 0; node = nodes_[node].parent) visit(nodes_[node].move);
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    std::uint32_t parent;
    std::uint32_t move;
  };
  std::vector<Node> nodes_ = {{0, kNoMove}};
};

}  // namespace negawatt::solve
