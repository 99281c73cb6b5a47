// SPDX-License-Identifier: Apache-2.0
#include "gpu/refresh.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <stop_token>

#include "nvml/nvml.hpp"
#include "tests/tiny_driver.hpp"

namespace negawatt::gpu {
namespace {

using testing::TinyLibrary;

/// Edges at these milliseconds, each seen to within a millisecond.
std::vector<Edge> edges_at(const std::vector<double>& milliseconds) {
  std::vector<Edge> edges;
  for (const double at : milliseconds) {
    const auto middle = TimePoint::at_nanoseconds(std::llround(at * 1e6));
    edges.push_back({middle - Seconds(0.0005), middle + Seconds(0.0005)});
  }
  return edges;
}

TEST(RefreshOf, IsTheMeanGap) {
  const auto refresh = refresh_of(edges_at({10, 110, 209, 311, 410}));
  ASSERT_TRUE(refresh);
  EXPECT_NEAR(refresh->period.in_si(), 0.1, 1e-12);
  EXPECT_NEAR(refresh->period_error.in_si(), 0.001 / 4, 1e-9);
  EXPECT_EQ(refresh->periods, 4U);
}

TEST(RefreshOf, CountsGapsOverEqualValues) {
  const auto refresh = refresh_of(edges_at({0, 300, 400, 900, 1000, 1200}));
  ASSERT_TRUE(refresh);
  EXPECT_NEAR(refresh->period.in_si(), 0.1, 1e-12);
  EXPECT_EQ(refresh->periods, 12U);
}

TEST(RefreshOf, IsNotFooledByOneGapThatIsTooShort) {
  const auto refresh =
      refresh_of(edges_at({0, 100, 200, 203, 300, 400, 500, 600, 700, 800, 900, 1000, 1100}));
  ASSERT_TRUE(refresh);
  EXPECT_NEAR(refresh->period.in_si(), 0.1, 0.001);
}

TEST(RefreshOf, SaysNothingBelowThreeEdgesOrWithoutAPeriod) {
  EXPECT_FALSE(refresh_of(edges_at({})));
  EXPECT_FALSE(refresh_of(edges_at({0, 100})));
  EXPECT_FALSE(refresh_of(edges_at({0, 0, 0})));
  EXPECT_FALSE(refresh_of(edges_at({0, 100, 240, 390, 630, 770, 1000})));
}

RC_GTEST_PROP(RefreshOf, FindsThePeriodBehindSkippedAndShakenEdges, ()) {
  const double period = *rc::gen::inRange(5, 500);
  std::vector<double> at = {1000};
  // A neighbouring pair somewhere, or nobody could tell the period from a multiple.
  const auto pair = *rc::gen::inRange(0, 10);
  for (int i = 0; i < 10; ++i) {
    const int skipped = i == pair ? 0 : *rc::gen::inRange(0, 4);
    at.push_back(at.back() + period * (1 + skipped));
  }
  for (double& moment : at) moment += period * 0.01 * *rc::gen::inRange(-3, 4);
  const auto refresh = refresh_of(edges_at(at));
  RC_ASSERT(refresh.has_value());
  RC_ASSERT(std::abs(refresh->period.in_si() * 1e3 / period - 1) < 0.0601 / 10);
}

struct Counter {
  double period;
  double read_cost;
};
class MeasureRefresh : public ::testing::TestWithParam<Counter> {};

TEST_P(MeasureRefresh, FindsThePeriodOfTheCounter) {
  const TinyLibrary library;
  library.card().counter_period_s = GetParam().period;
  library.state().read_cost_ns = std::llround(GetParam().read_cost * 1e9);
  const auto refresh = measure_refresh(library.device(), Sensor::energy, Seconds(30));
  ASSERT_TRUE(refresh) << refresh.error().message;
  EXPECT_GT(refresh->period_error.in_si(), 0);
  EXPECT_LT(refresh->period_error.in_si(), GetParam().period * 0.02);
  EXPECT_NEAR(refresh->period.in_si(), GetParam().period, refresh->period_error.in_si());
  EXPECT_GE(refresh->periods, 20U);
  // The last refresh really lies where it is said to lie.
  const double phase = ((refresh->last.middle() - TimePoint()).in_si() - 0.013) / GetParam().period;
  EXPECT_NEAR(phase, std::round(phase),
              refresh->last.half_width().in_si() / GetParam().period + 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, MeasureRefresh,
                         ::testing::Values(Counter{0.1, 0}, Counter{0.1, 0.0034},
                                           Counter{0.02, 0.0005}, Counter{1.0, 0.002},
                                           Counter{0.0997, 0.001}),
                         [](const auto& test) { return std::to_string(test.index); });

TEST(MeasureRefreshOf, ReadsAtMostTwiceAPeriodAfterTheFirstLook) {
  const TinyLibrary library;
  library.state().now_ns = 13'000'000;  // just at a refresh
  const auto refresh = measure_refresh(library.device(), Sensor::energy);
  ASSERT_TRUE(refresh);
  // 4 edges of a reading every millisecond, then two a period.
  const double seconds = static_cast<double>(library.state().now_ns) * 1e-9 - 0.013;
  EXPECT_LE(library.state().calls["nvmlDeviceGetTotalEnergyConsumption"],
            402 + 2 * (seconds - 0.4) / 0.1 + 2);
}

TEST(MeasureRefreshOf, SaysThatACounterStandsStill) {
  const TinyLibrary library;
  library.card().counter_mj = [](double) { return 5e6; };
  const auto refresh = measure_refresh(library.device(), Sensor::energy);
  ASSERT_FALSE(refresh);
  EXPECT_EQ(refresh.error().code, Code::internal);
  EXPECT_LE(library.state().now_ns, 6'000'000'000);
}

TEST(MeasureRefreshOf, SaysThatTheSensorIsMissing) {
  const TinyLibrary library;
  library.state().field_always[NVML_FI_DEV_POWER_INSTANT] = NVML_ERROR_NOT_SUPPORTED;
  const auto refresh = measure_refresh(library.device(), Sensor::power_instant);
  ASSERT_FALSE(refresh);
  EXPECT_EQ(refresh.error().code, Code::unavailable);
}

/// Asked to stop once the counter has been read at `asked_at`: when it ended, in seconds.
double end_when_asked_at(double asked_at) {
  const TinyLibrary library;
  std::stop_source asked;
  library.card().counter_mj = [&](double time) {
    if (static_cast<double>(library.state().now_ns) * 1e-9 >= asked_at) asked.request_stop();
    return 300'000 * time;
  };
  const auto refresh =
      measure_refresh(library.device(), Sensor::energy, Seconds(30), asked.get_token());
  EXPECT_FALSE(refresh);
  if (!refresh) {
    EXPECT_EQ(refresh.error().code, Code::internal);
    EXPECT_NE(refresh.error().message.find("asked to stop"), std::string::npos);
  }
  return static_cast<double>(library.state().now_ns) * 1e-9;
}

TEST(MeasureRefreshOf, EndsWhenAskedTo) {
  // It would take 2.4 s: four refreshes of 0.1 s are looked for, then twenty are followed.
  EXPECT_LE(end_when_asked_at(0.05), 0.05 + 0.002) << "of the first look, the next reading";
  EXPECT_LE(end_when_asked_at(1.0), 1.0 + 0.2) << "of what follows, two refreshes";
}

TEST(RefreshTracker, FindsTheRefreshAgainAfterALongRest) {
  const TinyLibrary library;
  const Device device = library.device();
  library.card().counter_period_s = 0.1001;
  RefreshTracker tracker(device, Sensor::energy, measure_refresh(device, Sensor::energy).value());
  device.clock().sleep_for(Seconds(600));
  const auto seen = tracker.follow_to_edge(8);
  ASSERT_TRUE(seen);
  ASSERT_TRUE(seen->edge);
  const double phase = ((seen->edge->middle() - TimePoint()).in_si() - 0.013) / 0.1001;
  EXPECT_NEAR(phase, std::round(phase), seen->edge->half_width().in_si() / 0.1001 + 1e-6);
}

}  // namespace
}  // namespace negawatt::gpu
