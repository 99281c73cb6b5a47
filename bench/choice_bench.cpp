// SPDX-License-Identifier: Apache-2.0
//
// How long the exact choice takes: growth with the number of kernels and of clock pairs, on
// kernels as a GPU behaves and on the classes that make solvers suffer, and CBC on the same
// problems in the same run. The budget lies a tenth of the way from the fastest choice to the one
// of least energy. Counters: states (CBC: nodes) searched, the gap that is left, and the most
// memory that the process held (table_mib of it is the problem itself). --benchmark_format=csv
// makes a table.
#include <benchmark/benchmark.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <string>

#include "core/cost.hpp"
#include "solve/choice.hpp"
#include "tests/choice_by_cbc.hpp"
#include "tests/choice_instances.hpp"

namespace negawatt {
namespace {

using testing::InstanceKind;

constexpr double kMebibyte = 1024.0 * 1024.0;

/// Starts the peak that peak_mib() tells anew. Linux: clear_refs, 5.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0.0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes / 1024.0;
  }
  return std::nan("");
}

struct Instance {
  explicit Instance(const benchmark::State& state)
      : shape{static_cast<InstanceKind>(state.range(0)), static_cast<std::uint32_t>(state.range(1)),
              static_cast<std::uint32_t>(state.range(2))},
        problem(testing::make_instance(shape, static_cast<std::uint64_t>(state.range(3)))),
        budget(testing::budget_between(problem, 0.1)) {}

  testing::InstanceShape shape;
  solve::ChoiceProblem problem;
  Seconds budget;
};

/// The same counters for both solvers: the CSV reporter insists.
void report(benchmark::State& state, const Instance& instance, Cost total, double gap_pct) {
  state.SetLabel(std::string(name_of(instance.shape.kind)));
  state.counters["energy_j"] = total.energy.in_si();
  state.counters["gap_pct"] = gap_pct;
  state.counters["peak_mib"] = peak_mib();
  state.counters["table_mib"] =
      static_cast<double>(instance.problem.option_count() * sizeof(Cost)) / kMebibyte;
}

void exact_choice(benchmark::State& state) {
  const Instance instance(state);
  forget_peak();
  solve::Choice choice;
  for (auto _ : state) {
    choice = solve::least_energy_within(instance.problem, instance.budget).value();
    benchmark::DoNotOptimize(choice);
  }
  report(state, instance, choice.total, gap_pct(choice.total.energy, choice.lower_bound));
  state.counters["states"] = static_cast<double>(choice.states);
}

void cbc(benchmark::State& state) {
  constexpr int kSecondsLimit = 120;
  const Instance instance(state);
  forget_peak();
  std::optional<testing::MilpAnswer> answer;
  for (auto _ : state) {
    answer = testing::solve_with_cbc(instance.problem, instance.budget, kSecondsLimit);
  }
  if (!answer) return state.SkipWithError("CBC found no choice");
  report(state, instance, answer->total,
         answer->is_proven ? 0.0 : gap_pct(answer->total.energy, answer->lower_bound));
  state.counters["states"] = answer->nodes;
}

constexpr InstanceKind kKinds[] = {InstanceKind::gpu, InstanceKind::random,
                                   InstanceKind::weakly_correlated,
                                   InstanceKind::strongly_correlated};

void add(benchmark::internal::Benchmark* bench, InstanceKind kind, std::int64_t kernels,
         std::int64_t pairs) {
  bench->Args({static_cast<std::int64_t>(kind), kernels, pairs, 1});
}

void growth_in_kernels(benchmark::internal::Benchmark* bench) {
  for (const auto kind : kKinds) {
    for (const int kernels : {100, 300, 1'000, 3'000, 10'000, 30'000}) {
      add(bench, kind, kernels, 220);
    }
  }
}

void growth_in_pairs(benchmark::internal::Benchmark* bench) {
  for (const auto kind : kKinds) {
    for (const int pairs : {10, 20, 40, 66, 100, 200}) add(bench, kind, 46, pairs);
  }
}

void same_as_cbc(benchmark::internal::Benchmark* bench) {
  for (const auto kind : kKinds) {
    if (kind == InstanceKind::strongly_correlated) continue;  // hours for CBC
    add(bench, kind, 46, 66);
    add(bench, kind, 300, 60);
  }
}

void common(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"kind", "kernels", "pairs", "seed"})->Unit(benchmark::kMillisecond);
}

BENCHMARK(exact_choice)->Apply(common)->Apply(growth_in_pairs);
BENCHMARK(exact_choice)->Apply(common)->Apply(growth_in_kernels);
BENCHMARK(exact_choice)->Apply(common)->Apply(same_as_cbc);
BENCHMARK(cbc)->Apply(common)->Apply(same_as_cbc)->Iterations(1);

}  // namespace
}  // namespace negawatt

BENCHMARK_MAIN();
