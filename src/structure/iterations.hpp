// SPDX-License-Identifier: Apache-2.0
//
// The iteration of a program, found in its stream of kernels alone. An iteration is the shortest
// stretch that comes back and has by itself nearly every function that the program keeps using;
// that tells it from a layer, which comes back too, and from a hundred iterations and a log line.
//
// Warm-up and evaluation may come before and between, kernels may be missing, added, change their
// shape or run in another order. Where iterations are of several kinds (prefill, decode) the most
// frequent kind is found, with a confidence that says how little it explains. Steps that accumulate
// gradients are ambiguous: the optimizer's share of the functions decides (a tenth) between the
// micro-batch and the step.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "structure/segmentation.hpp"

namespace negawatt::structure {

/// Kernels first ... last - 1.
struct Iteration {
  std::size_t first = 0, last = 0;
  double agreement = 0.0;  ///< with the typical iteration: 1 where each function runs as often
  /// False for what lies between iterations and is none: an evaluation, a step cut off by the end.
  bool is_typical = false;
};

struct Iterations {
  /// From the first boundary to the end of the stream, without a gap. Before is start-up.
  std::vector<Iteration> all;
  TypicalSegment typical;
  double coverage = 0.0;    ///< share of the stream's kernels in typical iterations
  double vocabulary = 0.0;  ///< share of the functions in constant use that a typical one has
  double agreement = 0.0;   ///< mean of the typical ones
  /// The product of these three: how much of what was recorded this structure explains. It is no
  /// probability; 0.9 and more is clear, below 0.4 nothing is returned.
  [[nodiscard]] double confidence() const { return coverage * vocabulary * agreement; }
};

/// None where nothing runs at least four times in a rhythm, or too little of the stream does.
/// O(n log n) in time; about 40 bytes a kernel of memory.
[[nodiscard]] std::optional<Iterations> find_iterations(const FunctionSequence& sequence);

}  // namespace negawatt::structure
