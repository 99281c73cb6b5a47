// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_inputs.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "cli/files.hpp"
#include "cli/request_file.hpp"
#include "sim/energy_bound.hpp"
#include "sim/energy_meter.hpp"
#include "sim/simulate.hpp"
#include "sim/trace_source.hpp"
#include "trace/generator.hpp"

namespace negawatt::cli {
namespace {

constexpr std::size_t kMostCases = 100'000;
/// Beyond it arrivals would all be one, or so far apart that their times lose their fractions.
constexpr double kMostSpeed = 1e6;

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
  if (!a.request_format.empty())
    return failure(Code::invalid,
                   fmt::format("--format is of traces, and {} makes requests up", a.requests));
  NW_TRY(const auto bytes, read_input(a.requests));
  mix(inputs.fingerprint, bytes);
  NW_TRY(auto description,
         sim::parse_workload(bytes, a.requests, beside(a.requests, inputs.fingerprint)));
  inputs.classes = std::move(description.classes);
  inputs.requests = std::move(description.workload);
  return {};
}

/// The text with every `from` in place of which one of `to` stands, or the text alone.
std::vector<std::string> expanded(const std::string& text, std::string_view from,
                                  const std::vector<std::string>& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) return {text};
  std::vector<std::string> texts;
  texts.reserve(to.size());
  for (const auto& each : to) texts.push_back(std::string(text).replace(at, from.size(), each));
  return texts;
}

/// Policies of one cluster as they are to be made, every lambda=* and device=* replaced.
Result<std::vector<SimulateCase>> policies_of(const SimulateArguments& a,
                                              const ClusterInputs& cluster) {
  auto asked = a.policies;
  const auto& own = cluster.description.policy;
  if (asked.empty()) asked.push_back(own.empty() ? "negawatt" : own);
  std::vector<std::string> devices;
  devices.reserve(cluster.description.device_types.size());
  for (const auto& type : cluster.description.device_types)
    devices.push_back("device=" + type.name);
  constexpr std::string_view kAnyLambda = "lambda=*";
  std::vector<SimulateCase> policies;
  for (const auto& text : asked)
    for (const auto& policy : expanded(text, "device=*", devices)) {
      const auto at = policy.find(kAnyLambda);
      if (at == std::string::npos) {
        policies.push_back({.policy = policy});
        continue;
      }
      if (a.lambdas.empty())
        return failure(Code::invalid, "lambda=* of a policy needs --lambda with its values");
      for (const double lambda : a.lambdas) {
        policies.push_back({.policy = policy, .family = policy, .lambda = lambda});
        policies.back().policy.replace(at, kAnyLambda.size(), fmt::format("lambda={}", lambda));
      }
    }
  return policies;
}

Result<ClusterInputs> read_cluster(const std::string& file, std::uint64_t& fingerprint) {
  NW_TRY(const auto bytes, read_input(file));
  mix(fingerprint, bytes);
  ClusterInputs cluster{.file = file};
  NW_TRY(cluster.description, sim::parse_cluster(bytes, file, beside(file, fingerprint)));
  return cluster;
}

/// What is asked for of several clusters, and which of it some of them can have.
class Possible {
 public:
  explicit Possible(const SimulateInputs& inputs) : inputs_(inputs) {}

  /// Whether `one` can be made; else that it cannot is kept for refused().
  bool can_be(const SimulateCase& one) {
    const auto& cluster = inputs_.clusters[one.cluster];
    const auto made = route::make_policy(one.policy, one.seed, cluster.facts);
    if (made) {
      made_.insert(one.policy);
    } else {
      refused_.emplace_back(one, made.error());
    }
    return made.has_value();
  }
  /// Fails on the first policy that no cluster can have; notes the others.
  [[nodiscard]] Status refused() const {
    for (const auto& [one, error] : refused_)
      if (!made_.contains(one.policy)) return tl::unexpected(error);
    for (const auto& [one, error] : refused_)
      std::fprintf(stderr, "negawatt: note: not simulated on %s: %s\n",
                   inputs_.clusters[one.cluster].file.c_str(), error.message.c_str());
    return {};
  }

 private:
  const SimulateInputs& inputs_;
  std::set<std::string> made_;
  std::vector<std::pair<SimulateCase, Error>> refused_;
};

}  // namespace

Result<SimulateInputs> read_simulate_inputs(const SimulateArguments& arguments) {
  SimulateInputs inputs{.requests_name = arguments.requests, .fingerprint = 0xCBF29CE484222325U};
  for (const auto& file : arguments.clusters) {
    NW_TRY(auto cluster, read_cluster(file, inputs.fingerprint));
    inputs.clusters.push_back(std::move(cluster));
  }
  if (arguments.requests.ends_with(".toml"))
    NW_CHECK(read_workload(arguments, inputs));
  else
    NW_CHECK(read_trace(arguments, inputs));
  for (auto& [file, description, facts] : inputs.clusters) {
    auto slos = sim::slos_of(description, inputs.classes);
    if (!slos) return failure(slos.error().code, fmt::format("{}: {}", file, slos.error().message));
    description.cluster.slos = *std::move(slos);
    facts = sim::fleet_facts(description, description.cluster.slos);
  }
  return inputs;
}

Result<std::vector<SimulateCase>> simulate_cases(const SimulateArguments& arguments,
                                                 const SimulateInputs& inputs) {
  const auto speeds = arguments.speeds.empty() ? std::vector{1.0} : arguments.speeds;
  const auto seeds = arguments.seeds.empty() ? std::vector<std::uint64_t>{1} : arguments.seeds;
  for (const double speed : speeds)
    if (!(speed >= 1.0 / kMostSpeed && speed <= kMostSpeed))
      return failure(Code::invalid, fmt::format("--speed is {}, expected numbers from {} to {}",
                                                speed, 1.0 / kMostSpeed, kMostSpeed));
  std::vector<SimulateCase> cases;
  Possible possible(inputs);
  bool varies_lambda = false;
  for (std::size_t cluster = 0; cluster < inputs.clusters.size(); ++cluster) {
    NW_TRY(const auto policies, policies_of(arguments, inputs.clusters[cluster]));
    if (cases.size() + policies.size() * speeds.size() * seeds.size() > kMostCases)
      return failure(Code::invalid, fmt::format("more than {} simulations", kMostCases));
    for (auto one : policies) {
      one.cluster = cluster;
      varies_lambda |= !one.family.empty();
      if (!possible.can_be(one)) continue;  // before hours of work
      for (const double speed : speeds)
        for (const auto seed : seeds) {
          one.speed = speed;
          one.seed = seed;
          cases.push_back(one);
        }
    }
  }
  if (!arguments.lambdas.empty() && !varies_lambda)
    return failure(Code::invalid, "--lambda is given, but no policy has lambda=* for it");
  NW_CHECK(possible.refused());
  std::set<std::tuple<std::size_t, std::string, double, std::uint64_t>> known;
  std::erase_if(cases, [&known](const SimulateCase& one) {  // device=* may name what was named
    return !known.emplace(one.cluster, one.policy, one.speed, one.seed).second;
  });
  return cases;
}

Result<sim::SimulationResult> simulate_case(const SimulateInputs& inputs, const SimulateCase& one) {
  const auto start = std::chrono::steady_clock::now();
  const auto& [file, description, facts] = inputs.clusters[one.cluster];
  NW_TRY(auto policy, route::make_policy(one.policy, one.seed, facts));
  std::unique_ptr<trace::RequestSource> source;
  if (const auto* trace = std::get_if<trace::RequestTrace>(&inputs.requests))
    source = std::make_unique<sim::TraceSource>(trace->requests);
  else
    source = trace::generate(std::get<trace::Workload>(inputs.requests), one.seed);
  sim::SpedUp requests(std::move(source), one.speed);
  const auto& cluster = description.cluster;
  sim::SimulationResult result{.cluster = &cluster,
                               .cluster_name = file,
                               .energy = sim::EnergyMeter(cluster),
                               .policy = one.policy,
                               .seed = one.seed,
                               .speed = one.speed,
                               .classes = inputs.classes,
                               .requests_name = inputs.requests_name,
                               .sources = description.sources};
  sim::EnergyBound bound(cluster);
  sim::Observer* observers[] = {&result.energy, &bound};
  NW_TRY(result.outcome, sim::simulate(cluster, requests, *policy,
                                       {.observers = observers,
                                        .clairvoyant = route::policy_kind(one.policy) ==
                                                       route::PolicyKind::clairvoyant}));
  result.bound = bound.joules();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  result.wall = Seconds(elapsed.count());
  return result;
}

}  // namespace negawatt::cli
