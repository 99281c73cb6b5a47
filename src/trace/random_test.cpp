// SPDX-License-Identifier: Apache-2.0
#include "trace/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace negawatt::trace {
namespace {

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

template <class Draw>
Moments moments_of(Draw&& draw) {
  constexpr int kCount = 200'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kCount; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kCount;
  return {mean, squares / kCount - mean * mean};
}

// The published generator (xoshiro256starstar.c) from a state set by its authors' splitmix64.c,
// both compiled as they are: the first outputs for seed 0, with the stream mixed in as we do.
TEST(Random, IsTheGeneratorOfItsAuthors) {
  const auto split_mix = [](std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  std::uint64_t x = 0;
  EXPECT_EQ(split_mix(x), 0xe220a8397b1dcdafU) << "the first number of SplitMix64 from 0";
  std::uint64_t stream = 3;
  x = 42 ^ split_mix(stream);
  std::array<std::uint64_t, 4> s{split_mix(x), split_mix(x), split_mix(x), split_mix(x)};
  Random random({.seed = 42, .stream = 3});
  for (int i = 0; i < 100; ++i) {
    const auto rotl = [](std::uint64_t v, int k) { return (v << k) | (v >> (64 - k)); };
    const std::uint64_t result = rotl(s[1] * 5, 7) * 9;
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    ASSERT_EQ(random.bits(), result);
  }
}

TEST(Random, HasTheMomentsOfItsDistributions) {
  Random random(7);
  const Moments uniform = moments_of([&] { return random.uniform(); });
  EXPECT_NEAR(uniform.mean, 0.5, 0.003);
  EXPECT_NEAR(uniform.variance, 1.0 / 12.0, 0.001);
  const Moments exponential = moments_of([&] { return random.exponential(); });
  EXPECT_NEAR(exponential.mean, 1.0, 0.01);
  EXPECT_NEAR(exponential.variance, 1.0, 0.03);
  const Moments normal = moments_of([&] { return random.normal(); });
  EXPECT_NEAR(normal.mean, 0.0, 0.01);
  EXPECT_NEAR(normal.variance, 1.0, 0.02);
  for (const double shape : {0.1, 0.5, 1.0, 4.0, 30.0}) {
    const Moments gamma = moments_of([&] { return random.gamma(shape); });
    EXPECT_NEAR(gamma.mean / shape, 1.0, 0.03) << shape;
    EXPECT_NEAR(gamma.variance / shape, 1.0, 0.06) << shape;
  }
}

TEST(Random, DrawsBelowWithoutBias) {
  Random random(7);
  std::array<int, 3> counts{};
  for (int i = 0; i < 90'000; ++i) ++counts[random.below(3)];
  for (const int count : counts) EXPECT_NEAR(count, 30'000, 600);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, HasStreamsThatDiffer) {
  Random one(1);
  Random two({.seed = 1, .stream = 1});
  int same = 0;
  for (int i = 0; i < 1000; ++i) same += (one.bits() >> 60U) == (two.bits() >> 60U) ? 1 : 0;
  EXPECT_NEAR(same, 1000.0 / 16.0, 35.0);
}

}  // namespace
}  // namespace negawatt::trace
