// SPDX-License-Identifier: Apache-2.0
//
// What `negawatt simulate` works on: clusters with everything their files name, and the requests,
// read or made up. Read once, shared by all simulations, which may run at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cli/arguments.hpp"
#include "core/result.hpp"
#include "route/make_policy.hpp"
#include "sim/cluster_file.hpp"
#include "sim/result.hpp"
#include "sim/workload_file.hpp"
#include "trace/request.hpp"

namespace negawatt::cli {

/// A cluster with everything its file names.
struct ClusterInputs {
  std::string file;
  sim::ClusterDescription description;
  route::FleetFacts facts;
};

struct SimulateInputs {
  std::vector<ClusterInputs> clusters;  ///< at least one
  std::variant<trace::RequestTrace, trace::Workload> requests;
  std::vector<std::string> classes;
  std::string requests_name;
  std::uint64_t fingerprint = 0;  ///< of all bytes that were read
};

[[nodiscard]] Result<SimulateInputs> read_simulate_inputs(const SimulateArguments& arguments);

/// One simulation of several.
struct SimulateCase {
  std::string policy;
  double speed = 1.0;
  std::uint64_t seed = 1;
  std::size_t cluster = 0;  ///< index into the inputs'
  std::string family;       ///< the policy as it was asked for, when it had lambda=*; else empty
  double lambda = 0.0;
};

[[nodiscard]] Result<sim::SimulationResult> simulate_case(const SimulateInputs& inputs,
                                                          const SimulateCase& one);

/// Every combination of what was asked for, in order of cluster, policy, speed, seed. A policy that
/// some of several clusters cannot have (a device type is missing) is left out there, with a note.
[[nodiscard]] Result<std::vector<SimulateCase>> simulate_cases(const SimulateArguments& arguments,
                                                               const SimulateInputs& inputs);

}  // namespace negawatt::cli
