// SPDX-License-Identifier: Apache-2.0
//
// Speed of the cluster simulator: requests, events and engine steps a second of one core, and the
// memory that is in use at the end. The trace is Azure's conversation trace of 2023 where
// ../shared/data has it, else made-up requests with log-normal lengths of the same medians. The
// week is 27 million requests with a daily rhythm on 40 instances: one simulation, run once.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "model/serving.hpp"
#include "route/make_policy.hpp"
#include "sim/cluster.hpp"
#include "sim/energy_bound.hpp"
#include "sim/energy_meter.hpp"
#include "sim/simulate.hpp"
#include "sim/trace_source.hpp"
#include "trace/generator.hpp"
#include "trace/request_readers.hpp"

namespace {

using namespace negawatt;

/// An 8-billion-parameter model in 16 bits on a device like an H100.
model::StepCoefficients coefficients(double factor) {
  return {.overhead = 3e-3,
          .overhead_per_sequence = 2e-5,
          .compute_per_token = 2.3e-5 * factor,
          .compute_per_attended = 1.2e-9 * factor,
          .memory_weights = 6e-3 * factor,
          .memory_per_context = 5e-8 * factor,
          .idle_power = 75.0,
          .active_power = 150.0,
          .energy_per_token = 0.01 / factor,
          .energy_weights = 1.2,
          .energy_per_context = 1e-5,
          .power_cap = 700.0};
}

sim::Cluster cluster_of(std::size_t instances) {
  sim::Cluster cluster;
  for (std::size_t i = 0; i < instances; ++i) {
    const bool slow = i % 2 == 1;
    cluster.instances.push_back({.name = "instance " + std::to_string(i),
                                 .device = slow ? "slow" : "fast",
                                 .model = model::ServingModel(coefficients(slow ? 1.6 : 1.0)),
                                 .limits = {.kv_blocks = 27'000},
                                 .device_type = slow ? 1U : 0U});
  }
  return cluster;
}

route::FleetFacts facts_of(const sim::Cluster& cluster) {
  route::FleetFacts facts{.device_types = {{"fast", Watts(600)}, {"slow", Watts(400)}}};
  for (const auto& spec : cluster.instances) facts.instances.push_back(spec.name);
  return facts;
}

trace::Workload made_up(std::uint64_t requests, double rate, double swing) {
  return {.streams = {{.arrivals = {.rate = {.mean = rate, .swing = swing}},
                       .lengths = trace::LogNormalLengths{.input_mu = std::log(1020.0),
                                                          .input_sigma = 0.8,
                                                          .output_mu = std::log(129.0),
                                                          .output_sigma = 1.0,
                                                          .most = 14'000}}},
          .most_requests = requests};
}

std::vector<trace::Request> azure_conversations() {
  std::ifstream file(NEGAWATT_SOURCE_DIR
                     "/../shared/data/requests/AzureLLMInferenceTrace_conv.csv");
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (const auto trace = trace::parse_requests(bytes, "conv.csv")) return trace->requests;
  std::vector<trace::Request> requests;
  const auto source = trace::generate(made_up(19'366, 5.5, 0.0), 1);
  while (const auto request = source->next()) requests.push_back(*request);
  return requests;
}

double resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
};

/// One simulation with everything that `negawatt simulate` watches.
void simulate_once(trace::RequestSource& source, const sim::Cluster& cluster, const char* name,
                   Totals& totals) {
  const auto policy = *route::make_policy(name, 1, facts_of(cluster));
  sim::EnergyMeter meter(cluster);
  sim::EnergyBound bound(cluster);
  sim::Observer* observers[] = {&meter, &bound};
  const auto outcome = *sim::simulate(cluster, source, *policy, {.observers = observers});
  benchmark::DoNotOptimize(meter.total());
  totals.requests += outcome.requests;
  totals.events += outcome.events;
  totals.steps += outcome.steps();
}

void report(benchmark::State& state, const Totals& totals) {
  const auto rate = [](std::uint64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
  };
  state.counters["requests/s"] = rate(totals.requests);
  state.counters["events/s"] = rate(totals.events);
  state.counters["steps/s"] = rate(totals.steps);
  state.counters["MiB"] = resident_mib();
}

void azure(benchmark::State& state, const char* policy) {
  const auto requests = azure_conversations();
  const auto cluster = cluster_of(4);
  Totals totals;
  for (auto _ : state) {
    sim::TraceSource source(requests);
    simulate_once(source, cluster, policy, totals);
  }
  report(state, totals);
}
BENCHMARK_CAPTURE(azure, round_robin, "round-robin")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(azure, least_connections, "least-connections")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(azure, negawatt, "negawatt")->Unit(benchmark::kMillisecond);

void week(benchmark::State& state, const char* policy) {
  const auto requests = static_cast<std::uint64_t>(state.range(0));
  const double rate = static_cast<double>(requests) / (7 * 86'400.0);
  const auto cluster = cluster_of(40);
  Totals totals;
  for (auto _ : state) {
    const auto source = trace::generate(made_up(requests, rate, 0.5), 1);
    simulate_once(*source, cluster, policy, totals);
  }
  report(state, totals);
}
BENCHMARK_CAPTURE(week, least_connections, "least-connections")
    ->Arg(27'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(week, negawatt, "negawatt")
    ->Arg(27'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
