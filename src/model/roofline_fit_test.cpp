// SPDX-License-Identifier: Apache-2.0
#include "model/roofline_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "model/nonnegative.hpp"

namespace negawatt::model {
namespace {

/// overhead + max(weights, work tokens), as a step at some numbers of tokens.
std::vector<RooflineSample> steps(const std::vector<double>& truth) {
  std::vector<RooflineSample> samples;
  for (const double tokens : {1.0, 8.0, 32.0, 100.0, 200.0, 400.0, 1000.0}) {
    RooflineSample sample;
    sample.parts.push_back({{1, 0, 0}, {0, 1, 0}, {0, 0, tokens}});
    sample.seconds = roofline_seconds(sample, truth);
    samples.push_back(sample);
  }
  return samples;
}

std::vector<const RooflineSample*> pointers(const std::vector<RooflineSample>& samples) {
  std::vector<const RooflineSample*> all;
  for (const auto& sample : samples) all.push_back(&sample);
  return all;
}

const std::vector<double> kTruth{2.0, 10.0, 0.1};

TEST(RooflineFit, TimesAreTheLongerSidePlusTheRest) {
  const auto samples = steps(kTruth);
  EXPECT_EQ(samples.front().seconds, 12.0);
  EXPECT_EQ(samples.back().seconds, 102.0);
}

TEST(RooflineFit, WhichSideBindsIsFoundOut) {
  const auto samples = steps(kTruth);
  const auto fitted = fit_roofline(pointers(samples), {{1, 5, 0.3}, {1, 5, 0.3}, 1e-9});
  for (std::size_t i = 0; i < kTruth.size(); ++i) EXPECT_NEAR(fitted[i] / kTruth[i], 1.0, 1e-3);
}

TEST(RooflineFit, AHeldParameterStays) {
  const auto samples = steps(kTruth);
  const auto fitted = fit_roofline(pointers(samples), {{1, 5, 0.1}, {0, 5, 0}, 1e-9});
  EXPECT_EQ(fitted[0], 1.0);
  EXPECT_EQ(fitted[2], 0.1);
  EXPECT_NEAR(fitted[1], 11.0, 0.2);
}

TEST(RooflineFit, WithoutMeasurementsEverythingStays) {
  const Prior prior{{1, 5, 0.3}, {1, 5, 0.3}, 0.01};
  const auto fitted = fit_roofline({}, prior);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(fitted[i], prior.values[i], 1e-12);
}

/// The least squares of relative errors alone.
std::vector<double> squares_of(const std::vector<LinearSample>& samples) {
  LeastSquares squares(2);
  for (const auto& sample : samples) {
    const std::array<double, 2> row{sample.shares[0] / sample.value,
                                    sample.shares[1] / sample.value};
    squares.add(row, 1.0 - sample.known / sample.value);
  }
  return squares.nonnegative();
}

TEST(RooflineFit, OneWildMeasurementHardlyMatters) {
  std::vector<LinearSample> samples;
  for (double x = 1.0; x <= 20.0; x += 1.0) samples.push_back({{1.0, x}, 0.5, 0.5 + 3.0 + 2.0 * x});
  const Prior prior{{1, 1}, {1, 1}, 1e-9};
  const auto clean = fit_linear(samples, prior);
  EXPECT_NEAR(clean[0], 3.0, 1e-3);
  EXPECT_NEAR(clean[1], 2.0, 1e-4);
  samples[10].value /= 5.0;
  const double off = std::abs(fit_linear(samples, prior)[1] - 2.0);
  EXPECT_LT(off, 0.3);
  EXPECT_LT(off, 0.3 * std::abs(squares_of(samples)[1] - 2.0));
}

}  // namespace
}  // namespace negawatt::model
