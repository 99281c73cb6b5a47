// SPDX-License-Identifier: Apache-2.0
#include "solve/gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace negawatt::solve {
namespace {

TEST(Gaussian, QuantilesAreThoseOfPublishedTables) {
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655446004, 1e-14);
  EXPECT_NEAR(normal_quantile(0.95), 1.6448536269514722, 1e-14);
  EXPECT_NEAR(normal_quantile(0.99), 2.3263478740408408, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-3), -3.0902323061678132, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-12), -7.0344838253011310, 1e-13);
}

TEST(Gaussian, QuantileInvertsTheDistributionFunction) {
  for (double z = -8.0; z <= 5.0; z += 0.1) {
    const double probability = 0.5 * std::erfc(-z / std::sqrt(2.0));
    EXPECT_NEAR(normal_quantile(probability), z, 1e-9) << z;
  }
}

TEST(Gaussian, StreamHasTheMomentsOfAStandardNormal) {
  const GaussianStream stream(7, 1);
  constexpr int kCount = 200'000;
  double sum = 0.0;
  double squares = 0.0;
  double fourth = 0.0;
  double neighbours = 0.0;
  for (std::uint64_t n = 0; n < kCount; ++n) {
    const double x = stream.at(n);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    neighbours += x * stream.at(n + 1);
  }
  const double error = 4.0 / std::sqrt(kCount);
  EXPECT_NEAR(sum / kCount, 0.0, error);
  EXPECT_NEAR(squares / kCount, 1.0, error * std::sqrt(2.0));
  EXPECT_NEAR(fourth / kCount, 3.0, error * std::sqrt(96.0));
  EXPECT_NEAR(neighbours / kCount, 0.0, error);
}

TEST(Gaussian, SeedsAndStreamsAreUnrelated) {
  constexpr std::uint64_t kCount = 50'000;
  double across_seeds = 0.0;
  double across_streams = 0.0;
  for (std::uint64_t n = 0; n < kCount; ++n) {
    across_seeds += GaussianStream(1, 0).at(n) * GaussianStream(2, 0).at(n);
    across_streams += GaussianStream(1, 0).at(n) * GaussianStream(1, 1).at(n);
  }
  const double error = 4.0 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(across_seeds / kCount, 0.0, error);
  EXPECT_NEAR(across_streams / kCount, 0.0, error);
}

TEST(Gaussian, VectorsHaveTheCovarianceAskedForEvenWhenItIsSingular) {
  // The third is the sum of the first two, the fourth is always zero.
  const std::vector<double> covariance = {4.0, 1.0, 5.0, 0.0, 1.0, 2.0, 3.0, 0.0,
                                          5.0, 3.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  const CorrelatedGaussian gaussian(covariance, 4);
  const GaussianStream stream(3, 0);
  constexpr int kCount = 100'000;
  std::vector<double> found(16, 0.0);
  std::vector<double> x;
  for (std::uint64_t n = 0; n < kCount; ++n) {
    gaussian.draw(stream, n, x);
    ASSERT_NEAR(x[2], x[0] + x[1], 1e-12);
    ASSERT_EQ(x[3], 0.0);
    for (std::size_t row = 0; row < 4; ++row)
      for (std::size_t column = 0; column < 4; ++column)
        found[row * 4 + column] += x[row] * x[column] / kCount;
  }
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_NEAR(found[i], covariance[i], 4.0 * 8.0 * std::sqrt(2.0 / kCount)) << i;
}

}  // namespace
}  // namespace negawatt::solve
