// SPDX-License-Identifier: Apache-2.0
#include "structure/anchors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <unordered_map>

namespace negawatt::structure {
namespace {

constexpr std::size_t kLeastRuns = 4;    // three distances
constexpr double kWidth = 0.25;          // of distances around the period
constexpr double kLeastShare = 0.5;      // of the stream in regular distances
constexpr double kLeastOften = 0.6;      // of the distances that are regular: a burst is no anchor
constexpr double kLeastSurprise = 10.0;  // bits, over what the best of all symbols has by chance
constexpr std::size_t kSampled = 4096;

/// The distance within which half of all kernels lie, of at most kSampled distances.
double period_of(std::span<const std::uint32_t> positions) {
  const std::size_t step = 1 + (positions.size() - 2) / kSampled;
  std::vector<std::uint32_t> distances;
  double all = 0.0;
  for (std::size_t i = 0; i + 1 < positions.size(); i += step) {
    distances.push_back(positions[i + 1] - positions[i]);
    all += distances.back();
  }
  std::ranges::sort(distances);
  double below = 0.0;
  for (const std::uint32_t distance : distances) {
    below += distance;
    if (2.0 * below >= all) return distance;
  }
  return distances.back();
}

struct Rhythm {
  std::size_t distances = 0, regular = 0;
  double period = 0.0;
  double deviations = 0.0;  ///< of the regular distances: sum, relative to the period
};

/// How surprising a rhythm is, in bits, were the symbol placed by chance: distances would be
/// exponential, with half of all kernels within 1.68 means, so that 0.63 w of them were within a
/// share w around that. One distance is the period itself and surprises nobody.
double surprise_of(const Rhythm& rhythm) {
  if (rhythm.regular < 2) return 0.0;
  const auto others = static_cast<double>(rhythm.regular - 1);
  const double width = std::max(2.0 * rhythm.deviations / others, 0.5 / rhythm.period);
  const auto of = [](std::size_t number) { return std::lgamma(static_cast<double>(number) + 1.0); };
  const double ways =
      of(rhythm.distances) - of(rhythm.regular) - of(rhythm.distances - rhythm.regular);
  return -others * std::log2(0.63 * width) - ways / std::log(2.0);
}

std::optional<Anchor> anchor_at(std::uint32_t symbol, std::span<const std::uint32_t> positions,
                                const FunctionSequence& sequence) {
  if (positions.size() < kLeastRuns) return std::nullopt;
  Rhythm rhythm{.distances = positions.size() - 1, .period = period_of(positions)};
  Anchor anchor{symbol, rhythm.period};
  double covered = 0.0;
  for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
    const double distance = positions[i + 1] - positions[i];
    const double deviation = std::abs(distance - rhythm.period) / rhythm.period;
    if (deviation > kWidth) continue;
    if (rhythm.regular++ == 0) anchor.first = positions[i];
    rhythm.deviations += deviation;
    covered += distance;
  }
  anchor.regular = covered / static_cast<double>(sequence.functions.size());
  const double often = static_cast<double>(rhythm.regular) / static_cast<double>(rhythm.distances);
  if (anchor.regular < kLeastShare || often < kLeastOften) return std::nullopt;
  if (surprise_of(rhythm) < kLeastSurprise + std::log2(sequence.count)) return std::nullopt;
  return anchor;
}

}  // namespace

Occurrences::Occurrences(const FunctionSequence& sequence)
    : offsets_(std::size_t{sequence.count} + 1, 0), positions_(sequence.functions.size()) {
  for (const std::uint32_t symbol : sequence.functions) ++offsets_[symbol + 1];
  for (std::size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t i = 0; i < sequence.functions.size(); ++i) {
    positions_[next[sequence.functions[i]]++] = static_cast<std::uint32_t>(i);
  }
}

std::vector<Anchor> anchors_of(const FunctionSequence& sequence, const Occurrences& occurrences) {
  std::vector<Anchor> anchors;
  for (std::uint32_t symbol = 0; symbol < sequence.count; ++symbol) {
    const auto anchor = anchor_at(symbol, occurrences.of(symbol), sequence);
    if (anchor) anchors.push_back(*anchor);
  }
  return anchors;
}

std::vector<Anchor> best_of_each_period(std::vector<Anchor> anchors, std::size_t most) {
  const auto band = [](const Anchor& anchor) {
    return std::lround(std::log(anchor.period) / std::log(1.1));
  };
  std::ranges::stable_sort(anchors, [&](const Anchor& a, const Anchor& b) {
    if (band(a) != band(b)) return band(a) < band(b);
    return a.regular > b.regular;
  });
  const auto [from, to] = std::ranges::unique(anchors, {}, band);
  anchors.erase(from, to);
  std::ranges::stable_sort(anchors, std::ranges::greater{}, &Anchor::regular);
  anchors.resize(std::min(anchors.size(), most));
  std::ranges::stable_sort(anchors, {}, &Anchor::period);
  return anchors;
}

Pairs pairs_of(std::span<const std::uint32_t> symbols, std::size_t distance) {
  Pairs pairs;
  if (symbols.size() <= distance) return pairs;
  pairs.symbols.reserve(symbols.size() - distance);
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (std::size_t i = 0; i + distance < symbols.size(); ++i) {
    const std::uint64_t pair = std::uint64_t{symbols[i]} << 32U | symbols[i + distance];
    pairs.symbols.push_back(numbers.try_emplace(pair, pairs.count).first->second);
    if (numbers.size() > symbols.size() / kLeastRuns) return {};
    pairs.count = static_cast<std::uint32_t>(numbers.size());
  }
  return pairs;
}

}  // namespace negawatt::structure
