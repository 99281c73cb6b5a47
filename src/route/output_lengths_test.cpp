// SPDX-License-Identifier: Apache-2.0
#include "route/output_lengths.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/shared_data.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

struct Observation {
  std::uint32_t tokens = 0;
  bool ended = true;  ///< false: it was still running, or was cancelled, after so many
};

/// Kaplan and Meier (1958), as the definition says: share of answers of `tokens` or more.
double product_limit(const std::vector<Observation>& sample, std::uint32_t tokens) {
  double survival = 1.0;
  for (std::uint32_t t = 0; t < tokens; ++t) {
    const auto ends = std::count_if(sample.begin(), sample.end(),
                                    [&](const Observation& o) { return o.ended && o.tokens == t; });
    const auto at_risk = std::count_if(sample.begin(), sample.end(),
                                       [&](const Observation& o) { return o.tokens >= t; });
    if (at_risk > 0) survival *= 1.0 - double(ends) / double(at_risk);
  }
  return survival;
}

/// Without a prior.
LengthTable estimate_of(const std::vector<Observation>& sample, double half_life = 0) {
  LengthEstimate estimate(half_life);
  for (const Observation& o : sample) {
    if (o.ended) {
      estimate.ended(o.tokens);
    } else {
      estimate.cancelled(o.tokens);
    }
  }
  estimate.refresh(LengthTable(), 0.0);
  return estimate.table();
}

std::vector<Observation> arbitrary_sample(std::uint32_t most) {
  const auto size = *rc::gen::inRange(1, 30);
  std::vector<Observation> sample;
  for (int i = 0; i < size; ++i) {
    sample.push_back({*rc::gen::inRange(1U, most), *rc::gen::arbitrary<bool>()});
  }
  return sample;
}

TEST(LengthGrid, CoversEveryLengthOnce) {
  std::uint32_t expected = 0;
  for (std::size_t bin = 0; bin < LengthGrid::kBins; ++bin) {
    ASSERT_EQ(LengthGrid::first_of(bin), expected) << bin;
    ASSERT_EQ(LengthGrid::bin_of(expected), bin);
    expected += LengthGrid::width_of(bin);
    ASSERT_EQ(LengthGrid::bin_of(expected - 1), bin);
    ASSERT_LE(LengthGrid::width_of(bin), 1 + LengthGrid::first_of(bin) / 16);
  }
  EXPECT_EQ(LengthGrid::bin_of(4'000'000'000U), LengthGrid::kBins - 1);
}

RC_GTEST_PROP(LengthEstimate, IsTheProductLimitEstimateInBinsOfOneToken, ()) {
  const auto sample = arbitrary_sample(31);
  const LengthTable table = estimate_of(sample);
  const auto longest = std::max_element(
      sample.begin(), sample.end(),
      [](const Observation& a, const Observation& b) { return a.tokens < b.tokens; });
  for (std::uint32_t tokens = 0; tokens <= longest->tokens; ++tokens) {
    RC_ASSERT(std::abs(table.share_from(tokens) - product_limit(sample, tokens)) < 1e-12);
  }
}

RC_GTEST_PROP(LengthEstimate, OfRunningAnswersIsThatOfCancelledOnes, ()) {
  const auto sample = arbitrary_sample(31);
  LengthEstimate estimate;
  for (const Observation& o : sample) {
    // Told of twice on its way.
    const std::uint32_t half = o.tokens / 2;
    estimate.moved(0, half);
    estimate.moved(half, o.tokens);
    if (!o.ended) continue;
    estimate.moved(o.tokens, 0);
    estimate.ended(o.tokens);
  }
  estimate.refresh(LengthTable(), 0.0);
  const LengthTable expected = estimate_of(sample);
  for (std::uint32_t tokens = 0; tokens < 31; ++tokens) {
    RC_ASSERT(std::abs(estimate.table().share_from(tokens) - expected.share_from(tokens)) < 1e-12);
  }
}

RC_GTEST_PROP(LengthTable, AnswersAsTheSampleDoesWithoutCensoring, ()) {
  auto sample = arbitrary_sample(31);
  for (Observation& o : sample) o.ended = true;
  const LengthTable table = estimate_of(sample);
  std::vector<std::uint32_t> sorted;
  double sum = 0.0;
  for (const Observation& o : sample) {
    sorted.push_back(o.tokens);
    sum += o.tokens;
  }
  std::sort(sorted.begin(), sorted.end());
  RC_ASSERT(std::abs(table.mean() - sum / double(sample.size())) < 1e-9);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double probability = (double(i) + 0.5) / double(sorted.size());
    RC_ASSERT(table.quantile(probability) == sorted[i]);
  }
  const auto produced = *rc::gen::inRange(0U, sorted.back());
  double above = 0.0;
  double count = 0.0;
  for (const std::uint32_t tokens : sorted) {
    if (tokens <= produced) continue;
    above += tokens;
    count += 1.0;
  }
  RC_ASSERT(std::abs(table.mean_above(produced) - above / count) < 1e-9);
}

RC_GTEST_PROP(LengthTable, IsConsistentOverWideBins, ()) {
  const LengthTable table = estimate_of(arbitrary_sample(200'000));
  RC_ASSERT(std::abs(table.share_from(0) - 1.0) < 1e-12);
  std::uint32_t before = 1;
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.99, 1.0}) {
    const std::uint32_t q = table.quantile(p);
    RC_ASSERT(q >= before);
    // At most a share of 1 - p is longer, and more than that is as long.
    RC_ASSERT(table.share_from(q + 1) <= 1.0 - p + 1e-9);
    RC_ASSERT(table.share_from(q) >= 1.0 - p - 1e-9);
    before = q;
  }
  const auto k = *rc::gen::inRange(0U, 200'000U);
  RC_ASSERT(table.mean_above(k) >= k + 1.0);
  // E[L] = E[L; L <= k] + P(L > k) E[L | L > k], and the first is between 0 and k.
  const double rest = table.mean() - table.share_from(k + 1) * table.mean_above(k);
  RC_ASSERT(rest >= -1e-6);
  RC_ASSERT(rest <= (1.0 - table.share_from(k + 1)) * k + 1e-6);
}

TEST(LengthEstimate, IsUnbiasedByAnswersThatAreCutOff) {
  // Exponential lengths of mean 400, each cut off at an independent exponential of the same mean:
  // the mean of those that ended is 200.
  trace::Random random(3);
  LengthEstimate estimate;
  double ended_sum = 0.0;
  int ended_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto length = 1 + static_cast<std::uint32_t>(400.0 * random.exponential());
    const auto cut = 1 + static_cast<std::uint32_t>(400.0 * random.exponential());
    if (length <= cut) {
      estimate.ended(length);
      ended_sum += length;
      ++ended_count;
    } else {
      estimate.cancelled(cut);
    }
  }
  estimate.refresh(LengthTable(), 0.0);
  EXPECT_NEAR(ended_sum / ended_count, 200.0, 10.0);
  EXPECT_NEAR(estimate.table().mean(), 400.0, 16.0);
  EXPECT_NEAR(estimate.table().quantile(0.5), 400.0 * std::log(2.0), 12.0);
}

TEST(LengthEstimate, ForgetsWithItsHalfLife) {
  std::vector<Observation> sample(1000, {10});
  sample.insert(sample.end(), 100, {20});
  // After one half-life of a hundred, half of the weight is new.
  EXPECT_NEAR(estimate_of(sample, 100.0).share_from(20), 0.5, 0.01);
  EXPECT_NEAR(estimate_of(sample).share_from(20), 100.0 / 1100.0, 1e-9);
}

TEST(LengthEstimate, SurvivesMoreObservationsThanAWeightCanGrow) {
  // 2^(1/1) an observation: beyond the range of a double after a thousand.
  EXPECT_NEAR(estimate_of(std::vector<Observation>(5000, {10}), 1.0).mean(), 10.0, 1e-9);
}

TEST(OutputLengths, ExpectsAnOrdinaryAnswerBeforeItHasSeenAny) {
  const OutputLengths lengths;
  const LengthTable& table = lengths.of({100, 0});
  EXPECT_NEAR(table.mean(), 205.0, 10.0);
  EXPECT_NEAR(table.quantile(0.5), 100.0, 5.0);
}

TEST(OutputLengths, LearnsClassesAndSizesApart) {
  OutputLengths lengths(2);
  for (int i = 0; i < 500; ++i) {
    lengths.ended({100, 0}, {20});
    lengths.ended({5000, 0}, {300});
    lengths.ended({100, 1}, {1000});
  }
  EXPECT_NEAR(lengths.of({100, 0}).mean(), 20.0, 4.0);
  EXPECT_NEAR(lengths.of({5000, 0}).mean(), 300.0, 10.0);
  EXPECT_NEAR(lengths.of({100, 1}).mean(), 1000.0, 30.0);
  // A size never seen: as its class. A class beyond the last: as the last.
  EXPECT_NEAR(lengths.of({40, 0}).mean(), 160.0, 10.0);
  EXPECT_EQ(lengths.of({100, 9}).mean(), lengths.of({100, 1}).mean());
}

TEST(OutputLengths, OnAzureConversationsBeatTheFixedGuess) {
  NW_SHARED_FILE_OR_SKIP(csv, "requests/AzureLLMInferenceTrace_conv.csv");
  OutputLengths lengths;
  double learned = 0.0;
  double guessed = 0.0;
  std::size_t at = csv.find('\n') + 1;
  while (at < csv.size()) {
    const std::size_t comma = csv.find(',', at);
    const auto input = static_cast<std::uint32_t>(std::stoul(csv.substr(comma + 1, 8)));
    const auto output =
        static_cast<std::uint32_t>(std::stoul(csv.substr(csv.find(',', comma + 1) + 1, 8)));
    learned += std::abs(lengths.of({input, 0}).mean() - output);
    guessed += std::abs(1.5 * input - output);
    lengths.ended({input, 0}, {output});
    at = std::min(csv.find('\n', at), csv.size() - 1) + 1;
  }
  EXPECT_LT(learned, 0.1 * guessed);
}

}  // namespace
}  // namespace negawatt::route
