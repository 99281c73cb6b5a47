// SPDX-License-Identifier: Apache-2.0
//
// Reads the description of a cluster from TOML (docs/formats.md says every key, data/clusters has
// examples). It names files of devices and architectures, which the caller reads: this room opens
// none. Fails, naming file and line, on an unknown key (with the nearest known one), a missing one,
// a value that cannot be, and a model that does not fit its device.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "route/make_policy.hpp"
#include "sim/cluster.hpp"

namespace negawatt::sim {

/// The bytes of a file whose name stands in the description.
using ReadFile = std::function<Result<std::string>(const std::string& name)>;

/// A class of requests by its name; the class "*" is every class that is not named.
struct NamedSlo {
  std::string request_class;
  Slo slo;
};

struct ClusterDescription {
  Cluster cluster;  ///< without slos: the classes of the requests are not known yet
  std::vector<NamedSlo> slos;
  std::vector<route::DeviceType> device_types;
  std::string policy;   ///< how make_policy() is to make it; empty when the file does not say
  std::string sources;  ///< of devices and models, what they were checked against: one line
};

[[nodiscard]] Result<ClusterDescription> parse_cluster(std::string_view bytes,
                                                       std::string_view file, const ReadFile& read);

/// The SLO of each of `classes`, in their order. Fails on one of a class that there is not.
[[nodiscard]] Result<std::vector<Slo>> slos_of(const ClusterDescription& description,
                                               std::span<const std::string> classes);

/// What policies are told of the cluster.
[[nodiscard]] route::FleetFacts fleet_facts(const ClusterDescription& description,
                                            std::span<const Slo> slos);

}  // namespace negawatt::sim
