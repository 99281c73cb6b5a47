// SPDX-License-Identifier: Apache-2.0
//
// What an instance offers a request: what it would cost there, and which promises that would break.
// Nothing here fails.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace negawatt::route {

/// What taking a request would mean for an instance.
struct Offer {
  std::size_t instance = 0;
  std::uint32_t device_type = 0;
  double cost = 0.0;    ///< lambda energy + (1 - lambda) time, without the price
  double time = 0.0;    ///< seconds of a full instance
  double late = 0.0;    ///< worst forecast / promise; above 1: a promise to it would be broken
  double broken = 0.0;  ///< promises, to it and to others
  double priced = std::numeric_limits<double>::infinity();

  /// Promises first, counted; among those that break none the cost, else the least late.
  [[nodiscard]] bool is_better_than(const Offer& other) const {
    if (broken != other.broken) return broken < other.broken;
    return broken == 0.0 ? priced < other.priced : late < other.late;
  }
  /// Among instances whose number has been chosen: the fairest share keeps promises best.
  [[nodiscard]] bool is_less_late_than(const Offer& other) const {
    return broken != other.broken ? broken < other.broken : late < other.late;
  }
};

[[nodiscard]] inline Offer no_offer() {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  return {.late = kInfinite, .broken = kInfinite};
}

[[nodiscard]] inline bool is_offer(const Offer& offer) { return std::isfinite(offer.priced); }

/// The two halves of a disaggregated placement as one.
[[nodiscard]] inline Offer together(const Offer& prompt, const Offer& answer) {
  Offer both = prompt;
  both.cost += answer.cost;
  both.priced += answer.priced;
  both.late = std::max(prompt.late, answer.late);
  both.broken += answer.broken;
  return both;
}

}  // namespace negawatt::route
