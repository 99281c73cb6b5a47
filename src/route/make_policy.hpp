// SPDX-License-Identifier: Apache-2.0
//
// Makes a policy from its name and parameters: NAME or NAME:KEY=VALUE,KEY=VALUE, for example
// "input-threshold:tokens=32,small=m1-pro,large=a100". What each is and takes: docs/policies.md.
// Fails on an unknown name, listing the names, and on parameters that a policy does not take or
// that are out of range.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "route/policy.hpp"

namespace negawatt::route {

/// What a class of requests was promised; 0: nothing.
struct Slo {
  Seconds time_to_first_token;
  Seconds time_between_tokens;  ///< mean over the answer
  Seconds time_to_completion;
};

struct DeviceType {
  std::string name;
  Watts busy_power;  ///< of one instance: tells small from large where nothing else does
};

/// What is known of a fleet before the first request.
struct FleetFacts {
  std::vector<DeviceType> device_types;  ///< by InstanceView::device_type
  std::vector<std::string> instances;    ///< names, in the order of the views
  std::vector<Slo> slos;                 ///< by class; the last one counts for those behind it
};

[[nodiscard]] Result<std::unique_ptr<Policy>> make_policy(std::string_view spec, std::uint64_t seed,
                                                          const FleetFacts& fleet);

/// What a policy goes by when it places a request.
enum class PolicyKind : unsigned char {
  load,        ///< how busy instances are; nothing of the request or of what it costs
  one_device,  ///< nothing: one device type, or one instance, takes all
  work,        ///< the request, and what it costs where
  clairvoyant  ///< the length of the answer too, which nobody knows when a request arrives
};
/// Of a `spec` that make_policy() accepts.
[[nodiscard]] PolicyKind policy_kind(std::string_view spec);

/// Every name that make_policy() knows, in the order of the documentation.
[[nodiscard]] std::vector<std::string_view> policy_names();

}  // namespace negawatt::route
