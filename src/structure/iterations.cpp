// SPDX-License-Identifier: Apache-2.0
#include "structure/iterations.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "structure/anchors.hpp"

namespace negawatt::structure {
namespace {

constexpr std::size_t kMostLengths = 16;  // periods that are looked at of one kind of anchor
constexpr std::size_t kLongestGram = 64;  // functions of an anchor
constexpr double kLeastVocabulary = 0.9;  // of an iteration
constexpr double kLeastWhole = 0.75;
constexpr double kGoodCoverage = 0.85;    // with which no other kind of anchor is looked for
constexpr double kCoverageToSpare = 0.2;  // what a shorter iteration may leave unexplained
constexpr std::size_t kMostStarts = 8;    // functions that are tried as the first of an iteration
constexpr double kLeastConfidence = 0.4;
constexpr std::size_t kLeastIterations = 3;

struct Candidate {
  Segmentation cut;
  double vocabulary = 0.0;
};

class Search {
 public:
  explicit Search(const FunctionSequence& sequence)
      : sequence_(sequence), recurring_(recurring_functions(sequence)), occurrences_(sequence) {}

  std::optional<Candidate> run() {
    std::vector<Candidate> candidates = candidates_of_all_anchors();
    auto chosen = shortest_that_explains(std::move(candidates));
    if (!chosen) return std::nullopt;
    return with_earliest_start(mended(*std::move(chosen)));
  }

 private:
  /// Single functions first; sequences of 2, 4, 8, ... where these are not enough.
  [[nodiscard]] std::vector<Candidate> candidates_of_all_anchors() const {
    std::vector<Candidate> candidates;
    Pairs grams{{sequence_.functions.begin(), sequence_.functions.end()}, sequence_.count};
    for (std::size_t length = 1; length <= kLongestGram; length *= 2) {
      const FunctionSequence level{grams.symbols, grams.count};
      const Occurrences where(level);
      for (const Anchor& anchor : best_of_each_period(anchors_of(level, where), kMostLengths)) {
        candidates.push_back(cut_at(where.of(anchor.symbol)));
      }
      const bool is_good = std::ranges::any_of(candidates, [](const Candidate& candidate) {
        return is_whole(candidate) && candidate.cut.coverage >= kGoodCoverage;
      });
      if (is_good) break;
      grams = pairs_of(grams.symbols, length);
      if (grams.symbols.empty()) break;
    }
    return candidates;
  }

  [[nodiscard]] Candidate cut_at(std::span<const std::uint32_t> positions) const {
    Candidate candidate{segmented(sequence_, recurring_, {positions.begin(), positions.end()})};
    candidate.vocabulary = vocabulary_of(candidate.cut.typical, recurring_);
    return candidate;
  }

  /// Not only the typical segment: of a program with two layers, every other segment has what comes
  /// between the last and the first.
  static bool is_whole(const Candidate& candidate) {
    return candidate.vocabulary >= kLeastVocabulary && candidate.cut.whole >= kLeastWhole;
  }

  /// Where no candidate is whole (there are iterations of several kinds, each with functions of its
  /// own), the one that explains most.
  static std::optional<Candidate> shortest_that_explains(std::vector<Candidate> candidates) {
    if (candidates.empty()) return std::nullopt;
    if (std::ranges::none_of(candidates, is_whole)) {
      return std::move(*std::ranges::max_element(candidates, {}, [](const Candidate& candidate) {
        return candidate.cut.coverage * candidate.vocabulary;
      }));
    }
    std::erase_if(candidates, [](const Candidate& candidate) { return !is_whole(candidate); });
    double best = 0.0;
    for (const Candidate& candidate : candidates) best = std::max(best, candidate.cut.coverage);
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return candidate.cut.coverage < best - kCoverageToSpare;
    });
    return std::move(*std::ranges::min_element(candidates, {}, [](const Candidate& candidate) {
      return std::pair(candidate.cut.typical.length, -candidate.cut.coverage);
    }));
  }

  /// Functions that run once an iteration, in the order in which the program first settles on them.
  [[nodiscard]] std::vector<std::uint32_t> landmarks(const TypicalSegment& typical) const {
    std::vector<std::pair<std::size_t, std::uint32_t>> found;
    for (std::uint32_t function = 0; function < sequence_.count; ++function) {
      if (typical.runs[function] == 1) {
        found.emplace_back(settled(occurrences_.of(function), typical.length), function);
      }
    }
    std::ranges::sort(found);
    std::vector<std::uint32_t> functions;
    functions.reserve(found.size());
    for (const auto& [first, function] : found) functions.push_back(function);
    return functions;
  }

  /// The first position that another one follows after about an iteration.
  static std::size_t settled(std::span<const std::uint32_t> positions, std::size_t length) {
    for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
      const std::size_t distance = positions[i + 1] - positions[i];
      if (4 * distance >= 3 * length && 4 * distance <= 5 * length) return positions[i];
    }
    return SIZE_MAX;
  }

  /// The stream is a circle of iterations; the program entered it where the first one starts.
  [[nodiscard]] Candidate with_earliest_start(Candidate chosen) const {
    std::vector<Candidate> starts;
    for (const std::uint32_t function : landmarks(chosen.cut.typical)) {
      if (starts.size() == kMostStarts) break;
      starts.push_back(mended(cut_at(occurrences_.of(function))));
    }
    double best = chosen.cut.coverage;
    for (const Candidate& start : starts) best = std::max(best, start.cut.coverage);
    for (Candidate& start : starts) {
      if (start.vocabulary >= chosen.vocabulary && start.cut.coverage >= best - 0.02) {
        return std::move(start);
      }
    }
    return chosen;
  }

  /// Joins segments that an anchor too many has cut, and cuts those where the anchor was missing.
  [[nodiscard]] Candidate mended(Candidate candidate) const {
    candidate.cut = divided(joined(std::move(candidate.cut)));
    candidate.vocabulary = vocabulary_of(candidate.cut.typical, recurring_);
    return candidate;
  }

  [[nodiscard]] std::size_t end_of(const Segmentation& cut, std::size_t segment) const {
    return segment + 1 < cut.starts.size() ? cut.starts[segment + 1] : sequence_.functions.size();
  }

  /// Two neighbours become one where that agrees better than either.
  [[nodiscard]] Segmentation joined(Segmentation cut) const {
    std::vector<std::size_t> starts{cut.starts.front()};
    double left = cut.agreement.front();
    for (std::size_t i = 1; i < cut.starts.size(); ++i) {
      const double right = cut.agreement[i];
      const std::size_t length = end_of(cut, i) - starts.back();
      if (std::min(left, right) < kAgrees && length <= 2 * cut.typical.length) {
        const double both = agreement_of(sequence_, starts.back(), end_of(cut, i), cut.typical);
        if (both >= kAgrees && both > std::max(left, right)) {
          left = both;
          continue;
        }
      }
      starts.push_back(cut.starts[i]);
      left = right;
    }
    if (starts.size() == cut.starts.size()) return cut;
    return segmented(sequence_, recurring_, std::move(starts));
  }

  /// A landmark and how far behind the start of an iteration it stands.
  struct Offset {
    std::uint32_t function = 0;
    std::size_t behind = 0;
  };

  [[nodiscard]] std::vector<Offset> offsets_in(const Segmentation& cut) const {
    std::vector<Offset> offsets;
    for (const std::uint32_t function : landmarks(cut.typical)) {
      const auto positions = occurrences_.of(function);
      std::vector<std::size_t> behind;
      std::size_t segment = 0;
      for (const std::size_t position : positions) {
        while (segment + 1 < cut.starts.size() && cut.starts[segment + 1] <= position) ++segment;
        if (position < cut.starts.front() || cut.agreement[segment] < kAgrees) continue;
        behind.push_back(position - cut.starts[segment]);
      }
      if (behind.empty()) continue;
      const auto middle = behind.begin() + static_cast<std::ptrdiff_t>(behind.size() / 2);
      std::ranges::nth_element(behind, middle);
      offsets.push_back({function, *middle});
    }
    return offsets;
  }

  [[nodiscard]] Segmentation divided(Segmentation cut) const {
    const std::vector<Offset> offsets = offsets_in(cut);
    std::vector<std::size_t> starts = starts_before(cut, offsets);
    for (std::size_t i = 0; i < cut.starts.size(); ++i) {
      starts.push_back(cut.starts[i]);
      if (cut.agreement[i] < kAgrees) add_missing(cut, offsets, end_of(cut, i), starts);
    }
    if (starts.size() == cut.starts.size()) return cut;
    return segmented(sequence_, recurring_, std::move(starts));
  }

  /// Boundaries ahead of the first, where the first iterations lack the anchor.
  [[nodiscard]] std::vector<std::size_t> starts_before(const Segmentation& cut,
                                                       std::span<const Offset> offsets) const {
    std::vector<std::size_t> starts;
    std::size_t end = cut.starts.front();
    while (4 * end >= 3 * cut.typical.length) {
      const std::size_t expected = end - std::min(end, cut.typical.length);
      const auto boundary = voted(offsets, cut.typical, expected);
      if (!boundary || *boundary >= end ||
          agreement_of(sequence_, *boundary, end, cut.typical) < kAgrees) {
        break;
      }
      starts.push_back(end = *boundary);
    }
    std::ranges::reverse(starts);
    return starts;
  }

  /// Adds the boundaries that landmarks tell of between starts.back() and `end`, as long as what
  /// they cut off agrees.
  void add_missing(const Segmentation& cut, std::span<const Offset> offsets, std::size_t end,
                   std::vector<std::size_t>& starts) const {
    while (2 * (end - starts.back()) > 3 * cut.typical.length) {
      const std::size_t expected = starts.back() + cut.typical.length;
      const auto boundary = voted(offsets, cut.typical, expected);
      if (!boundary || *boundary <= starts.back() || *boundary >= end) return;
      if (agreement_of(sequence_, starts.back(), *boundary, cut.typical) < kAgrees) return;
      starts.push_back(*boundary);
    }
  }

  /// The median of where the landmarks around `expected` would have the boundary; at least half of
  /// them must be there.
  [[nodiscard]] std::optional<std::size_t> voted(std::span<const Offset> offsets,
                                                 const TypicalSegment& typical,
                                                 std::size_t expected) const {
    const std::size_t width = typical.length / 4;
    std::vector<std::size_t> votes;
    for (const Offset& offset : offsets) {
      const auto positions = occurrences_.of(offset.function);
      const std::size_t there = expected + offset.behind;
      const auto at = std::ranges::lower_bound(positions, there - std::min(there, width));
      if (at == positions.end() || *at > there + width) continue;
      votes.push_back(*at - std::min<std::size_t>(*at, offset.behind));
    }
    if (votes.empty() || 2 * votes.size() < offsets.size()) return std::nullopt;
    const auto middle = votes.begin() + static_cast<std::ptrdiff_t>(votes.size() / 2);
    std::ranges::nth_element(votes, middle);
    return *middle;
  }

  FunctionSequence sequence_;
  std::vector<std::uint32_t> recurring_;
  Occurrences occurrences_;
};

Iterations described(const FunctionSequence& sequence, Candidate found) {
  Iterations iterations;
  const Segmentation& cut = found.cut;
  double agreement = 0.0;
  std::size_t typical = 0;
  for (std::size_t i = 0; i < cut.starts.size(); ++i) {
    const bool is_last = i + 1 == cut.starts.size();
    const std::size_t last = is_last ? sequence.functions.size() : cut.starts[i + 1];
    const bool agrees = cut.agreement[i] >= kAgrees;
    iterations.all.push_back({cut.starts[i], last, cut.agreement[i], agrees});
    agreement += agrees ? cut.agreement[i] : 0.0;
    typical += agrees ? 1 : 0;
  }
  iterations.coverage = cut.coverage;
  iterations.vocabulary = found.vocabulary;
  iterations.agreement =
      typical >= kLeastIterations ? agreement / static_cast<double>(typical) : 0.0;
  iterations.typical = std::move(found.cut.typical);
  return iterations;
}

}  // namespace

std::optional<Iterations> find_iterations(const FunctionSequence& sequence) {
  auto found = Search(sequence).run();
  if (!found) return std::nullopt;
  Iterations iterations = described(sequence, *std::move(found));
  if (iterations.confidence() < kLeastConfidence) return std::nullopt;
  return iterations;
}

}  // namespace negawatt::structure
