// SPDX-License-Identifier: Apache-2.0
#include "route/make_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/text.hpp"
#include "route/parameters.hpp"
#include "route/policy_makers.hpp"

namespace negawatt::route {
namespace {

std::vector<PolicyMaker> all_makers() {
  std::vector<PolicyMaker> all;
  for (const auto list : {load_policies(), type_policies(), cost_policies(), negawatt_policies()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const PolicyMaker& maker : all_makers()) names.push_back(maker.name);
  return names;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view spec, std::uint64_t seed,
                                            const FleetFacts& fleet) {
  NW_TRY(Parameters parameters, Parameters::parse(spec));
  for (const PolicyMaker& maker : all_makers()) {
    if (maker.name != parameters.name()) continue;
    auto policy = maker.make(parameters, {seed, fleet});
    NW_CHECK(parameters.status());
    return policy;
  }
  return failure(Code::invalid,
                 fmt::format("there is no policy '{}', expected one of {}",
                             printable(parameters.name()), fmt::join(policy_names(), ", ")));
}

PolicyKind policy_kind(std::string_view spec) {
  auto parameters = Parameters::parse(spec);
  if (!parameters) return PolicyKind::work;
  const auto& name = parameters->name();
  if (name == "clairvoyant" || parameters->number("known", {0.0, 1.0}, 0.0) > 0.5)
    return PolicyKind::clairvoyant;
  if (name == "all-on-one") return PolicyKind::one_device;
  const auto is_named = [&name](const PolicyMaker& maker) { return maker.name == name; };
  return std::ranges::any_of(load_policies(), is_named) ? PolicyKind::load : PolicyKind::work;
}

std::size_t MakerContext::classes() const {
  constexpr std::size_t kMostClasses = 64;  // about a quarter of a megabyte each
  return std::clamp<std::size_t>(fleet.slos.size(), 1, kMostClasses);
}

const Slo& MakerContext::slo_of(std::span<const Slo> slos, std::uint16_t request_class) {
  static constexpr Slo kNothing{};
  if (slos.empty()) return kNothing;
  return slos[std::min<std::size_t>(request_class, slos.size() - 1)];
}

std::optional<std::uint32_t> MakerContext::device_type(Parameters& parameters,
                                                       std::string_view key) const {
  const std::string_view name = parameters.text(key);
  if (name.empty()) return std::nullopt;
  std::vector<std::string_view> names;
  for (const DeviceType& type : fleet.device_types) {
    if (type.name == name) return static_cast<std::uint32_t>(names.size());
    names.emplace_back(type.name);
  }
  parameters.refuse(key, fmt::format("one of {}", fmt::join(names, ", ")));
  return std::nullopt;
}

}  // namespace negawatt::route
