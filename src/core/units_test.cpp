// SPDX-License-Identifier: Apache-2.0
#include "core/units.hpp"

#include <gtest/gtest.h>

#include <concepts>

namespace negawatt {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };

static_assert(sizeof(Joules) == sizeof(double));
static_assert(std::same_as<decltype(Watts(1) * Seconds(1)), Joules>);
static_assert(std::same_as<decltype(Joules(1) / Seconds(1)), Watts>);
static_assert(!Addable<Watts, Joules>, "a power and an energy must not add up");
static_assert(!std::convertible_to<double, Joules>, "a bare number has no unit");

TEST(Units, AHundredWattsForTenSecondsAreAThousandJoules) {
  EXPECT_DOUBLE_EQ((Watts(100) * Seconds(10)).in_si(), 1000.0);
  EXPECT_DOUBLE_EQ((Joules(1000) / Seconds(10)).in_si(), 100.0);
}

TEST(Units, ChangeIsNegativeWhenSomethingIsSaved) {
  EXPECT_DOUBLE_EQ(change_pct(Joules(200), Joules(150)), -25.0);
  EXPECT_DOUBLE_EQ(change_pct(Seconds(2), Seconds(3)), 50.0);
}

}  // namespace
}  // namespace negawatt
