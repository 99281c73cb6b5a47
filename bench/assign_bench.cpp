// SPDX-License-Identifier: Apache-2.0
//
// Reading request traces (bytes a second), and the exact assignment of a million requests to 20
// systems whose capacities bind: the solver by itself on requests that all differ (transport), also
// where the systems are of few kinds, and the whole of `negawatt assign` between reading and
// writing (assign).
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plan/assign.hpp"
#include "plan/workload.hpp"
#include "solve/transport.hpp"
#include "trace/request_readers.hpp"

namespace negawatt {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Between 1 and `most`, small ones more often, as tokens are.
  std::uint32_t tokens(double most) {
    return static_cast<std::uint32_t>(std::exp(std::log(most) * std::sqrt(uniform())));
  }

 private:
  std::mt19937_64 engine_;
};

std::string azure_trace(std::size_t requests) {
  Random random(1);
  std::string bytes = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";
  for (std::size_t i = 0; i < requests; ++i)
    bytes += fmt::format("2023-11-16 {:02}:{:02}:{:02}.{:03}9600,{},{}\r\n", i / 3'600'000,
                         i / 60'000 % 60, i / 1'000 % 60, i % 1'000, random.tokens(8'000),
                         random.tokens(2'000));
  return bytes;
}

std::string mooncake_lines(std::size_t requests) {
  Random random(1);
  std::string bytes;
  for (std::size_t i = 0; i < requests; ++i) {
    const auto input = random.tokens(120'000);
    bytes += fmt::format(
        "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, "
        "\"hash_ids\": [0",
        i, input, random.tokens(2'000));
    for (std::uint32_t block = 1; block * 512 < input; ++block)
      bytes += fmt::format(", {}", 1'000 + block);
    bytes += "]}\n";
  }
  return bytes;
}

void read(benchmark::State& state, const std::string& bytes) {
  for (auto _ : state) {
    auto trace = trace::parse_requests(bytes, "bench");
    benchmark::DoNotOptimize(trace);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}

void read_azure(benchmark::State& state) { read(state, azure_trace(500'000)); }
void read_mooncake(benchmark::State& state) { read(state, mooncake_lines(20'000)); }
BENCHMARK(read_azure)->Unit(benchmark::kMillisecond);
BENCHMARK(read_mooncake)->Unit(benchmark::kMillisecond);

struct Shape {
  std::size_t groups = 0;
  std::size_t systems = 0;
  std::size_t kinds = 0;
};

/// Requests of random length on systems of several kinds, which differ in what a request, a prompt
/// token and an answer token cost; the cheapest systems have room for a fraction of what would like
/// to be there.
solve::TransportProblem problem_of(const Shape& shape, std::uint64_t requests) {
  const auto [groups, systems, kinds] = shape;
  Random random(2);
  solve::TransportProblem problem{.systems = systems};
  struct Price {
    double request, input, output;
  };
  std::vector<Price> prices(kinds);
  for (auto& price : prices)
    price = {20 * random.uniform(), 0.05 * random.uniform(), 0.5 * random.uniform()};
  for (std::size_t s = 0; s < systems; ++s)
    problem.capacity.push_back(requests / systems + 1 + s % 3 * (requests / 50));
  for (std::size_t g = 0; g < groups; ++g) {
    problem.items.push_back(requests / groups);
    const double input = random.tokens(8'000);
    const double output = random.tokens(2'000);
    const auto first = problem.cost.size();
    for (const auto& price : prices)
      problem.cost.push_back(price.request + price.input * input + price.output * output +
                             0.01 * random.uniform());
    for (std::size_t s = kinds; s < systems; ++s)
      problem.cost.push_back(problem.cost[first + s % kinds]);
  }
  return problem;
}

void transport(benchmark::State& state) {
  const auto range = [&state](std::size_t i) { return static_cast<std::size_t>(state.range(i)); };
  const auto problem = problem_of({range(0), range(1), range(2)}, 1'000'000);
  for (auto _ : state) {
    auto plan = solve::transport(problem);
    if (!plan) state.SkipWithError(plan.error().message.c_str());
    state.counters["paths"] = static_cast<double>(plan->paths);
    state.counters["gap"] = (plan->cost - plan->bound) / plan->cost;
    benchmark::DoNotOptimize(plan);
  }
}
/// Systems that were measured at 25 sizes each, every one with prices of its own.
trace::SystemTable measured_systems(std::size_t systems) {
  Random random(3);
  trace::SystemTable table{.name = "bench"};
  for (std::size_t s = 0; s < systems; ++s) {
    trace::MeasuredSystem system{.name = fmt::format("s{}", s), .model = "m"};
    const double request = 20 * random.uniform();
    const double input_price = 0.05 * random.uniform();
    const double output_price = 0.5 * random.uniform();
    for (std::uint32_t input = 8; input <= 8'192; input *= 4)
      for (std::uint32_t output = 8; output <= 2'048; output *= 4)
        system.runs.push_back(
            {{input, output},
             {.time = Seconds(0.01 * output),
              .energy = Joules(request + input_price * input + output_price * output)}});
    table.systems.push_back(std::move(system));
  }
  return table;
}

/// Everything that `negawatt assign` does between reading and writing, baselines included.
void assign(benchmark::State& state) {
  const auto systems = static_cast<std::size_t>(state.range(0));
  Random random(4);
  std::vector<trace::Request> requests(1'000'000);
  for (auto& request : requests) {
    request.input_tokens = random.tokens(8'000);
    request.output_tokens = random.tokens(2'000);
  }
  const auto table = measured_systems(systems);
  plan::AssignRequest request;
  for (std::size_t s = 0; s < systems; ++s)
    request.capacities.push_back({table.systems[s].name, 1.2 / static_cast<double>(systems), true});
  for (auto _ : state) {
    auto plan = plan::plan_assignment(table, plan::workload_of(requests), request);
    if (!plan) state.SkipWithError(plan.error().message.c_str());
    state.counters["sizes"] = static_cast<double>(plan->sizes);
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(assign)->ArgName("systems")->Arg(2)->Arg(20)->Unit(benchmark::kMillisecond);

BENCHMARK(transport)
    ->ArgNames({"groups", "systems", "kinds"})
    ->Args({10'000, 20, 20})
    ->Args({100'000, 20, 20})
    ->Args({1'000'000, 5, 5})
    ->Args({1'000'000, 20, 20})
    ->Args({1'000'000, 20, 4})
    ->Args({1'000'000, 20, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace negawatt
