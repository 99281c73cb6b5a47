// SPDX-License-Identifier: Apache-2.0
//
// How long a decision takes: place() of every policy over a fleet of 16 instances (and 4 and 64) of
// two types that are all busy, what an observation of an answer's length costs, and what a plan of
// the fleet costs that negawatt makes once every half minute, by types of 4 instances each.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "route/fleet_plan.hpp"
#include "route/make_policy.hpp"
#include "route/output_lengths.hpp"
#include "route/request_cost.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

model::StepCoefficients coefficients(double speed) {
  model::StepCoefficients c;
  c.overhead = 1e-3;
  c.overhead_per_sequence = 1e-5;
  c.compute_per_token = 2.5e-5 / speed;
  c.compute_per_attended = 1e-9 / speed;
  c.memory_weights = 6e-3 / speed;
  c.memory_per_context = 5e-8 / speed;
  c.idle_power = 100.0 * speed;
  c.active_power = 150.0 * speed;
  c.energy_per_token = 8e-3;
  c.energy_weights = 1.2;
  c.energy_per_context = 1e-5;
  return c;
}

struct Fleet {
  explicit Fleet(std::size_t size) {
    facts.device_types = {{"small", Watts(50)}, {"large", Watts(250)}};
    facts.slos = {{Seconds(2), Seconds(0.1), Seconds(60)}};
    trace::Random random(1);
    for (std::size_t i = 0; i < size; ++i) {
      InstanceView view;
      view.device_type = static_cast<std::uint32_t>(i % 2);
      view.model = &models[i % 2];
      view.running = 1 + static_cast<std::uint32_t>(random.below(40));
      view.most_sequences = 256;
      view.most_step_tokens = 2048;
      view.context_tokens = view.running * std::uint64_t{900};
      view.kv_capacity = 400'000;
      view.kv_used = view.context_tokens;
      view.expected_output_left = view.running * 110.0;
      view.completions_per_second = 2.0;
      views.push_back(view);
    }
  }

  model::ServingModel models[2] = {model::ServingModel(coefficients(0.2)),
                                   model::ServingModel(coefficients(1.0))};
  std::vector<InstanceView> views;
  FleetFacts facts;
};

void place(benchmark::State& state, const std::string& spec) {
  const Fleet fleet(static_cast<std::size_t>(state.range(0)));
  const auto policy = make_policy(spec, 1, fleet.facts).value();
  trace::Random random(2);
  double now = 0.0;
  for (auto _ : state) {
    now += 0.02;
    const Arrival arrival{Seconds(now), 100 + static_cast<std::uint32_t>(random.below(2000))};
    benchmark::DoNotOptimize(policy->place(arrival, fleet.views));
  }
}

void marginal(benchmark::State& state) {
  const Fleet fleet(2);
  for (auto _ : state) {
    benchmark::DoNotOptimize(marginal_cost(fleet.views[1], {1000, 200}));
  }
}

void observe_length(benchmark::State& state) {
  OutputLengths lengths;
  trace::Random random(3);
  for (auto _ : state) {
    const auto input = 1 + static_cast<std::uint32_t>(random.below(4000));
    lengths.ended({input, 0}, {1 + static_cast<std::uint32_t>(random.below(800))});
  }
}

void plan(benchmark::State& state) {
  const auto types = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kOfAType = 4;
  std::vector<model::ServingModel> models;
  for (std::size_t i = 0; i < types; ++i) models.emplace_back(coefficients(0.2 + 0.1 * double(i)));
  std::vector<InstanceView> views;
  for (std::size_t i = 0; i < types * kOfAType; ++i) {
    InstanceView view = Fleet(1).views[0];
    view.device_type = static_cast<std::uint32_t>(i % types);
    view.model = &models[i % types];
    view.sleeps = true;
    views.push_back(view);
  }
  FleetPlan fleet({types, views.size()}, {}, {.first = 2.0, .between = 0.1}, 0.01);
  const std::vector<PlanMargins> margins(types);
  trace::Random random(2);
  // About half of what all can do.
  double now = 0.0;
  for (const double step = 0.08 / (double(types) * (0.15 + 0.05 * double(types))); now < 700.0;
       now += step) {
    fleet.advance(Seconds(now));
    const double input = 100.0 + double(random.below(2000));
    fleet.arrived({input, 1.0 + double(random.below(400))});
  }
  for (auto _ : state) fleet.make(views, margins);
  state.counters["shortfall"] = fleet.shortfall();
}

void add_policies() {
  for (const std::string_view name : policy_names()) {
    const std::string spec = std::string(name) + (name == "all-on-one" ? ":device=small" : "");
    benchmark::RegisterBenchmark(("place/" + spec).c_str(), place, spec)->Arg(16);
  }
  benchmark::RegisterBenchmark("place/negawatt", place, std::string("negawatt"))->Arg(4)->Arg(64);
  benchmark::RegisterBenchmark("place/negawatt:plan=0", place, std::string("negawatt:plan=0"))
      ->Arg(16);
  benchmark::RegisterBenchmark("place/negawatt:nodes=3", place, std::string("negawatt:nodes=3"))
      ->Arg(16);
}

BENCHMARK(marginal);
BENCHMARK(observe_length);
BENCHMARK(plan)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace negawatt::route

int main(int argc, char** argv) {
  negawatt::route::add_policies();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
