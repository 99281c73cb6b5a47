// SPDX-License-Identifier: Apache-2.0
//
// trace::parse_switch_model on any bytes, and trace::parse_switch_latencies on the same: a change
// of clocks never costs less than nothing, and staying costs nothing.
#include "trace/switch_model.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.csv";
constexpr std::string_view kOption = "switch latency";

bool is_cost(trace::SwitchCost cost) {
  return cost.latency.is_finite() && cost.latency >= Seconds(0) && cost.energy.is_finite() &&
         cost.energy >= Joules(0);
}

void check_domain(const trace::DomainSwitch& domain) {
  require(is_cost(domain.any), "a cost is finite and not negative");
  for (const auto& target : domain.targets) {
    require(is_cost(target.cost), "a target's cost is finite and not negative");
    const auto found = domain.to(target.clock);
    require(found.latency == target.cost.latency && found.energy == target.cost.energy,
            "a target's cost is found by its clock");
  }
  const auto not_increasing = [](const auto& a, const auto& b) { return a.clock >= b.clock; };
  require(std::ranges::adjacent_find(domain.targets, not_increasing) == domain.targets.end(),
          "targets are sorted, and none is there twice");
}

void check_model(const trace::SwitchModel& model) {
  check_domain(model.core);
  check_domain(model.memory);
  const std::array<trace::ClockPair, 3> pairs = {
      {{}, {trace::Clock::locked_mhz(1410), {}}, {{}, trace::Clock::locked_mhz(5001)}}};
  for (const auto& from : pairs) {
    const auto none = model.change(from, from);
    require(none.latency == Seconds(0) && none.energy == Joules(0), "staying costs nothing");
    for (const auto& to : pairs) require(!(model.change(from, to).latency < Seconds(0)), "no gain");
  }
}

}  // namespace

bool accepts(std::string_view bytes) {
  if (const auto latencies = trace::parse_switch_latencies(bytes)) {
    check_model(*latencies);
  } else {
    refused(latencies.error(), kOption);
  }
  const auto model = trace::parse_switch_model(bytes, kFile);
  require_same_outcome(model, trace::parse_switch_model(bytes, kFile));
  if (!model) return refused(model.error(), kFile);
  check_model(*model);
  return true;
}

}  // namespace negawatt::fuzz
