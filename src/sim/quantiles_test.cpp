// SPDX-License-Identifier: Apache-2.0
#include "sim/quantiles.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace negawatt::sim {
namespace {

TEST(Quantiles, OfNothingAreZero) {
  const QuantileSketch sketch;
  EXPECT_EQ(sketch.quantile(0.5), 0.0);
  EXPECT_EQ(sketch.mean(), 0.0);
  EXPECT_EQ(sketch.count(), 0U);
}

TEST(Quantiles, WhatIsTooSmallToTellCountsAsZero) {
  QuantileSketch sketch;
  sketch.add(0.0, 3);
  sketch.add(1e-9);
  sketch.add(2.0);
  EXPECT_EQ(sketch.quantile(0.8), 0.0);
  EXPECT_NEAR(sketch.quantile(0.81), 2.0, 2.0 / 512);
}

std::vector<double> values_of(const std::vector<unsigned>& raw) {
  std::vector<double> values;
  for (const auto number : raw) values.push_back(std::exp2((number % 4000) / 100.0 - 15.0));
  return values;
}

RC_GTEST_PROP(Quantiles, AreWithinOnePartIn512OfThoseOfTheSortedValues,
              (const std::vector<unsigned>& raw)) {
  RC_PRE(!raw.empty());
  auto values = values_of(raw);
  QuantileSketch sketch;
  for (const auto value : values) sketch.add(value);
  std::ranges::sort(values);
  for (const double q : {0.0, 0.1, 0.5, 0.9, 0.99, 1.0}) {
    const auto rank = std::max(1.0, std::ceil(q * static_cast<double>(values.size())));
    const double exact = values[static_cast<std::size_t>(rank) - 1];
    RC_ASSERT(std::abs(sketch.quantile(q) - exact) <= exact / 512.0);
  }
  RC_ASSERT(sketch.greatest() == values.back());
}

RC_GTEST_PROP(Quantiles, OfTwoMergedSketchesAreThoseOfAllValues,
              (const std::vector<unsigned>& left, const std::vector<unsigned>& right)) {
  QuantileSketch a;
  QuantileSketch b;
  QuantileSketch all;
  for (const auto value : values_of(left)) a.add(value), all.add(value);
  for (const auto value : values_of(right)) b.add(value), all.add(value);
  a.merge(b);
  RC_ASSERT(a.count() == all.count());
  RC_ASSERT(a.greatest() == all.greatest());
  for (const double q : {0.1, 0.5, 0.9}) RC_ASSERT(a.quantile(q) == all.quantile(q));
}

}  // namespace
}  // namespace negawatt::sim
