// SPDX-License-Identifier: Apache-2.0
//
// What is left of a ChoiceProblem once its relaxation is solved at a price of time: per item the
// moves away from the relaxed option that could still be part of a better choice, ordered by how
// little they cost per second moved. A move's reduced cost is energy + price * time against the
// relaxed option (never negative), so that for any choice within the budget
//     energy - bound = sum of reduced costs + price * unused time.
// The left side is the gap. Seconds, joules and watts are raw doubles here: this is a hot loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "solve/choice.hpp"

namespace negawatt::solve {

/// A relaxed choice that keeps the budget, and what it leaves.
struct RelaxedChoice {
  std::vector<std::uint32_t> option;
  double price = 0.0;      ///< W; each option is a cheapest one at this price
  double slack = 0.0;      ///< s of the budget that are not used, >= 0
  double tolerance = 0.0;  ///< J; energies this close count as equal

  [[nodiscard]] double gap() const { return price * slack; }
};

struct Move {
  double time;     ///< change in seconds, not 0
  double reduced;  ///< reduced cost in joules, >= 0
  std::uint32_t item;
  std::uint32_t option;
};

struct CoreItem {
  std::uint32_t first_move;
  std::uint32_t end_move;
  double rate;  ///< W; least reduced cost per second over its moves
};

/// What a set of items can do about time in one direction.
struct Leeway {
  double rate = std::numeric_limits<double>::infinity();  ///< W; least reduced cost per second
  double reach = 0.0;                                     ///< s; all of them together
};

/// What a set of items can still do: take longer to save energy, or catch up.
struct Rest {
  Leeway slower;
  Leeway faster;
};

struct Core {
  std::vector<Move> moves;
  std::vector<CoreItem> items;  ///< rising rate; items without moves are left out
  std::vector<Rest> rest;       ///< rest[k]: of items k, k + 1, ...; one more than items

  [[nodiscard]] std::span<const Move> moves_of(const CoreItem& item) const {
    return std::span(moves).subspan(item.first_move, item.end_move - item.first_move);
  }
};

/// A single move that closes the gap as far as a single one can.
struct SingleMove {
  double gap;
  bool found = false;
  Move move{};
};

[[nodiscard]] SingleMove best_single_move(const ChoiceProblem& problem,
                                          const RelaxedChoice& relaxed);

/// Every move whose reduced cost is below `gap`.
[[nodiscard]] Core collect_core(const ChoiceProblem& problem, const RelaxedChoice& relaxed,
                                double gap);

}  // namespace negawatt::solve
