// SPDX-License-Identifier: Apache-2.0
//
// A stream of kernels cut into segments, and how alike these are. A segment is compared as a bag:
// how often each function runs in it, in whatever order, since streams that run side by side
// interleave differently every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace negawatt::structure {

/// Functions in order of their start, numbered from 0: a kernel's name, whatever its grid is.
struct FunctionSequence {
  std::span<const std::uint32_t> functions;  ///< fewer than 2^32
  std::uint32_t count = 0;                   ///< all of them are below
};

/// How often each function runs in a typical segment.
struct TypicalSegment {
  std::vector<std::uint32_t> runs;  ///< by function
  std::size_t length = 0;           ///< their sum
};

struct Segmentation {
  std::vector<std::size_t> starts;  ///< ascending; the last segment goes to the end of the stream
  TypicalSegment typical;
  std::vector<double> agreement;  ///< of each segment with the typical one: 0 ... 1
  /// Share of the stream's kernels in segments that agree by kAgrees.
  double coverage = 0.0;
  /// Share of those kernels in segments that themselves have most of the vocabulary, 90 %.
  double whole = 0.0;
};

/// From here on a segment is another one of the same kind: a sixth of the kernels may come and go.
inline constexpr double kAgrees = 0.85;

/// Cuts before each of `starts` (ascending, within the sequence). The typical segment has of each
/// function the median of its runs, segments weighted by their length. `vocabulary`: functions, as
/// of recurring_functions(). O(n log n).
[[nodiscard]] Segmentation segmented(const FunctionSequence& sequence,
                                     std::span<const std::uint32_t> vocabulary,
                                     std::vector<std::size_t> starts);

/// Sorensen's coefficient of functions first ... last - 1 and the typical segment: twice what they
/// share, by all that both have.
[[nodiscard]] double agreement_of(const FunctionSequence& sequence, std::size_t first,
                                  std::size_t last, const TypicalSegment& typical);

/// Functions that the program keeps using, not only at its start or now and then: at least three
/// runs over a third of the stream, and never absent for a third of it.
[[nodiscard]] std::vector<std::uint32_t> recurring_functions(const FunctionSequence& sequence);

/// Share of `recurring` that a typical segment has. A layer repeats as an iteration does, but lacks
/// what runs once an iteration.
[[nodiscard]] double vocabulary_of(const TypicalSegment& typical,
                                   std::span<const std::uint32_t> recurring);

}  // namespace negawatt::structure
