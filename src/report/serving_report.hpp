// SPDX-License-Identifier: Apache-2.0
//
// Policies that served the same requests on a simulated cluster, side by side. Everything is
// simulated from modelled devices; times are in seconds, energies in joules. Pure: text out,
// nothing opened; names from the user's files are escaped for the place they go to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace negawatt::report {

/// The shares of values for which latencies are given, rising.
inline constexpr std::array kQuantileShares = {
    0.0,  0.05, 0.1,   0.2,   0.3,   0.4,  0.5,   0.6,   0.7,   0.8,   0.85,   0.9,
    0.93, 0.95, 0.965, 0.975, 0.985, 0.99, 0.993, 0.995, 0.997, 0.998, 0.9985, 0.999};
inline constexpr std::size_t kP50 = 6;
inline constexpr std::size_t kP90 = 11;
inline constexpr std::size_t kP99 = 17;
static_assert(kQuantileShares[kP50] == 0.5 && kQuantileShares[kP90] == 0.9 &&
              kQuantileShares[kP99] == 0.99);

/// One kind of latency of a run; without values, all is 0.
struct ServedLatency {
  std::uint64_t count = 0;
  Seconds mean;
  std::array<Seconds, kQuantileShares.size()> quantiles{};
};

/// What one serving instance did.
struct ServedInstance {
  std::string name;
  std::string device_type;
  std::uint64_t requests = 0;  ///< whose last token was produced here
  std::uint64_t tokens = 0;    ///< computed: prompts and answers
  Joules energy;
};

/// What the requests of one class met.
struct ServedClass {
  std::string name;
  std::uint64_t requests = 0;
  std::optional<double> attainment;  ///< of its SLO, as a share; none: it has none
  std::optional<Seconds> p99;        ///< to the last token; none: none was served
};

/// What a policy goes by: the load of instances, one device type, the work, or more than it can
/// know (the length of an answer before it is there).
enum class ServingPolicyKind : unsigned char { load, one_device, work, clairvoyant };

/// One simulation.
struct ServedRun {
  std::size_t cluster = 0;  ///< index into ServingReport::clusters
  std::string policy;
  std::string family;  ///< the policy with lambda=* for its lambda; empty when none was varied
  double lambda = 0.0;
  ServingPolicyKind kind = ServingPolicyKind::work;
  std::string device;  ///< of kind one_device: what served everything
  double speed = 1.0;  ///< requests arrive so many times as fast
  std::uint64_t seed = 0;

  std::uint64_t requests = 0;
  std::uint64_t completed = 0;
  std::uint64_t output_tokens = 0;
  Joules energy;                     ///< everything that was drawn
  Joules idle;                       ///< of it, while no step ran: idle, asleep, starting
  Joules above_idle;                 ///< of it, above the idle power of busy instances
  Joules bound;                      ///< no policy needs less for the completed requests
  std::optional<double> attainment;  ///< of the SLO, as a share; none: no class has one
  ServedLatency ttft;                ///< to the first token
  ServedLatency tbt;                 ///< every gap between two tokens
  ServedLatency e2e;                 ///< to the last token
  bool is_overloaded = false;        ///< at the last arrival more waited than fit into all batches
  std::vector<ServedInstance> instances;
  std::vector<ServedClass> classes;  ///< the same ones in every run
};

struct ServingCluster {
  std::string name;
  std::string composition;  ///< "1 h100, 4 l4"
  std::string sources;      ///< of its devices, and what they were checked against
};

/// What the page is made from: at least one run, in the order of policies to show, and the clusters
/// they ran on. Runs that differ in their seed alone are one row: mean energy, least SLO
/// attainment, longest latencies.
struct ServingReport {
  const std::vector<ServedRun>& runs;
  const std::vector<ServingCluster>& clusters;
  std::string requests_name;
  bool are_requests_made_up = false;
  double demanded = 0.99;  ///< share of requests that must meet their SLO for a policy to count
  std::string command;
  std::string version;
};

/// One self-contained HTML page.
[[nodiscard]] std::string serving_html(const ServingReport& report);

}  // namespace negawatt::report
