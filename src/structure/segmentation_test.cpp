// SPDX-License-Identifier: Apache-2.0
#include "structure/segmentation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string_view>

namespace negawatt::structure {
namespace {

/// Letters as functions: 'a' is 0.
std::vector<std::uint32_t> functions_of(std::string_view letters) {
  std::vector<std::uint32_t> functions;
  for (const char letter : letters) functions.push_back(static_cast<std::uint32_t>(letter - 'a'));
  return functions;
}

TEST(Segmentation, ComparesSegmentsByHand) {
  const auto functions = functions_of("zzabbcabbcabcdabbc");
  const auto cut = segmented({functions, 26}, std::vector<std::uint32_t>{0, 3}, {2, 6, 10, 14});
  // a 1, b 2, c 1, and d is in a quarter of the kernels only.
  EXPECT_EQ(cut.typical.length, 4U);
  EXPECT_EQ(cut.typical.runs[1], 2U);
  EXPECT_EQ(cut.typical.runs[3], 0U);
  EXPECT_DOUBLE_EQ(cut.agreement[0], 1.0);
  EXPECT_DOUBLE_EQ(cut.agreement[2], 2.0 * 3 / (4 + 4));  // abcd shares a, b, c
  EXPECT_DOUBLE_EQ(cut.coverage, 12.0 / 18);              // neither zz nor abcd
  EXPECT_DOUBLE_EQ(cut.whole, 0.0) << "none of these has d";
  const auto with_word = segmented({functions, 26}, std::vector<std::uint32_t>{0}, {2, 6, 10, 14});
  EXPECT_DOUBLE_EQ(with_word.whole, 1.0);
}

TEST(Segmentation, CountsSegmentsByTheirLength) {
  const auto functions = functions_of("aaaaabaaaaab");
  // "aaaaab" twice, but cut so that "a" is the most frequent segment.
  const auto cut = segmented({functions, 2}, {}, {0, 1, 2, 3, 4, 6, 7, 8, 9, 10});
  EXPECT_EQ(cut.typical.runs[0], 1U);
  EXPECT_EQ(cut.typical.runs[1], 0U) << "two segments of two weigh less than eight of one";
}

/// The definition, word by word.
std::uint32_t median_by_force(const std::vector<std::uint32_t>& functions,
                              const std::vector<std::size_t>& starts, std::uint32_t function) {
  std::uint32_t runs = 0;
  while (true) {
    std::size_t weight = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto first = functions.begin() + static_cast<std::ptrdiff_t>(starts[i]);
      const auto last = i + 1 < starts.size()
                            ? functions.begin() + static_cast<std::ptrdiff_t>(starts[i + 1])
                            : functions.end();
      if (std::count(first, last, function) > runs)
        weight += static_cast<std::size_t>(last - first);
    }
    if (2 * weight < functions.size() - starts.front()) return runs;
    ++runs;
  }
}

RC_GTEST_PROP(Segmentation, IsWhatItsDefinitionSays, ()) {
  const auto functions = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 5)));
  auto starts = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::size_t>>(
      rc::gen::inRange<std::size_t>(0, functions.size())));
  std::ranges::sort(starts);
  const auto [from, to] = std::ranges::unique(starts);
  starts.erase(from, to);
  const FunctionSequence sequence{functions, 5};
  const auto cut = segmented(sequence, {}, starts);
  for (std::uint32_t function = 0; function < 5; ++function) {
    RC_ASSERT(cut.typical.runs[function] == median_by_force(functions, starts, function));
  }
  std::size_t covered = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t last = i + 1 < starts.size() ? starts[i + 1] : functions.size();
    RC_ASSERT(cut.agreement[i] == agreement_of(sequence, starts[i], last, cut.typical));
    if (cut.agreement[i] >= kAgrees) covered += last - starts[i];
  }
  RC_ASSERT(cut.coverage == static_cast<double>(covered) / static_cast<double>(functions.size()));
}

TEST(RecurringFunctions, AreThoseInConstantUse) {
  // 'w' at the start only, 'e' twice, 'g' absent for too long; 'a' and 'b' all along.
  const auto functions = functions_of("wwwgabgabgabababeabababababeabg");
  const auto recurring = recurring_functions({functions, 26});
  EXPECT_EQ(recurring, (std::vector<std::uint32_t>{0, 1}));
  TypicalSegment typical{std::vector<std::uint32_t>(26, 0), 1};
  typical.runs[1] = 1;
  EXPECT_DOUBLE_EQ(vocabulary_of(typical, recurring), 0.5);
  EXPECT_DOUBLE_EQ(vocabulary_of(typical, {}), 0.0);
}

}  // namespace
}  // namespace negawatt::structure
