// SPDX-License-Identifier: Apache-2.0
#include "gpusim/physics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "gpusim/gpu_for_test.hpp"

namespace negawatt::gpusim {
namespace {

/// A GPU whose power depends on its temperature and whose ceiling follows its power.
GpuModel lively_gpu() {
  auto gpu = small_gpu();
  gpu.power.leakage_w_per_k = 0.5;
  gpu.governor = {.kind = Governor::Kind::feedback,
                  .period_ns = 20 * kMs,
                  .filter = Seconds(0.016),
                  .gain = 0.75,
                  .slack = Watts(30),
                  .rise_mhz = 200};
  gpu.limits.initial = Watts(150);
  gpu.clocks.core_latency = {7 * kMs, 11 * kMs, {{500, 3 * kMs}}};
  gpu.clocks.memory_latency = {13 * kMs, 13 * kMs, {}};
  return gpu;
}

TEST(Physics, HundredWattsForTenSecondsAreAThousandJoules) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(0.001, 100)});
  gpu.submit_calls(0, 10'000);
  gpu.advance_to(10 * kSecond);
  EXPECT_NEAR(gpu.energy().in_si(), 1000, 1e-9);
  const auto done = gpu.completions();
  ASSERT_EQ(done.size(), 1);
  EXPECT_EQ(done[0].calls, 10'000);
  EXPECT_EQ(done[0].begin_ns, 0);
  EXPECT_EQ(done[0].end_ns, 10 * kSecond);
  EXPECT_NEAR(done[0].energy.in_si(), 1000, 1e-9);
}

TEST(Physics, AnIdleGpuStaysAwakeForItsSettlingTime) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(1, 100)});
  gpu.advance_to(10 * kSecond);
  EXPECT_NEAR(gpu.energy().in_si(), 10 * 20, 1e-9);  // a context is open
  gpu.submit_calls(0, 1);
  gpu.advance_to(13 * kSecond);  // 1 s of work, 1 s awake at 40 W, 1 s at 20 W
  EXPECT_NEAR(gpu.energy().in_si(), 200 + 100 + 40 + 20, 1e-9);
  remove_context(gpu.device(), gpu.context());
  gpu.advance_to(14 * kSecond);
  EXPECT_NEAR(gpu.energy().in_si(), 360 + 10, 1e-9);
}

TEST(Physics, ItemsRunInOrderWithoutLosingTimeToRounding) {
  constexpr double kCall = 2.3456e-6;
  DeviceForTest gpu(small_gpu(), {flat_kernel(kCall, 100)});
  std::int64_t last_end = 0;
  for (int n = 1; n <= 1000; ++n) {
    if (gpu.state().queue.size() == kQueueItems) gpu.advance_to(next_completion(gpu.state()));
    ASSERT_TRUE(gpu.submit_calls(0, 1));
  }
  gpu.advance_to(kSecond);
  const auto done = gpu.completions();
  ASSERT_EQ(done.size(), 1000);
  for (const auto& item : done) {
    EXPECT_EQ(item.begin_ns, last_end);
    last_end = item.end_ns;
  }
  EXPECT_NEAR(static_cast<double>(last_end), 1000 * kCall * 1e9, 1.0);
}

TEST(Physics, AClockChangeSplitsACallExactly) {
  auto model = small_gpu();
  model.clocks.core_latency.otherwise_ns = 4 * kMs;
  DeviceForTest gpu(model, {steep_kernel()});
  gpu.submit_calls(0, 10);  // 10 ms at 1000 MHz
  lock_core(gpu.device(), {500, 500}, 1);
  EXPECT_EQ(next_event(gpu.state()), 4 * kMs);
  EXPECT_EQ(next_completion(gpu.state()), 10 * kMs);  // as conditions are now
  gpu.advance_to(4 * kMs);
  EXPECT_EQ(next_completion(gpu.state()), 16 * kMs);  // 6 calls left at 2 ms
  gpu.advance_to(20 * kMs);
  // Power follows the clock with the exponent log10(4) = 0.602: 200 W * 0.5^0.602.
  const double low = 200 * std::pow(0.5, std::log10(4.0));
  EXPECT_NEAR(gpu.completions().at(0).energy.in_si(), 0.004 * 200 + 0.012 * low, 1e-12);
}

TEST(Physics, AMillionCallsAreOneEvent) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(1e-5, 100)});
  gpu.submit_calls(0, 1'000'000);
  EXPECT_EQ(next_event(gpu.state()), 10 * kSecond);
}

TEST(Physics, TenIdleHoursAreFewEvents) {
  DeviceForTest gpu(lively_gpu(), {flat_kernel(1, 390)});
  gpu.submit_calls(0, 60);  // hot, and capped
  gpu.advance_to(60 * kSecond);
  int events = 0;
  for (; next_event(gpu.state()) <= 36'000 * kSecond; ++events)
    gpu.advance_to(next_event(gpu.state()));
  EXPECT_LT(events, 50);  // the clock comes back, and the GPU settles
  gpu.advance_to(36'000 * kSecond);
  EXPECT_EQ(gpu.readings().average_power_mw, 20'000);
  EXPECT_EQ(gpu.readings().core_mhz, 1000);
}

struct Draw {
  double power_w = 0;
  double leakage_w_per_k = 0;
  std::int64_t milliseconds = 0;
};
struct Integrated {
  double energy_j = 0;
  double temperature_c = 0;
};
/// Fourth-order Runge-Kutta on the two equations of the thermal model, in steps of a millisecond:
/// energy and temperature after that draw, from nothing but the description.
void integrate(const GpuModel& gpu, const Draw& draw, Integrated& state) {
  const auto power = [&](double c) {
    return draw.power_w + draw.leakage_w_per_k * (c - gpu.power.reference_c);
  };
  const auto slope = [&](double c) {
    return (gpu.thermal.ambient_c + gpu.thermal.kelvin_per_watt * power(c) - c) /
           gpu.thermal.time_constant.in_si();
  };
  constexpr double kStep = 1e-3;
  for (std::int64_t n = 0; n < draw.milliseconds; ++n) {
    const double c = state.temperature_c;
    const double a = slope(c);
    const double b = slope(c + kStep / 2 * a);
    const double d = slope(c + kStep / 2 * b);
    const double e = slope(c + kStep * d);
    const double middle = c + kStep / 2 * b;
    state.temperature_c += kStep / 6 * (a + 2 * b + 2 * d + e);
    state.energy_j += kStep / 6 * (power(c) + 4 * power(middle) + power(state.temperature_c));
  }
}

TEST(Physics, EnergyIsTheIntegralOfPowerByAnIndependentIntegrator) {
  auto model = small_gpu();
  model.power.leakage_w_per_k = 2.0;
  DeviceForTest gpu(model, {steep_kernel()});
  gpu.submit_calls(0, 30'000);  // 30 s at 1000 MHz
  gpu.advance_to(10 * kSecond);
  lock_core(gpu.device(), {100, 100}, 1);
  gpu.advance_to(70 * kSecond);  // 20,000 calls left, 6,000 of them done
  reset_core(gpu.device(), 1);
  gpu.advance_to(100 * kSecond);  // done at 84 s, awake till 85 s
  Integrated expected{.temperature_c = 25};
  integrate(model, {200, 2.0, 10'000}, expected);
  integrate(model, {50, 2.0, 60'000}, expected);
  integrate(model, {200, 2.0, 14'000}, expected);
  // Awake: 40 W, which would vanish at ambient temperature: it leaks no more than it has.
  integrate(model, {40, 40.0 / 25.0, 1'000}, expected);
  integrate(model, {20, 0.0, 15'000}, expected);
  EXPECT_NEAR(gpu.energy().in_si() / expected.energy_j, 1, 1e-9);
  const auto truth = truth_at(model, gpu.state(), 100 * kSecond);
  EXPECT_NEAR(truth.temperature_c / expected.temperature_c, 1, 1e-9);
}

TEST(Physics, CancelledWorkCompletesWithItsWholeCalls) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(0.001, 100)});
  gpu.submit_calls(0, 1'000'000);
  gpu.submit_calls(0, 5);
  gpu.advance_to(7 * kMs + 600'000);
  const auto progress = running_work(gpu.state(), 7 * kMs + 600'000);
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->calls, 7);
  EXPECT_EQ(progress->last_end_ns, 7 * kMs);
  cancel(gpu.device(), gpu.context());
  const auto done = gpu.completions();
  ASSERT_EQ(done.size(), 1);
  EXPECT_EQ(done[0].calls, 7);
  EXPECT_EQ(done[0].end_ns, 7 * kMs);
  EXPECT_FALSE(running_work(gpu.state(), gpu.state().now_ns));
  EXPECT_EQ(next_completion(gpu.state()), kNever);
}

TEST(Physics, AGoneContextTakesItsWorkAndLeavesThatOfOthers) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(0.001, 100)});
  const auto other = create_context(gpu.device(), {.pid = 2});
  ASSERT_TRUE(other);
  gpu.submit_calls(0, 10);
  submit(gpu.device(), *other, 0, 3);
  gpu.submit_calls(0, 10);
  gpu.advance_to(5 * kMs);
  remove_context(gpu.device(), gpu.context());
  gpu.advance_to(kSecond);
  EXPECT_TRUE(gpu.completions().empty());
  std::vector<Completion> done(4);
  std::uint64_t cursor = 0;
  ASSERT_EQ(completions_since(gpu.state(), *other, cursor, done), 1);
  EXPECT_EQ(done[0].begin_ns, 5 * kMs);
  EXPECT_EQ(done[0].end_ns, 8 * kMs);
}

TEST(Physics, WorkIsRefusedWhenItCannotRun) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(0.001, 100), KernelSurface{}});
  EXPECT_FALSE(gpu.submit_calls(0, 0));
  EXPECT_FALSE(gpu.submit_calls(1, 1));
  EXPECT_FALSE(gpu.submit_calls(2, 1));
  EXPECT_FALSE(submit(gpu.device(), gpu.context() + 1, 0, 1));
  for (std::size_t n = 0; n < kQueueItems; ++n) EXPECT_TRUE(gpu.submit_calls(0, 1));
  EXPECT_FALSE(gpu.submit_calls(0, 1));
}

TEST(Physics, ContextsRunOutOfRoom) {
  DeviceForTest gpu(small_gpu());
  for (std::size_t n = 1; n < kContexts; ++n) EXPECT_TRUE(create_context(gpu.device(), {}));
  EXPECT_FALSE(create_context(gpu.device(), {}));
}

TEST(Physics, CallsBeyondAllTimeNeverEnd) {
  DeviceForTest gpu(small_gpu(), {flat_kernel(1000, 100)});
  gpu.submit_calls(0, ~std::uint64_t{0});
  EXPECT_EQ(next_completion(gpu.state()), kNever);
  gpu.advance_to(10'500 * kSecond);
  EXPECT_EQ(running_work(gpu.state(), gpu.state().now_ns)->calls, 10);
}

// ---- properties
// ----------------------------------------------------------------------------------

/// A random life of a GPU: what is done, and after how long.
struct Deed {
  int what = 0;
  std::uint32_t number = 0;
  std::int64_t after_ns = 0;
};

rc::Gen<std::vector<Deed>> any_life() {
  return rc::gen::container<std::vector<Deed>>(rc::gen::build<Deed>(
      rc::gen::set(&Deed::what, rc::gen::inRange(0, 8)),
      rc::gen::set(&Deed::number, rc::gen::inRange<std::uint32_t>(1, 1500)),
      rc::gen::set(&Deed::after_ns, rc::gen::inRange<std::int64_t>(0, 700 * kMs))));
}

void act(DeviceForTest& gpu, const Deed& deed) {
  const auto device = gpu.device();
  switch (deed.what) {
    case 0:
      lock_core(device, {deed.number / 2, deed.number}, 1);
      break;
    case 1:
      lock_memory(device, {deed.number, deed.number}, 1);
      break;
    case 2:
      reset_core(device, 1);
      break;
    case 3:
      reset_memory(device, 1);
      break;
    case 4:
      set_power_limit(device, deed.number * 300, 1);
      break;
    case 5:
      cancel(device, gpu.context());
      break;
    default:
      gpu.submit_calls(deed.number % 2, deed.number);
      break;
  }
}

DeviceForTest lively_device() {
  return DeviceForTest(lively_gpu(), {steep_kernel(), flat_kernel(0.0013, 310)});
}

RC_GTEST_PROP(Physics, SplittingAnAdvanceChangesNothing, ()) {
  const auto life = *any_life();
  auto whole = lively_device();
  auto split = lively_device();
  for (const auto& deed : life) {
    act(whole, deed);
    act(split, deed);
    const auto to = whole.state().now_ns + deed.after_ns;
    whole.advance_to(to);
    const auto parts = *rc::gen::inRange<std::int64_t>(1, 20);
    const auto from = split.state().now_ns;
    for (std::int64_t n = 1; n <= parts; ++n) split.advance_to(from + (to - from) / parts * n);
    split.advance_to(to);
  }
  // Bit for bit: an advance without an event leaves the anchor alone.
  RC_ASSERT(whole.energy() == split.energy());
  RC_ASSERT(whole.state().next_event_ns == split.state().next_event_ns);
  RC_ASSERT(whole.state().anchor.temperature_c == split.state().anchor.temperature_c);
  RC_ASSERT(whole.state().anchor.filtered_power == split.state().anchor.filtered_power);
  RC_ASSERT(whole.readings().energy_mj == split.readings().energy_mj);
  RC_ASSERT(whole.readings().instant_power_mw == split.readings().instant_power_mw);
  RC_ASSERT(whole.completions().size() == split.completions().size());
}

RC_GTEST_PROP(Physics, AnyLifeKeepsTheLaws, ()) {
  const auto life = *any_life();
  auto gpu = lively_device();
  Joules energy;
  for (const auto& deed : life) {
    act(gpu, deed);
    gpu.advance_to(gpu.state().now_ns + deed.after_ns);
    const auto& state = gpu.state();
    RC_ASSERT(gpu.energy() >= energy);
    RC_ASSERT(gpu.energy() - energy <=
              Watts(400) * Seconds(1e-9 * double(deed.after_ns)) + Joules(1e-9));
    energy = gpu.energy();
    RC_ASSERT(state.next_event_ns > state.now_ns);
    RC_ASSERT(state.completion_ns >= state.next_event_ns);
    const auto& lock = state.core.in_force;
    RC_ASSERT(lock.is_automatic() || state.conditions.core_mhz <= lock.most_mhz);
    RC_ASSERT(gpu.readings().energy_mj <= energy.in_si() * 1e3 + 1e-3);
  }
  cancel(gpu.device(), gpu.context());
  const auto done = gpu.completions();
  const auto busy = truth_at(gpu.model(), gpu.state(), gpu.state().now_ns).busy_ns;
  std::int64_t run = 0;
  Joules work;
  std::int64_t last_end = 0;
  for (const auto& item : done) {
    RC_ASSERT(item.begin_ns >= last_end);
    RC_ASSERT(item.end_ns >= item.begin_ns);
    last_end = item.end_ns;
    run += item.end_ns - item.begin_ns;
    work += item.energy;
  }
  RC_ASSERT(run <= busy);
  RC_ASSERT(work <= gpu.energy() + Joules(1e-9));
}

}  // namespace
}  // namespace negawatt::gpusim
