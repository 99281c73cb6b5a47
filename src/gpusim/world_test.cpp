// SPDX-License-Identifier: Apache-2.0
#include "gpusim/world.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpusim/environment.hpp"
#include "gpusim/gpu_for_test.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::gpusim {
namespace {

class WorldTest : public ::testing::Test {
 protected:
  static MachineModel machine(std::size_t gpus = 1) {
    MachineModel machine{.time_mode = TimeMode::virtual_time};
    for (std::size_t i = 0; i < gpus; ++i) {
      machine.gpus.push_back(small_gpu());
      machine.gpus.back().identity.uuid = "GPU-" + std::to_string(i);
    }
    return machine;
  }
  std::unique_ptr<World> open(MachineModel model = machine()) {
    auto world = World::open(std::move(model), path_, 0600);
    if (!world) return nullptr;
    return std::make_unique<World>(*std::move(world));
  }
  void sleep_until(World& world, std::int64_t time_ns) {
    Seat seat;
    ASSERT_TRUE(world.clock().join(seat));
    world.clock().sleep_until(seat, time_ns);
    world.clock().leave(seat);
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.path("world");
};

TEST_F(WorldTest, AGpuIsAdvancedToThePresentWhenItIsLookedAt) {
  auto world = open();
  ASSERT_NE(world, nullptr);
  sleep_until(*world, 10 * kSecond);
  GpuAccess gpu(*world, 0);
  EXPECT_EQ(gpu.now_ns(), 10 * kSecond);
  EXPECT_NEAR(truth_at(gpu.model(), gpu.state(), gpu.now_ns()).energy.in_si(), 100.0, 1e-9);
}

TEST_F(WorldTest, ADraftThatIsNotCommittedHasNotHappened) {
  auto world = open();
  ASSERT_NE(world, nullptr);
  {
    GpuAccess gpu(*world, 0);
    EXPECT_EQ(lock_core(gpu.draft(), {500, 500}, 1), NVML_SUCCESS);
  }
  GpuAccess gpu(*world, 0);
  EXPECT_TRUE(gpu.state().core.asked.is_automatic());
  EXPECT_EQ(lock_core(gpu.draft(), {500, 500}, 1), NVML_SUCCESS);
  gpu.commit();
  EXPECT_EQ(gpu.state().core.asked.most_mhz, 500U);
}

TEST_F(WorldTest, AProcessKilledInTheMiddleOfAChangeLeavesTheGpuAsItWas) {
  auto world = open();
  ASSERT_NE(world, nullptr);
  if (::fork() == 0) {
    GpuAccess gpu(*world, 0);
    const auto device = gpu.draft();
    device.state.core.asked.most_mhz = 12345;
    device.state.next_event_ns = -1;
    ::raise(SIGKILL);
  }
  ::wait(nullptr);
  GpuAccess gpu(*world, 0);
  ASSERT_TRUE(gpu.ok());
  EXPECT_TRUE(gpu.state().core.asked.is_automatic());
}

TEST_F(WorldTest, TwoThatOpenTheSameFileShareOneGpu) {
  auto one = open();
  auto two = open();
  ASSERT_NE(one, nullptr);
  ASSERT_NE(two, nullptr);
  {
    GpuAccess gpu(*one, 0);
    EXPECT_EQ(set_power_limit(gpu.draft(), 200'000, 1), NVML_SUCCESS);
    gpu.commit();
  }
  EXPECT_EQ(GpuAccess(*two, 0).state().power_limit, Watts(200));
}

TEST_F(WorldTest, AnotherMachinesFileIsRefused) {
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open(machine(2)), nullptr);
  auto renamed = machine();
  renamed.gpus[0].identity.uuid = "GPU-another";
  EXPECT_EQ(open(renamed), nullptr);
  EXPECT_NE(open(), nullptr);
}

TEST_F(WorldTest, AContextEndsWithItsThreadAndItsWorkWithIt) {
  auto world = open();
  ASSERT_NE(world, nullptr);
  std::thread([&] {
    GpuAccess gpu(*world, 0);
    const auto context = gpu.open_context({.pid = 42});
    ASSERT_TRUE(context);
    const auto surface = gpu.add_surface(*context, flat_kernel(1e-3, 100));
    ASSERT_TRUE(surface);
    EXPECT_TRUE(submit(gpu.draft(), *context, *surface, 1000));
    gpu.commit();
    EXPECT_EQ(gpu.state().queue.size(), 1U);
    EXPECT_TRUE(gpu.is_open(*context));
  }).join();
  GpuAccess gpu(*world, 0);
  EXPECT_EQ(gpu.state().queue.size(), 0U);
  for (const auto& context : gpu.state().contexts) EXPECT_EQ(context.id, 0U);
}

TEST_F(WorldTest, PlacesForKernelsAreFreeAgainWhenTheirContextIsGone) {
  auto world = open();
  ASSERT_NE(world, nullptr);
  GpuAccess gpu(*world, 0);
  const auto other = gpu.open_context({.pid = 1});
  ASSERT_TRUE(other);
  const auto kept = gpu.add_surface(*other, flat_kernel(1e-3, 50));
  ASSERT_TRUE(kept);
  for (int round = 0; round < 3; ++round) {
    const auto context = gpu.open_context({.pid = 2});
    ASSERT_TRUE(context);
    std::size_t places = 0;
    while (const auto place = gpu.add_surface(*context, flat_kernel(1e-3, 100))) {
      EXPECT_NE(*place, *kept);
      ++places;
    }
    EXPECT_EQ(places, kSurfaces - 1);
    gpu.close_context(*context);
    EXPECT_FALSE(gpu.add_surface(*context, flat_kernel(1e-3, 100)));
  }
  gpu.close_context(*other);
}

TEST_F(WorldTest, MoreContextsThanThereIsRoomForAreRefused) {
  auto world = open();
  ASSERT_NE(world, nullptr);
  GpuAccess gpu(*world, 0);
  std::vector<std::uint32_t> contexts;
  while (const auto context = gpu.open_context({.pid = 1})) contexts.push_back(*context);
  EXPECT_EQ(contexts.size(), kContexts);
  for (const auto context : contexts) gpu.close_context(context);
}

TEST_F(WorldTest, AThreadWhoseContextWentWithAReloadedDriverGivesItsPlaceBack) {
  auto model = machine();
  model.gpus[0].faults.timed = {{TimedFault::Kind::driver_reload, kSecond, 2 * kSecond}};
  auto world = open(std::move(model));
  ASSERT_NE(world, nullptr);
  std::optional<std::uint32_t> before;
  {
    GpuAccess gpu(*world, 0);
    before = gpu.open_context({.pid = 1});
    ASSERT_TRUE(before);
  }
  sleep_until(*world, 3 * kSecond);
  const auto opens_and_closes = [&world] {
    GpuAccess gpu(*world, 0);
    const auto context = gpu.open_context({.pid = 2});
    if (context) gpu.close_context(*context);
    return context.has_value();
  };
  {
    GpuAccess gpu(*world, 0);
    (void)gpu.state();
    EXPECT_FALSE(gpu.is_open(*before)) << "the driver was not reloaded: this tests nothing";
  }
  bool opened = false;
  std::thread([&] { opened = opens_and_closes(); }).join();
  EXPECT_TRUE(opened) << "a place that is still held keeps others from the free ones";
  GpuAccess(*world, 0).close_context(*before);
  // All places are free again, for threads that are not this one, too.
  std::size_t places = 0;
  std::thread([&] {
    GpuAccess gpu(*world, 0);
    while (gpu.open_context({.pid = 3})) ++places;
  }).join();
  EXPECT_EQ(places, kContexts);
}

TEST_F(WorldTest, GpusAreApart) {
  auto world = open(machine(3));
  ASSERT_NE(world, nullptr);
  {
    GpuAccess gpu(*world, 1);
    EXPECT_EQ(lock_core(gpu.draft(), {500, 500}, 1), NVML_SUCCESS);
    gpu.commit();
  }
  EXPECT_TRUE(GpuAccess(*world, 0).state().core.asked.is_automatic());
  EXPECT_EQ(GpuAccess(*world, 1).state().core.asked.most_mhz, 500U);
  EXPECT_TRUE(GpuAccess(*world, 2).state().core.asked.is_automatic());
}

TEST(TimeFlow, IsReadFromTheEnvironmentsWords) {
  EXPECT_EQ(parse_time_flow("real")->mode, TimeMode::real);
  EXPECT_EQ(parse_time_flow("virtual")->mode, TimeMode::virtual_time);
  EXPECT_EQ(parse_time_flow("20.5")->mode, TimeMode::scaled);
  EXPECT_EQ(parse_time_flow("20.5")->factor, 20.5);
  for (const auto* text : {"", "0", "-1", "nan", "inf", "20x", "Virtual"})
    EXPECT_FALSE(parse_time_flow(text)) << text;
}

}  // namespace
}  // namespace negawatt::gpusim
