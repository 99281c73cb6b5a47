// SPDX-License-Identifier: Apache-2.0
#include "solve/choice_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "solve/choice.hpp"
#include "solve/choice_core.hpp"
#include "solve/choice_front.hpp"

namespace negawatt::solve {
namespace {

constexpr std::size_t kCompactAtLeast = 1U << 20U;  // 24 MB of partial choices

/// The best choice so far: a partial choice with its pending move, and its partner.
struct BestPair {
  std::uint32_t node = 0;
  std::uint32_t move = kNoMove;
  std::uint32_t partner = 0;
};

class CoreSearch {
 public:
  CoreSearch(const Core& core, const RelaxedChoice& relaxed, double gap, SearchLimits limits)
      : core_(core),
        price_(relaxed.price),
        slack_(relaxed.slack),
        // Of the tolerance, a half goes to pruning and a quarter to merging states, which can
        // happen once per item to the best choice.
        prune_tolerance_(relaxed.tolerance / 2),
        merge_tolerance_(relaxed.tolerance / (4.0 * static_cast<double>(core.items.size() + 1))),
        state_limit_(std::min<std::size_t>(limits.states, kNoMove)),  // a node has 32 bits
        gap_(gap) {}

  SearchResult run() {
    for (std::size_t k = 0; k < core_.items.size() && is_worthwhile(0.0); ++k) {
      if (!add_item(k)) break;
    }
    const double proven = gave_up_ ? std::min(gap_, open_bound_) : gap_;
    return {best_moves(), gap_, proven, states_};
  }

 private:
  /// Whether a choice with this gap would be better than the best one so far.
  [[nodiscard]] bool is_worthwhile(double gap) const { return gap < gap_ - prune_tolerance_; }

  /// Adds item k to the smaller front. False when the search is over.
  bool add_item(std::size_t k) {
    const auto moves = core_.moves_of(core_.items[k]);
    if (std::none_of(moves.begin(), moves.end(),
                     [this](const Move& move) { return is_worthwhile(move.reduced); })) {
      return true;
    }
    const bool first_is_smaller = fronts_[0].size() <= fronts_[1].size();
    Front& front = fronts_[first_is_smaller ? 0 : 1];
    CompletionBound completion(fronts_[first_is_smaller ? 1 : 0], core_.rest[k + 1], price_);

    double least_gap = std::numeric_limits<double>::infinity();
    const auto grow = [&](std::uint32_t move) {
      if (states_ + front.size() > state_limit_) gave_up_ = true;
      if (gave_up_) return;
      least_gap = std::min(least_gap, add_run(front, move, completion));
      if (grown_.size() > compact_at_) compact();
    };
    grow(kNoMove);
    for (const Move& move : moves) {
      if (is_worthwhile(move.reduced)) grow(index_of(move));
    }
    if (gave_up_) return false;
    open_bound_ = std::max(open_bound_, std::min(least_gap, gap_));
    compact();
    history_.record(grown_);
    front.swap(grown_);
    grown_.clear();
    runs_.clear();
    return !front.empty();
  }

  /// Appends `front` moved by `move` to grown_, without what cannot lead to a better choice.
  /// Returns the least gap that the rest can lead to.
  double add_run(const Front& front, std::uint32_t move, CompletionBound& completion) {
    const double time = move == kNoMove ? 0.0 : core_.moves[move].time;
    const double reduced = move == kNoMove ? 0.0 : core_.moves[move].reduced;
    double least = std::numeric_limits<double>::infinity();
    completion.rewind();
    runs_.push_back(grown_.size());
    for (const Partial& partial : front) {
      const Partial moved{partial.time + time, partial.reduced + reduced, partial.node, move};
      if (!is_worthwhile(moved.reduced)) continue;
      const double bound = moved.reduced + completion.at(slack_ - moved.time);
      if (!is_worthwhile(bound)) continue;
      least = std::min(least, bound);
      grown_.push_back(moved);
      if (const Partial* partner = completion.partner()) pair_up(moved, *partner);
    }
    states_ += grown_.size() - runs_.back();
    return least;
  }

  /// Makes one front of the runs so far; between runs only when they have become many.
  void compact() {
    merge_runs(grown_, std::move(runs_));
    keep_undominated(grown_, {.price = price_, .tolerance = merge_tolerance_});
    runs_ = {0};
    compact_at_ = std::max(kCompactAtLeast, 2 * grown_.size());
  }

  /// Completes `partial` with the slowest partner that fits: it uses the least energy.
  void pair_up(const Partial& partial, const Partial& partner) {
    const double unused = slack_ - partial.time - partner.time;
    const double gap = partial.reduced + partner.reduced + price_ * unused;
    if (gap >= gap_) return;
    gap_ = gap;
    best_ = BestPair{partial.node, partial.move, partner.node};
  }

  [[nodiscard]] std::uint32_t index_of(const Move& move) const {
    return static_cast<std::uint32_t>(&move - core_.moves.data());
  }

  [[nodiscard]] std::vector<std::uint32_t> best_moves() const {
    std::vector<std::uint32_t> moves;
    if (best_.move != kNoMove) moves.push_back(best_.move);
    for (const auto node : {best_.node, best_.partner}) {
      history_.for_each(node, [&](std::uint32_t move) { moves.push_back(move); });
    }
    return moves;
  }

  // Constant after construction.
  const Core& core_;
  double price_;
  double slack_;
  double prune_tolerance_;
  double merge_tolerance_;
  std::size_t state_limit_;

  // How far the search is.
  double gap_;
  double open_bound_ = 0.0;  // no unfinished choice has a smaller gap
  bool gave_up_ = false;
  std::size_t states_ = 0;
  BestPair best_;
  std::array<Front, 2> fronts_ = {Front{Partial{}}, Front{Partial{}}};
  Front grown_;                    // the next front, in runs of rising time
  std::vector<std::size_t> runs_;  // where they start
  std::size_t compact_at_ = kCompactAtLeast;
  MoveHistory history_;
};

}  // namespace

SearchResult search_core(const Core& core, const RelaxedChoice& relaxed, double gap,
                         SearchLimits limits) {
  return CoreSearch(core, relaxed, gap, limits).run();
}

}  // namespace negawatt::solve
