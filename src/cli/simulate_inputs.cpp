// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_inputs.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

#include "cli/files.hpp"
#include "cli/request_file.hpp"
#include "sim/energy_bound.hpp"
#include "sim/energy_meter.hpp"
#include "sim/simulate.hpp"
#include "sim/trace_source.hpp"
#include "trace/generator.hpp"

namespace negawatt::cli {
namespace {

constexpr std::string_view kClairvoyant = "clairvoyant";
constexpr std::size_t kMostCases = 100'000;

/// FNV-1a (Fowler, Noll, Vo): enough to tell inputs apart that differ by accident.
void mix(std::uint64_t& fingerprint, std::string_view bytes) {
  for (const char byte : bytes) {
    fingerprint ^= static_cast<unsigned char>(byte);
    fingerprint *= 0x100000001B3U;
  }
}

/// Reads files that `file` names, relative to where it lies.
sim::ReadFile beside(const std::string& file, std::uint64_t& fingerprint) {
  const auto slash = file.rfind('/');
  const auto folder = slash == std::string::npos ? std::string() : file.substr(0, slash + 1);
  return [folder, &fingerprint](const std::string& name) -> Result<std::string> {
    NW_TRY(auto bytes, read_input(name.starts_with('/') ? name : folder + name));
    mix(fingerprint, bytes);
    return bytes;
  };
}

void mix(std::uint64_t& fingerprint, const trace::Request& request) {
  mix(fingerprint, fmt::format("{} {} {} {} {};", request.arrival.in_si(), request.input_tokens,
                               request.output_tokens, request.request_class, request.priority));
}

Status read_trace(const SimulateArguments& a, SimulateInputs& inputs) {
  NW_TRY(auto trace, load_requests(a.requests, a.request_format));
  note_simultaneous(trace);
  if (!trace.has_arrivals)
    std::fprintf(stderr, "negawatt: note: %s has lengths only; all requests arrive at 0\n",
                 trace.name.c_str());
  for (const auto& request : trace.requests) mix(inputs.fingerprint, request);
  inputs.classes = trace.classes;
  inputs.requests = std::move(trace);
  return {};
}

Status read_workload(const SimulateArguments& a, SimulateInputs& inputs) {
  NW_TRY(const auto bytes, read_input(a.requests));
  mix(inputs.fingerprint, bytes);
  NW_TRY(auto description,
         sim::parse_workload(bytes, a.requests, beside(a.requests, inputs.fingerprint)));
  inputs.classes = std::move(description.classes);
  inputs.requests = std::move(description.workload);
  return {};
}

/// Policies as they are to be made, every lambda=* replaced.
Result<std::vector<std::string>> policies_of(const SimulateArguments& a,
                                             const SimulateInputs& inputs) {
  auto asked = a.policies;
  const auto& own = inputs.description.policy;
  if (asked.empty()) asked.push_back(own.empty() ? "negawatt" : own);
  constexpr std::string_view kAny = "lambda=*";
  std::vector<std::string> policies;
  for (const auto& policy : asked) {
    const auto at = policy.find(kAny);
    if (at == std::string::npos) {
      policies.push_back(policy);
      continue;
    }
    if (a.lambdas.empty())
      return failure(Code::invalid, "lambda=* of a policy needs --lambda with its values");
    for (const double lambda : a.lambdas) {
      policies.push_back(policy);
      policies.back().replace(at, kAny.size(), fmt::format("lambda={}", lambda));
    }
  }
  return policies;
}

}  // namespace

Result<SimulateInputs> read_simulate_inputs(const SimulateArguments& arguments) {
  SimulateInputs inputs{.requests_name = arguments.requests, .fingerprint = 0xCBF29CE484222325U};
  NW_TRY(const auto cluster, read_input(arguments.cluster));
  mix(inputs.fingerprint, cluster);
  NW_TRY(inputs.description, sim::parse_cluster(cluster, arguments.cluster,
                                                beside(arguments.cluster, inputs.fingerprint)));
  if (arguments.requests.ends_with(".toml"))
    NW_CHECK(read_workload(arguments, inputs));
  else
    NW_CHECK(read_trace(arguments, inputs));
  NW_TRY(inputs.description.cluster.slos, sim::slos_of(inputs.description, inputs.classes));
  inputs.facts = sim::fleet_facts(inputs.description, inputs.description.cluster.slos);
  return inputs;
}

Result<std::vector<SimulateCase>> simulate_cases(const SimulateArguments& arguments,
                                                 const SimulateInputs& inputs) {
  NW_TRY(const auto policies, policies_of(arguments, inputs));
  const auto speeds = arguments.speeds.empty() ? std::vector{1.0} : arguments.speeds;
  const auto seeds = arguments.seeds.empty() ? std::vector<std::uint64_t>{1} : arguments.seeds;
  for (const double speed : speeds)
    if (!(std::isfinite(speed) && speed > 0.0))
      return failure(Code::invalid, fmt::format("--speed is {}, expected numbers above 0", speed));
  if (policies.size() * speeds.size() * seeds.size() > kMostCases)
    return failure(Code::invalid, fmt::format("more than {} simulations", kMostCases));
  std::vector<SimulateCase> cases;
  for (const auto& policy : policies) {
    NW_CHECK(route::make_policy(policy, seeds.front(), inputs.facts));  // before hours of work
    for (const double speed : speeds)
      for (const auto seed : seeds) cases.push_back({policy, speed, seed});
  }
  return cases;
}

Result<sim::SimulationResult> simulate_case(const SimulateInputs& inputs, const SimulateCase& one) {
  const auto start = std::chrono::steady_clock::now();
  NW_TRY(auto policy, route::make_policy(one.policy, one.seed, inputs.facts));
  std::unique_ptr<trace::RequestSource> source;
  if (const auto* trace = std::get_if<trace::RequestTrace>(&inputs.requests)) {
    source = std::make_unique<sim::TraceSource>(trace->requests, one.speed);
  } else {
    auto workload = std::get<trace::Workload>(inputs.requests);
    sim::speed_up(workload, one.speed);
    source = trace::generate(workload, one.seed);
  }
  const auto& cluster = inputs.description.cluster;
  sim::SimulationResult result{.cluster = &cluster,
                               .energy = sim::EnergyMeter(cluster),
                               .policy = one.policy,
                               .seed = one.seed,
                               .classes = inputs.classes,
                               .requests_name = inputs.requests_name,
                               .sources = inputs.description.sources};
  sim::EnergyBound bound(cluster);
  sim::Observer* observers[] = {&result.energy, &bound};
  NW_TRY(result.outcome,
         sim::simulate(cluster, *source, *policy,
                       {.observers = observers, .clairvoyant = policy->name() == kClairvoyant}));
  result.bound = bound.joules();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  result.wall = Seconds(elapsed.count());
  return result;
}

}  // namespace negawatt::cli
