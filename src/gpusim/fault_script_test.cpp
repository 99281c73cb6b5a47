// SPDX-License-Identifier: Apache-2.0
#include "gpusim/fault_script.hpp"

#include <gtest/gtest.h>

#include "gpusim/gpu_for_test.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {
namespace {

constexpr std::string_view kLockCore = "nvmlDeviceSetGpuLockedClocks";
constexpr std::string_view kPower = "nvmlDeviceGetPowerUsage";

nvmlReturn_t answer(const FaultScript& script, std::string_view function, std::int64_t at_ns = 0) {
  CallCounts counts{};
  return decide(script, counts, function, at_ns).result;
}

TEST(FaultScript, FunctionsAreFoundByAnyOfTheirVersions) {
  EXPECT_EQ(function_name(function_index(kPower)), kPower);
  EXPECT_EQ(function_index("nvmlInit"), function_index("nvmlInit_v2"));
  EXPECT_EQ(function_name(function_index("nvmlDeviceGetComputeRunningProcesses")),
            "nvmlDeviceGetComputeRunningProcesses_v3");
  EXPECT_EQ(function_index("nvmlDeviceMakeCoffee"), kUnknownFunction);
  EXPECT_EQ(function_index(""), kUnknownFunction);
  EXPECT_EQ(function_name(kUnknownFunction), "");
}

TEST(FaultScript, ReturnValuesHaveTheirNvmlNames) {
  nvmlReturn_t value{};
  EXPECT_TRUE(parse_return("NVML_ERROR_NOT_READY", value));
  EXPECT_EQ(value, NVML_ERROR_NOT_READY);
  EXPECT_TRUE(parse_return("GPU_IS_LOST", value));
  EXPECT_EQ(value, NVML_ERROR_GPU_IS_LOST);
  EXPECT_TRUE(parse_return("NVML_SUCCESS", value));
  EXPECT_EQ(value, NVML_SUCCESS);
  EXPECT_FALSE(parse_return("NVML_ERROR_TIRED", value));
}

TEST(FaultScript, ListedCallsAreRefusedAndOthersAreNot) {
  FaultScript script;
  script.not_supported = {function_index("nvmlDeviceSetMemoryLockedClocks")};
  script.no_permission = {function_index(kLockCore)};
  EXPECT_EQ(answer(script, "nvmlDeviceSetMemoryLockedClocks"), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(answer(script, kLockCore), NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(answer(script, kPower), NVML_SUCCESS);
}

TEST(FaultScript, CountedCallsFailAndThenWorkAgain) {
  FaultScript script;
  script.counted = {{function_index(kPower), 2, 3, NVML_ERROR_TIMEOUT}};
  CallCounts counts{};
  std::vector<nvmlReturn_t> answers;
  for (int n = 0; n < 5; ++n) {
    answers.push_back(decide(script, counts, kPower, 0).result);
    EXPECT_EQ(decide(script, counts, kLockCore, 0).result, NVML_SUCCESS);
  }
  EXPECT_EQ(answers, (std::vector{NVML_SUCCESS, NVML_ERROR_TIMEOUT, NVML_ERROR_TIMEOUT,
                                  NVML_SUCCESS, NVML_SUCCESS}));
}

TEST(FaultScript, TimedAnswersHoldForTheirTime) {
  FaultScript script;
  script.timed = {{TimedFault::Kind::not_ready, 10, 20}};
  EXPECT_EQ(answer(script, kPower, 9), NVML_SUCCESS);
  EXPECT_EQ(answer(script, kPower, 10), NVML_ERROR_NOT_READY);
  EXPECT_EQ(answer(script, kPower, 19), NVML_ERROR_NOT_READY);
  EXPECT_EQ(answer(script, kPower, 20), NVML_SUCCESS);
}

TEST(FaultScript, LostPermissionStopsSettersOnly) {
  FaultScript script;
  script.timed = {{TimedFault::Kind::no_permission, 10, kNever}};
  EXPECT_EQ(answer(script, kLockCore, 10), NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(answer(script, "nvmlDeviceResetGpuLockedClocks", 10), NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(answer(script, kPower, 10), NVML_SUCCESS);
}

TEST(FaultScript, OneFunctionHangs) {
  FaultScript script;
  script.timed = {{TimedFault::Kind::hang, 0, kNever, 2.5, function_index(kPower)}};
  CallCounts counts{};
  EXPECT_EQ(decide(script, counts, kPower, 0).hang_ns, 2'500 * kMs);
  EXPECT_EQ(decide(script, counts, kLockCore, 0).hang_ns, 0);
}

TEST(FaultScript, ALostGpuAnswersSoAndItsWorkIsGone) {
  auto model = small_gpu();
  model.faults.timed = {{TimedFault::Kind::gpu_lost, 500 * kMs, kNever}};
  DeviceForTest gpu(model, {flat_kernel(0.001, 100)});
  gpu.submit_calls(0, 1'000'000);
  gpu.advance_to(500 * kMs - 1);
  EXPECT_EQ(decide(gpu.model(), gpu.state(), kPower, gpu.state().now_ns).result, NVML_SUCCESS);
  gpu.advance_to(500 * kMs);
  EXPECT_EQ(decide(gpu.model(), gpu.state(), kPower, gpu.state().now_ns).result,
            NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(next_completion(gpu.state()), kNever);
  EXPECT_FALSE(create_context(gpu.device(), {}));
}

TEST(FaultScript, AnOverriddenLockIsAcceptedAndTheClockIsAnother) {
  auto model = small_gpu();
  model.faults.timed = {{TimedFault::Kind::override_lock, kSecond, 2 * kSecond, 700}};
  DeviceForTest gpu(model);
  const auto clock_at = [&](std::int64_t at_ns) {
    gpu.advance_to(at_ns);
    return gpu.readings().core_mhz;
  };
  EXPECT_EQ(lock_core(gpu.device(), {300, 300}, 1), NVML_SUCCESS);
  EXPECT_EQ(clock_at(kSecond - 1), 300);
  EXPECT_EQ(clock_at(kSecond), 700);
  reset_core(gpu.device(), 1);
  EXPECT_EQ(clock_at(kSecond), 1000);  // without a lock there is none to override
  lock_core(gpu.device(), {300, 300}, 1);
  EXPECT_EQ(clock_at(kSecond + kMs), 700);
  EXPECT_EQ(clock_at(2 * kSecond), 300);
}

TEST(FaultScript, ADriverReloadDropsLocksLimitCounterAndWork) {
  auto model = small_gpu();
  model.faults.timed = {{TimedFault::Kind::driver_reload, kSecond, 2 * kSecond}};
  DeviceForTest gpu(model, {flat_kernel(0.001, 100)});
  lock_core(gpu.device(), {300, 300}, 1);
  set_power_limit(gpu.device(), 150'000, 1);
  gpu.submit_calls(0, 1'000'000);
  gpu.advance_to(1100 * kMs);
  EXPECT_EQ(answer(gpu.model().faults, kPower, gpu.state().now_ns), NVML_ERROR_DRIVER_NOT_LOADED);
  gpu.advance_to(2 * kSecond);
  EXPECT_EQ(answer(gpu.model().faults, kPower, gpu.state().now_ns), NVML_SUCCESS);
  EXPECT_TRUE(gpu.state().core.in_force.is_automatic());
  EXPECT_EQ(gpu.readings().power_limit_mw, 300'000);
  EXPECT_EQ(gpu.readings().energy_mj, 10'000);  // a second of deep idle
  EXPECT_FALSE(gpu.submit_calls(0, 1));
}

TEST(FaultScript, AFaultAtTheVeryStartHoldsFromTheStart) {
  auto model = small_gpu();
  model.faults.timed = {{TimedFault::Kind::gpu_lost, 0, kNever}};
  EXPECT_EQ(initial_state(model, 0).lost, 1);
}

}  // namespace
}  // namespace negawatt::gpusim
