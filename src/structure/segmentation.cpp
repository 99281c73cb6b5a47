// SPDX-License-Identifier: Apache-2.0
#include "structure/segmentation.hpp"

#include <algorithm>
#include <utility>

#include "core/result.hpp"

namespace negawatt::structure {
namespace {

struct Count {
  std::uint32_t function, runs, segment;
};

std::size_t end_of(const FunctionSequence& sequence, std::span<const std::size_t> starts,
                   std::size_t segment) {
  return segment + 1 < starts.size() ? starts[segment + 1] : sequence.functions.size();
}

/// How often each function runs in each segment, segment by segment; zeros are left out.
std::vector<Count> counted(const FunctionSequence& sequence, std::span<const std::size_t> starts) {
  std::vector<Count> counts;
  std::vector<std::uint32_t> place(sequence.count, 0);  // in `counts`, from 1; 0 or stale: none
  for (std::size_t segment = 0; segment < starts.size(); ++segment) {
    const std::size_t before = counts.size();
    for (std::size_t i = starts[segment]; i < end_of(sequence, starts, segment); ++i) {
      std::uint32_t& at = place[sequence.functions[i]];
      if (at <= before || at > counts.size() || counts[at - 1].function != sequence.functions[i]) {
        counts.push_back({sequence.functions[i], 0, static_cast<std::uint32_t>(segment)});
        at = static_cast<std::uint32_t>(counts.size());
      }
      ++counts[at - 1].runs;
    }
  }
  return counts;
}

/// The runs that half of all kernels' segments have at least. `of_one`: one function's counts.
std::uint32_t weighted_median(std::span<Count> of_one, std::span<const std::size_t> lengths,
                              std::size_t all) {
  std::ranges::sort(of_one, {}, [](const Count& count) { return -std::int64_t{count.runs}; });
  std::size_t weight = 0;
  for (const Count& count : of_one) {
    weight += lengths[count.segment];
    if (2 * weight >= all) return count.runs;
  }
  return 0;
}

TypicalSegment typical_of(const FunctionSequence& sequence, std::vector<Count> counts,
                          std::span<const std::size_t> lengths, std::size_t all) {
  std::ranges::sort(counts, {}, &Count::function);
  TypicalSegment typical{std::vector<std::uint32_t>(sequence.count, 0)};
  for (auto first = counts.begin(); first != counts.end();) {
    const auto last = std::find_if(
        first, counts.end(), [&](const Count& count) { return count.function != first->function; });
    const std::uint32_t runs = weighted_median({first, last}, lengths, all);
    typical.runs[first->function] = runs;
    typical.length += runs;
    first = last;
  }
  return typical;
}

double coefficient(std::size_t shared, std::size_t length, const TypicalSegment& typical) {
  return 2.0 * static_cast<double>(shared) / static_cast<double>(length + typical.length);
}

}  // namespace

Segmentation segmented(const FunctionSequence& sequence, std::span<const std::uint32_t> vocabulary,
                       std::vector<std::size_t> starts) {
  NW_ASSERT(!starts.empty() && std::ranges::is_sorted(starts) &&
            starts.back() < sequence.functions.size());
  std::vector<std::size_t> lengths(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    lengths[i] = end_of(sequence, starts, i) - starts[i];
  }
  const std::size_t all = sequence.functions.size() - starts.front();
  const std::vector<Count> counts = counted(sequence, starts);

  Segmentation cut{std::move(starts), typical_of(sequence, counts, lengths, all)};
  std::vector<bool> is_word(sequence.count, false);
  for (const std::uint32_t function : vocabulary) is_word[function] = true;
  std::vector<std::size_t> shared(lengths.size(), 0);
  std::vector<std::size_t> words(lengths.size(), 0);
  for (const Count& count : counts) {
    shared[count.segment] += std::min(count.runs, cut.typical.runs[count.function]);
    words[count.segment] += is_word[count.function] ? 1 : 0;
  }
  std::size_t covered = 0;
  std::size_t whole = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    cut.agreement.push_back(coefficient(shared[i], lengths[i], cut.typical));
    if (cut.agreement.back() < kAgrees) continue;
    covered += lengths[i];
    if (10 * words[i] >= 9 * vocabulary.size()) whole += lengths[i];
  }
  cut.coverage = static_cast<double>(covered) / static_cast<double>(sequence.functions.size());
  if (covered > 0) cut.whole = static_cast<double>(whole) / static_cast<double>(covered);
  return cut;
}

double agreement_of(const FunctionSequence& sequence, std::size_t first, std::size_t last,
                    const TypicalSegment& typical) {
  std::vector<std::uint32_t> functions(
      sequence.functions.begin() + static_cast<std::ptrdiff_t>(first),
      sequence.functions.begin() + static_cast<std::ptrdiff_t>(last));
  std::ranges::sort(functions);
  std::size_t shared = 0;
  for (auto at = functions.begin(); at != functions.end();) {
    const auto next = std::upper_bound(at, functions.end(), *at);
    shared += std::min<std::size_t>(static_cast<std::size_t>(next - at), typical.runs[*at]);
    at = next;
  }
  return coefficient(shared, last - first, typical);
}

std::vector<std::uint32_t> recurring_functions(const FunctionSequence& sequence) {
  struct Use {
    std::size_t runs = 0, first = 0, last = 0, longest_absence = 0;
  };
  std::vector<Use> uses(sequence.count);
  for (std::size_t i = 0; i < sequence.functions.size(); ++i) {
    Use& use = uses[sequence.functions[i]];
    if (use.runs++ == 0) use.first = use.last = i;
    use.longest_absence = std::max(use.longest_absence, i - use.last);
    use.last = i;
  }
  const std::size_t third = sequence.functions.size() / 3;
  std::vector<std::uint32_t> recurring;
  for (std::uint32_t function = 0; function < sequence.count; ++function) {
    const Use& use = uses[function];
    if (use.runs >= 3 && use.last - use.first >= third && use.longest_absence <= third) {
      recurring.push_back(function);
    }
  }
  return recurring;
}

double vocabulary_of(const TypicalSegment& typical, std::span<const std::uint32_t> recurring) {
  if (recurring.empty()) return 0.0;
  const auto known = std::ranges::count_if(
      recurring, [&](std::uint32_t function) { return typical.runs[function] > 0; });
  return static_cast<double>(known) / static_cast<double>(recurring.size());
}

}  // namespace negawatt::structure
