// SPDX-License-Identifier: Apache-2.0
//
// Finding the iteration in streams of up to 10 million kernels, 2 % of them missing or added: a
// training loop with evaluations in between, a decoding loop, and noise, in which nothing is found.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "structure/iterations.hpp"
#include "tests/kernel_stream.hpp"
#include "trace/random.hpp"

namespace negawatt::structure {
namespace {

using Functions = std::vector<std::uint32_t>;

void add_varied(Functions& stream, const Functions& iteration, trace::Random& random) {
  for (const std::uint32_t function : iteration) {
    const double chance = random.uniform();
    if (chance >= 0.02) stream.push_back(function);
    if (chance >= 0.98) stream.push_back(iteration[random.below(iteration.size())]);
  }
}

Functions training(std::size_t kernels) {
  const Functions step = testing::training_program().iteration;
  const Functions evaluation(step.begin(), step.begin() + 341);
  trace::Random random(1);
  Functions stream;
  for (int i = 1; stream.size() < kernels; ++i) {
    add_varied(stream, step, random);
    for (int batch = 0; batch < 5 && i % 50 == 0; ++batch) add_varied(stream, evaluation, random);
  }
  return stream;
}

Functions decoding(std::size_t kernels) {
  trace::Random random(2);
  Functions stream;
  const Functions step = testing::decoding_program().iteration;
  while (stream.size() < kernels) add_varied(stream, step, random);
  return stream;
}

Functions noise(std::size_t kernels) {
  trace::Random random(3);
  Functions stream(kernels);
  for (auto& function : stream) function = static_cast<std::uint32_t>(random.below(60));
  return stream;
}

void find(benchmark::State& state, Functions (*stream_of)(std::size_t)) {
  const Functions stream = stream_of(static_cast<std::size_t>(state.range(0)));
  double found = 0.0;
  for (auto _ : state) {
    const auto iterations = find_iterations({stream, 100});
    found = iterations ? static_cast<double>(iterations->all.size()) : 0.0;
  }
  state.counters["iterations"] = found;
  state.counters["per_kernel"] = benchmark::Counter(
      static_cast<double>(stream.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetComplexityN(state.range(0));
}

BENCHMARK_CAPTURE(find, training, training)
    ->RangeMultiplier(10)
    ->Range(100'000, 10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oNLogN);
BENCHMARK_CAPTURE(find, decoding, decoding)
    ->RangeMultiplier(10)
    ->Range(100'000, 10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oNLogN);
BENCHMARK_CAPTURE(find, noise, noise)
    ->RangeMultiplier(10)
    ->Range(100'000, 10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oNLogN);

}  // namespace
}  // namespace negawatt::structure
