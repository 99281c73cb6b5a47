// SPDX-License-Identifier: Apache-2.0
#include "plan/bilinear_fit.hpp"

#include <gtest/gtest.h>

namespace negawatt::plan {
namespace {

trace::SystemRun run(std::uint32_t input, std::uint32_t output, double joules, double seconds) {
  return {{input, output}, {.time = Seconds(seconds), .energy = Joules(joules)}};
}

TEST(BilinearFit, FindsTheCoefficientsOfABilinearFunction) {
  trace::MeasuredSystem system{.name = "A", .model = "m"};
  for (const std::uint32_t in : {8U, 100U, 2'048U})
    for (const std::uint32_t out : {8U, 300U, 2'048U})
      system.runs.push_back(run(in, out, 3.0 * in + 0.5 * out + 0.01 * in * out,
                                0.001 * in + 0.25 * out + 1e-5 * in * out));
  const auto fit = fit_bilinear(system);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_NEAR(fit->joules[0], 3.0, 1e-9);
  EXPECT_NEAR(fit->joules[1], 0.5, 1e-9);
  EXPECT_NEAR(fit->joules[2], 0.01, 1e-12);
  EXPECT_NEAR(fit->seconds[1], 0.25, 1e-12);
  EXPECT_NEAR(fit->energy.r2_centred, 1.0, 1e-12);
  EXPECT_NEAR(fit->energy.mean_pct, 0.0, 1e-6);
  EXPECT_EQ(fit->energy.negative, 0U);
  EXPECT_NEAR(fit->at({10, 10}).energy.in_si(), 36.0, 1e-9);
}

TEST(BilinearFit, StatesErrorsThatCanBeComputedByHand) {
  // Three sizes fix three coefficients, and a second run of one of them splits its error in
  // halves: 8 between 9 and 7.
  const auto fit =
      fit_bilinear({.name = "A",
                    .model = "m",
                    .runs = {run(1, 1, 5, 1), run(2, 1, 8, 1), run(1, 2, 9, 1), run(1, 2, 7, 1)}});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_NEAR(fit->at({1, 1}).energy.in_si(), 5.0, 1e-12);
  EXPECT_NEAR(fit->at({1, 2}).energy.in_si(), 8.0, 1e-12);
  EXPECT_NEAR(fit->energy.r2_uncentred, 1.0 - 2.0 / (25 + 64 + 81 + 49), 1e-12);
  EXPECT_NEAR(fit->energy.r2_centred, 1.0 - 2.0 / 8.75, 1e-12);  // mean 7.25
  EXPECT_NEAR(fit->energy.mean_pct, 100.0 * (1.0 / 9 + 1.0 / 7) / 4, 1e-9);
  EXPECT_NEAR(fit->energy.median_pct, 100.0 / 9 / 2, 1e-9);  // of 0, 0, 1/9, 1/7
}

TEST(BilinearFit, RefusesSizesThatCannotTellTheTermsApart) {
  const auto fit = fit_bilinear({.name = "A",
                                 .model = "m",
                                 .runs = {run(8, 32, 1, 1), run(16, 32, 2, 1), run(32, 32, 4, 1)}});
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().message,
            "the runs of system 'A' cannot tell input, output and their product apart, which the "
            "follow-up's model needs");
}

}  // namespace
}  // namespace negawatt::plan
