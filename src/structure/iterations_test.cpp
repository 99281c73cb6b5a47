// SPDX-License-Identifier: Apache-2.0
#include "structure/iterations.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "tests/kernel_stream.hpp"
#include "trace/random.hpp"

namespace negawatt::structure {
namespace {

/// A stream made of parts whose boundaries are known.
class Planted {
 public:
  explicit Planted(std::uint64_t seed) : random_(seed) {}

  void add(std::span<const std::uint32_t> functions) {
    starts_.push_back(functions_.size());
    functions_.insert(functions_.end(), functions.begin(), functions.end());
  }
  /// With this share of kernels left out and as many, of any function, put in.
  void add_varied(std::span<const std::uint32_t> functions, double share) {
    std::vector<std::uint32_t> varied;
    for (const std::uint32_t function : functions) {
      if (random_.uniform() >= share) varied.push_back(function);
      if (random_.uniform() < share) varied.push_back(functions[random_.below(functions.size())]);
    }
    add(varied);
  }
  /// Kernels of several streams overtake each other by less than `reach` places.
  void jumble(std::size_t reach) {
    std::vector<std::pair<std::size_t, std::uint32_t>> placed;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      placed.emplace_back(i + random_.below(reach), functions_[i]);
    }
    std::ranges::stable_sort(placed, {}, &std::pair<std::size_t, std::uint32_t>::first);
    for (std::size_t i = 0; i < placed.size(); ++i) functions_[i] = placed[i].second;
  }
  [[nodiscard]] FunctionSequence sequence() const {
    return {functions_, 1 + *std::ranges::max_element(functions_)};
  }
  [[nodiscard]] const std::vector<std::size_t>& starts() const { return starts_; }
  [[nodiscard]] std::size_t size() const { return functions_.size(); }

 private:
  trace::Random random_;
  std::vector<std::uint32_t> functions_;
  std::vector<std::size_t> starts_;
};

/// The share of planted boundaries that a found one lies near to.
double recalled(const Iterations& found, std::span<const std::size_t> planted, std::size_t near) {
  std::size_t hits = 0;
  for (const std::size_t start : planted) {
    const bool is_hit = std::ranges::any_of(found.all, [&](const Iteration& iteration) {
      return std::max(iteration.first, start) - std::min(iteration.first, start) <= near;
    });
    hits += is_hit ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(planted.size());
}

std::size_t typical_count(const Iterations& found) {
  return static_cast<std::size_t>(std::ranges::count_if(found.all, &Iteration::is_typical));
}

const std::vector<std::uint32_t> kTraining = testing::training_program().iteration;
const std::vector<std::uint32_t> kDecoding = testing::decoding_program().iteration;
const std::span<const std::uint32_t> kEvaluation = std::span(kTraining).first(2 + 24 * 14 + 3);

TEST(Iterations, OfATrainingLoopAreItsSteps) {
  Planted stream(1);
  for (int i = 0; i < 20; ++i) stream.add(kTraining);
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->typical.length, kTraining.size());
  ASSERT_EQ(found->all.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(found->all[i].first, stream.starts()[i]) << "a step starts with its first kernel";
    EXPECT_EQ(found->all[i].agreement, 1.0);
  }
  EXPECT_EQ(found->confidence(), 1.0);
}

TEST(Iterations, OfADecodingLoopAreNotItsLayers) {
  Planted stream(1);
  for (int i = 0; i < 50; ++i) stream.add(kDecoding);
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->typical.length, kDecoding.size());
  EXPECT_EQ(recalled(*found, stream.starts(), 0), 1.0);
  EXPECT_EQ(found->confidence(), 1.0);
}

TEST(Iterations, SurviveKernelsThatComeAndGo) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Planted stream(seed);
    for (int i = 0; i < 60; ++i) stream.add_varied(kTraining, 0.02);
    const auto found = find_iterations(stream.sequence());
    ASSERT_TRUE(found) << seed;
    EXPECT_GE(recalled(*found, stream.starts(), 10), 0.98) << seed;
    EXPECT_GE(typical_count(*found), 58U) << seed;
    EXPECT_LE(found->all.size(), 62U) << seed;
    EXPECT_GT(found->confidence(), 0.9) << seed;
  }
}

TEST(Iterations, SurviveStreamsThatInterleave) {
  Planted stream(5);
  for (int i = 0; i < 40; ++i) stream.add(kTraining);
  stream.jumble(6);
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(typical_count(*found), 40U);
  EXPECT_EQ(recalled(*found, stream.starts(), 7), 1.0);
}

TEST(Iterations, AreToldFromWarmUpAndEvaluation) {
  Planted stream(1);
  std::vector<std::uint32_t> warm_up;
  trace::Random random(9);
  for (int i = 0; i < 3000; ++i)
    warm_up.push_back(100 + static_cast<std::uint32_t>(random.below(40)));
  stream.add(warm_up);
  std::vector<std::size_t> steps;
  for (int i = 0; i < 60; ++i) {
    steps.push_back(stream.size());
    stream.add(kTraining);
    if (i % 20 == 19) {
      for (int batch = 0; batch < 5; ++batch) stream.add(kEvaluation);
    }
  }
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->all.front().first, 3000U);
  EXPECT_EQ(recalled(*found, steps, 0), 1.0);
  EXPECT_EQ(typical_count(*found), 60U);
  for (const Iteration& iteration : found->all) {
    const bool is_step = std::ranges::binary_search(steps, iteration.first);
    EXPECT_EQ(iteration.is_typical, is_step) << iteration.first;
  }
  EXPECT_LT(found->confidence(), 0.95) << "3000 kernels and the evaluations are not explained";
}

TEST(Iterations, WithoutAFunctionOfTheirOwnAreFoundBySequences) {
  // Every function runs twice an iteration, at unlike distances; "cd" once.
  const std::vector<std::uint32_t> iteration{0, 1, 2, 3, 3, 1, 0, 2, 4, 4, 5, 6, 5, 6};
  Planted stream(1);
  for (int i = 0; i < 30; ++i) stream.add(iteration);
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->typical.length, iteration.size());
  EXPECT_GE(typical_count(*found), 29U);
}

TEST(Iterations, WhereTheAnchorIsMissingAreCutAllTheSame) {
  Planted stream(1);
  for (int i = 0; i < 40; ++i) {
    // The first kernel, where steps are cut, is left out of every tenth step.
    stream.add(std::span(kTraining).subspan(i % 10 == 5 ? 1 : 0));
  }
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(typical_count(*found), 40U);
  EXPECT_EQ(recalled(*found, stream.starts(), 2), 1.0);
}

TEST(Iterations, AreNotFoundWhereNothingRepeats) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    trace::Random random(seed);
    std::vector<std::uint32_t> functions(20'000);
    for (auto& function : functions) function = static_cast<std::uint32_t>(random.below(50));
    EXPECT_FALSE(find_iterations({functions, 50})) << seed;
  }
  std::vector<std::uint32_t> ever_new(5000);
  std::iota(ever_new.begin(), ever_new.end(), 0U);
  EXPECT_FALSE(find_iterations({ever_new, 5000}));
  EXPECT_FALSE(find_iterations({{}, 0}));
  const std::vector<std::uint32_t> one{0};
  EXPECT_FALSE(find_iterations({one, 1}));
  Planted twice(1);
  twice.add(kTraining);
  twice.add(kTraining);
  EXPECT_FALSE(find_iterations(twice.sequence())) << "twice is no rhythm";
}

TEST(Iterations, AreNotAHundredStepsAndALogLine) {
  Planted stream(1);
  for (int i = 0; i < 100; ++i) {
    stream.add(kTraining);
    if (i % 10 == 9) stream.add(std::vector<std::uint32_t>{90, 91});
  }
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->typical.length, kTraining.size());
  EXPECT_EQ(typical_count(*found), 100U);
}

TEST(Iterations, OfSeveralKindsAreThoseOfTheMostFrequentKind) {
  Planted stream(1);
  trace::Random random(4);
  std::vector<std::uint32_t> prefill = kDecoding;
  for (auto& function : prefill) function += 50;  // other kernels, at no rhythm
  std::vector<std::size_t> decodes;
  for (int i = 0; i < 400; ++i) {
    if (random.below(20) == 0) stream.add(prefill);
    decodes.push_back(stream.size());
    stream.add(kDecoding);
  }
  const auto found = find_iterations(stream.sequence());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->typical.length, kDecoding.size());
  EXPECT_GE(recalled(*found, decodes, 0), 0.99);
  EXPECT_LT(found->confidence(), 0.6) << "half of the functions are not explained";
}

/// The shortest period of an exactly periodic sequence, by trying all.
std::size_t period_by_force(std::span<const std::uint32_t> functions) {
  for (std::size_t period = 1; period < functions.size(); ++period) {
    if (std::ranges::equal(functions.subspan(period), functions.first(functions.size() - period))) {
      return period;
    }
  }
  return functions.size();
}

RC_GTEST_PROP(Iterations, OfPeriodicProgramsHaveThePeriodThatForceFinds, ()) {
  // A layer in a loop with something before and behind, as language models have it.
  const auto any_part = [](std::uint32_t first, std::size_t least, std::size_t most) {
    std::vector<std::uint32_t> part(*rc::gen::inRange(least, most));
    std::iota(part.begin(), part.end(), first);
    return part;
  };
  const auto before = any_part(0, 1, 4);
  const auto layer = any_part(10, 1, 8);
  const auto behind = any_part(20, 1, 4);
  const auto layers = *rc::gen::inRange(1, 6);
  std::vector<std::uint32_t> program = before;
  for (int i = 0; i < layers; ++i) program.insert(program.end(), layer.begin(), layer.end());
  program.insert(program.end(), behind.begin(), behind.end());

  Planted stream(1);
  for (int i = 0; i < 12; ++i) stream.add(program);
  const auto found = find_iterations(stream.sequence());
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->typical.length == period_by_force(stream.sequence().functions));
  RC_ASSERT(recalled(*found, stream.starts(), 0) == 1.0);
  RC_ASSERT(found->confidence() == 1.0);
}

}  // namespace
}  // namespace negawatt::structure
