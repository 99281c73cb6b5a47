// SPDX-License-Identifier: Apache-2.0
//
// Least-energy schedules of 1,000 to 100,000 invocations at 60 clock pairs, with the time budget
// of the highest clocks plus 5 %. Counters: gap_ppm (proven, of the energy), below_static_pct
// (energy saved against the best static pair within the same budget), and switches per iteration.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "plan/schedule.hpp"
#include "tests/schedule_instances.hpp"

namespace negawatt::plan {
namespace {

// Patterns of invocations, as arguments.
constexpr std::int64_t kLayered = 0;
constexpr std::int64_t kRandom = 1;

void least_energy(benchmark::State& state) {
  const auto invocations = static_cast<std::uint32_t>(state.range(0));
  auto problem = state.range(2) == kLayered ? testing::layered_iteration(invocations, {1})
                                            : testing::random_iteration(invocations, {1});
  problem.switching.core.any.latency = Seconds(1e-3 * static_cast<double>(state.range(1)));
  problem.switching.memory.any.latency = 2.5 * problem.switching.core.any.latency;
  const auto budget = 1.05 * testing::time_at_highest_clocks(problem);
  Schedule schedule;
  for (auto _ : state) {
    auto found = least_energy_schedule(problem, budget);
    if (!found) {
      state.SkipWithError(found.error().message.c_str());
      return;
    }
    schedule = *std::move(found);
  }
  const auto best_static = best_static_schedule(problem, budget);
  state.counters["gap_ppm"] = 1e4 * gap_pct(schedule.total.energy, schedule.lower_bound);
  state.counters["below_static_pct"] =
      -change_pct((*best_static)->total.energy, schedule.total.energy);
  state.counters["switches"] = schedule.switches;
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"invocations", "core_ms", "random"})->Unit(benchmark::kMillisecond);
  for (const std::int64_t pattern : {kLayered, kRandom})
    for (const std::int64_t invocations : {1'000, 10'000, 100'000})
      for (const std::int64_t latency : {0, 1, 6, 15, 100})
        bench->Args({invocations, latency, pattern})->Iterations(1);
}
BENCHMARK(least_energy)->Apply(sizes);

}  // namespace
}  // namespace negawatt::plan
