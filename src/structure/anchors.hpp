// SPDX-License-Identifier: Apache-2.0
//
// Anchors: what comes back at regular distances in a stream of kernels, so that the stream can be
// cut there. A function may be one, or a sequence of functions where no function runs only once an
// iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "structure/segmentation.hpp"

namespace negawatt::structure {

/// Where each symbol of a sequence stands.
class Occurrences {
 public:
  explicit Occurrences(const FunctionSequence& sequence);
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t symbol) const {
    return std::span(positions_).subspan(offsets_[symbol], offsets_[symbol + 1] - offsets_[symbol]);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::uint32_t> positions_;
};

struct Anchor {
  std::uint32_t symbol = 0;
  double period = 0.0;    ///< kernels: the distance that a kernel most often lies within
  double regular = 0.0;   ///< share of the stream in distances of about the period
  std::size_t first = 0;  ///< where it first stands at the start of such a distance
};

/// The anchors of a sequence: symbols of which most distances are within a quarter of their period,
/// and these make up half of the stream, and hardly any symbol would do so by chance (once in a
/// thousand streams). In order of symbols.
[[nodiscard]] std::vector<Anchor> anchors_of(const FunctionSequence& sequence,
                                             const Occurrences& occurrences);

/// Of each period, a tenth wide, the most regular anchor: at most `most`, the most regular ones, in
/// order of period.
[[nodiscard]] std::vector<Anchor> best_of_each_period(std::vector<Anchor> anchors,
                                                      std::size_t most);

/// Numbers for pairs of symbols: that at i stands for those at i and i + distance. Sequences of 2^k
/// functions, by doubling (Karp, Miller and Rosenberg 1972). The result is `distance` shorter, or
/// empty where there are more than `most` different pairs.
struct Pairs {
  std::vector<std::uint32_t> symbols;
  std::uint32_t count = 0;
};
[[nodiscard]] Pairs pairs_of(std::span<const std::uint32_t> symbols, std::size_t distance);

}  // namespace negawatt::structure
