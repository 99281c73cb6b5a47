// SPDX-License-Identifier: Apache-2.0
//
// The hot path of routing and simulation: one step, many decode steps at once, and how many of them
// have ended. The longest runs cross from compute to memory and reach the power cap.
#include <benchmark/benchmark.h>

#include "model/serving.hpp"

namespace {

using negawatt::Seconds;
using negawatt::model::ServingModel;
using negawatt::model::StepCoefficients;
using negawatt::model::StepLoad;

ServingModel model_with_crossings() {
  StepCoefficients c;
  c.overhead = 2e-3;
  c.overhead_per_sequence = 1e-5;
  c.compute_per_token = 60e-6;
  c.compute_per_attended = 1e-9;
  c.memory_weights = 3e-3;
  c.memory_experts = 2e-3;
  c.memory_per_context = 40e-9;
  c.memory_per_token = 1e-7;
  c.expert_share = 0.0625;
  c.idle_power = 80.0;
  c.active_power = 150.0;
  c.energy_per_token = 10e-3;
  c.energy_weights = 1.0;
  c.energy_per_context = 6e-5;
  c.power_cap = 700.0;
  c.cap_slowdown = 0.4;
  return ServingModel(c);
}

constexpr StepLoad kDecode{0, 0, 100, 20000};

void step(benchmark::State& state) {
  const ServingModel model = model_with_crossings();
  StepLoad load = kDecode;
  for (auto _ : state) {
    benchmark::DoNotOptimize(load);
    benchmark::DoNotOptimize(model.step(load));
  }
}
BENCHMARK(step);

void run(benchmark::State& state) {
  const ServingModel model = model_with_crossings();
  StepLoad load = kDecode;
  for (auto _ : state) {
    benchmark::DoNotOptimize(load);
    benchmark::DoNotOptimize(model.run(load, static_cast<std::uint64_t>(state.range(0))));
  }
}
BENCHMARK(run)->Arg(1)->Arg(100)->Arg(1'000'000);

void steps_ended(benchmark::State& state) {
  const ServingModel model = model_with_crossings();
  const auto limit = static_cast<std::uint64_t>(state.range(0));
  const Seconds time = 0.7 * model.run(kDecode, limit).time;
  StepLoad load = kDecode;
  for (auto _ : state) {
    benchmark::DoNotOptimize(load);
    benchmark::DoNotOptimize(model.steps_ended(load, time, limit));
  }
}
BENCHMARK(steps_ended)->Arg(1)->Arg(100)->Arg(1'000'000);

}  // namespace
