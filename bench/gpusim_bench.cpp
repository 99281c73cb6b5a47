// SPDX-License-Identifier: Apache-2.0
//
// The simulated GPU's own costs: an event (the end of a short kernel and the start of the next), an
// advance without one, a read of all sensors, and ten hours of idling.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "gpusim/gpu_for_test.hpp"
#include "gpusim/physics.hpp"

namespace negawatt::gpusim {
namespace {

GpuModel leaking_gpu() {
  auto gpu = small_gpu();
  gpu.power.leakage_w_per_k = 0.5;
  return gpu;
}

void kernel_end(benchmark::State& state) {
  DeviceForTest gpu(leaking_gpu(), {steep_kernel()});
  lock_core(gpu.device(), {500, 500}, 1);
  for (auto _ : state) {
    while (gpu.state().queue.size() < 8) gpu.submit_calls(0, 1);
    gpu.advance_to(next_event(gpu.state()));
  }
}
BENCHMARK(kernel_end);

void advance_without_event(benchmark::State& state) {
  DeviceForTest gpu(leaking_gpu(), {steep_kernel()});
  gpu.submit_calls(0, 1'000'000'000'000);
  std::int64_t now = 0;
  for (auto _ : state) gpu.advance_to(now += 1000);
}
BENCHMARK(advance_without_event);

void all_sensors(benchmark::State& state) {
  DeviceForTest gpu(leaking_gpu(), {steep_kernel()});
  gpu.submit_calls(0, 1'000'000'000'000);
  gpu.advance_to(10 * kSecond);
  for (auto _ : state) benchmark::DoNotOptimize(gpu.readings());
}
BENCHMARK(all_sensors);

void ten_idle_hours(benchmark::State& state) {
  for (auto _ : state) {
    DeviceForTest gpu(leaking_gpu(), {steep_kernel()});
    gpu.submit_calls(0, 10);
    gpu.advance_to(36'000 * kSecond);
    benchmark::DoNotOptimize(gpu.energy());
  }
}
BENCHMARK(ten_idle_hours)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace negawatt::gpusim
