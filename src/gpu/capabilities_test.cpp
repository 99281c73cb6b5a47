// SPDX-License-Identifier: Apache-2.0
#include "gpu/capabilities.hpp"

#include <gtest/gtest.h>

#include "gpu/nvml_library.hpp"
#include "nvml/nvml.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using testing::TinyLibrary;
using Verdict = CrossCheck::Verdict;

TEST(Probe, AsksEveryQueryAndWritesNothing) {
  const TinyLibrary library;
  const Capabilities capabilities = probe(library.device());
  EXPECT_TRUE(capabilities.has("energy counter"));
  EXPECT_TRUE(capabilities.has("core clocks"));
  EXPECT_TRUE(capabilities.has("power limits"));
  EXPECT_FALSE(capabilities.has("persistence mode"));  // the tiny driver does not have it
  EXPECT_FALSE(capabilities.has("no such query"));
  EXPECT_TRUE(library.state().writes.empty());
  for (const Capability& query : capabilities.queries) {
    EXPECT_NE(query.error.has_value(), !query.answer.empty()) << query.name;
  }
}

TEST(Probe, BelievesTheAnswersAndNotTheStart) {
  const TinyLibrary library;
  const Device device = library.device();
  // As on a board where starting succeeds and every query fails.
#define NW_FAIL(symbol, parameters) library.state().always[#symbol] = NVML_ERROR_NOT_SUPPORTED;
  NW_NVML_FUNCTIONS(NW_FAIL)
#undef NW_FAIL
  const Capabilities capabilities = probe(device);
  EXPECT_GT(capabilities.queries.size(), 10U);
  for (const Capability& query : capabilities.queries) {
    ASSERT_TRUE(query.error) << query.name;
    EXPECT_EQ(query.error->obstacle, Obstacle::absent) << query.name;
    EXPECT_EQ(query.answer, "") << query.name;
  }
}

/// The counter of a GPU that draws 300 W by its power sensor.
Result<CrossCheck> check_counter(const TinyLibrary& library) {
  const Device device = library.device();
  NW_TRY(const Refresh energy, measure_refresh(device, Sensor::energy));
  return cross_check(device, {energy, energy});
}

TEST(CrossCheckTest, ARightCounterAgrees) {
  const TinyLibrary library;
  const auto check = check_counter(library);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->verdict, Verdict::agrees);
  EXPECT_NEAR(check->counter / check->integrated, 1.0, 0.01);
}

TEST(CrossCheckTest, ACounterAtHalfTheRateOrInAnotherUnitDisagrees) {
  for (const double rate : {0.5, 0.001, 2.0, 1000.0}) {
    const TinyLibrary library;
    library.card().counter_mj = [rate](double time) { return rate * 300'000 * time; };
    const auto check = check_counter(library);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_EQ(check->verdict, Verdict::disagrees) << rate;
  }
}

TEST(CrossCheckTest, ACounterThatStandsStillIsAnError) {
  const TinyLibrary library;
  const Device device = library.device();
  const auto energy = measure_refresh(device, Sensor::energy);
  library.card().counter_mj = [](double) { return 5e6; };
  EXPECT_FALSE(cross_check(device, {*energy, *energy}));
}

TEST(CrossCheckTest, UsesAveragePowerWhereThereIsNoInstantPower) {
  const TinyLibrary library;
  library.state().field_always[NVML_FI_DEV_POWER_INSTANT] = NVML_ERROR_NOT_SUPPORTED;
  const auto check = check_counter(library);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_NEAR((check->integrated / check->time).in_si(), 290, 1e-6);
}

}  // namespace
}  // namespace negawatt::gpu
