// SPDX-License-Identifier: Apache-2.0
#include "daemon/granting.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

namespace negawatt::daemon {
namespace {

GpuPolicy strict() {
  GpuPolicy policy;
  policy.core_min = gpu::Megahertz{600};
  policy.core_max = gpu::Megahertz{1500};
  policy.memory = false;
  policy.power_min = Watts(300);
  policy.power_max = Watts(600);
  policy.max_lease = Seconds(100);
  return policy;
}

TEST(Granting, WhatIsAskedIsCutToWhatIsAllowed) {
  const auto terms = granted({.core_min_mhz = 210,
                              .core_max_mhz = 1980,
                              .memory = true,
                              .power_limit = Watts(700),
                              .duration = Seconds(1000)},
                             strict());
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->core_min_mhz, 600U);
  EXPECT_EQ(terms->core_max_mhz, 1500U);
  EXPECT_FALSE(terms->memory);
  EXPECT_EQ(terms->power_limit, Watts(600));
  EXPECT_EQ(terms->duration, Seconds(100));
}

TEST(Granting, LessThanAllowedIsGrantedAsAsked) {
  const auto terms = granted({.core_min_mhz = 900,
                              .core_max_mhz = 1200,
                              .power_limit = Watts(400),
                              .duration = Seconds(10)},
                             strict());
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->core_min_mhz, 900U);
  EXPECT_EQ(terms->core_max_mhz, 1200U);
  EXPECT_EQ(terms->power_limit, Watts(400));
  EXPECT_EQ(terms->duration, Seconds(10));
}

TEST(Granting, WithoutADurationTheLongestAllowedHolds) {
  EXPECT_EQ(granted({}, strict())->duration, Seconds(100));
  EXPECT_FALSE(granted({}, GpuPolicy{})->duration);
}

TEST(Granting, ALimitBelowTheFloorIsRaisedToIt) {
  EXPECT_EQ(granted({.power_limit = Watts(1)}, strict())->power_limit, Watts(300));
}

TEST(Granting, WhatLeavesNothingIsRefused) {
  EXPECT_FALSE(granted({.core_min_mhz = 1600}, strict()));
  EXPECT_FALSE(granted({.core_max_mhz = 500}, strict()));
  GpuPolicy no_power;
  no_power.power = false;
  EXPECT_FALSE(granted({.power_limit = Watts(500)}, no_power));
}

RC_GTEST_PROP(Granting, NothingBeyondThePolicyIsEverGranted,
              (std::uint32_t least, std::uint32_t most, bool memory, std::uint16_t watts)) {
  const lease::Terms asked{
      .core_min_mhz = least, .core_max_mhz = most, .memory = memory, .power_limit = Watts(watts)};
  const auto terms = granted(asked, strict());
  if (!terms) return;
  RC_ASSERT(terms->core_min_mhz >= 600U && terms->core_max_mhz <= 1500U);
  RC_ASSERT(terms->core_min_mhz >= least && terms->core_max_mhz <= most);
  RC_ASSERT(!terms->memory);
  RC_ASSERT(*terms->power_limit >= Watts(300) && *terms->power_limit <= Watts(600));
}

}  // namespace
}  // namespace negawatt::daemon
