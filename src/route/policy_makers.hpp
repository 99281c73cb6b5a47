// SPDX-License-Identifier: Apache-2.0
//
// The lists from which make_policy() chooses, one for each file of policies. A maker reads its
// parameters and tells them what is wrong; make_policy() looks at their status afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "route/make_policy.hpp"
#include "route/parameters.hpp"
#include "route/policy.hpp"

namespace negawatt::route {

struct MakerContext {
  std::uint64_t seed = 0;
  const FleetFacts& fleet;

  /// Classes to learn about apart; at least one.
  [[nodiscard]] std::size_t classes() const;
  /// What `request_class` was promised.
  [[nodiscard]] static const Slo& slo_of(std::span<const Slo> slos, std::uint16_t request_class);
  /// The index of the device type that `key` names; refuses a name that is none.
  [[nodiscard]] std::optional<std::uint32_t> device_type(Parameters& parameters,
                                                         std::string_view key) const;
};

struct PolicyMaker {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(Parameters& parameters, const MakerContext& context);
};

/// Blind to cost: round-robin, random, least-connections, power-of-two, drain-rate.
[[nodiscard]] std::span<const PolicyMaker> load_policies();
/// By device type: all-on-one, input-threshold, output-threshold, both-thresholds.
[[nodiscard]] std::span<const PolicyMaker> type_policies();
/// By what a request costs or how long it takes: smallest-finish, lambda-cost, profile-table,
/// guessed-load, consolidation.
[[nodiscard]] std::span<const PolicyMaker> cost_policies();
/// Ours: negawatt, and clairvoyant, which knows the lengths of answers.
[[nodiscard]] std::span<const PolicyMaker> negawatt_policies();

}  // namespace negawatt::route
