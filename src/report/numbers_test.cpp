// SPDX-License-Identifier: Apache-2.0
#include "report/numbers.hpp"

#include <gtest/gtest.h>

namespace negawatt::report {
namespace {

TEST(Numbers, SignificantDigitsSurviveRoundingUp) {
  EXPECT_EQ(significant(5.3596), "5.36");
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(999.6), "1000");
  EXPECT_EQ(significant(0.012345), "0.0123");
  EXPECT_EQ(significant(1814.95, 4), "1815");
  EXPECT_EQ(significant(0.0), "0");
}

TEST(Numbers, QuantitiesCarryAPrefixAndAUnit) {
  EXPECT_EQ(quantity(Seconds(5.3596)), "5.36 s");
  EXPECT_EQ(quantity(Seconds(0.00021)), "210 us");
  EXPECT_EQ(quantity(Seconds(0.99996)), "1.00 s");
  EXPECT_EQ(quantity(Joules(1814.95), 4), "1.815 kJ");
  EXPECT_EQ(quantity(Joules(-0.25)), "-250 mJ");
  EXPECT_EQ(quantity(Joules(0)), "0 J");
  EXPECT_EQ(quantity(Watts(3.2e6)), "3.20 MW");
  EXPECT_EQ(quantity(Joules(1e-15)), "0.00000100 nJ");
}

TEST(Numbers, ChangesAreSignedAndNeverMinusZero) {
  EXPECT_EQ(change(-15.638), "-15.64 %");
  EXPECT_EQ(change(-0.004), "+0.00 %");
  EXPECT_EQ(change(0.0374), "+0.04 %");
  EXPECT_EQ(change(12345.6), "+12346 %");
}

TEST(Numbers, CountsAreGroupedAndInflected) {
  EXPECT_EQ(counted(1, "kernel"), "1 kernel");
  EXPECT_EQ(counted(100000, "kernel"), "100,000 kernels");
  EXPECT_EQ(counted(1234567, ""), "1,234,567");
  EXPECT_EQ(counted(0, "change"), "0 changes");
}

TEST(Numbers, TypographicFormIsHtmlWithATrueMinusAndNoBreak) {
  EXPECT_EQ(typographic("-15.64 %"), "&minus;15.64&nbsp;%");
  EXPECT_EQ(typographic("210 us"), "210&nbsp;&micro;s");
  EXPECT_EQ(typographic("25,600"), "25,600");
}

TEST(Numbers, TimeIsTheSameLongerOrShorter) {
  EXPECT_EQ(time_clause(-0.004), "in the same time");
  EXPECT_EQ(time_clause(0.8), "and takes 0.800 % longer");
  EXPECT_EQ(time_clause(-20.0), "and is 20.0 % faster");
}

}  // namespace
}  // namespace negawatt::report
