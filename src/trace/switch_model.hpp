// SPDX-License-Identifier: Apache-2.0
//
// What it takes to change clocks on one GPU: a latency per domain (core, memory) between the
// request and the moment it takes effect, during which the old clocks hold, and optionally an
// energy per change. Both may depend on the target clock.
#pragma once

#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/clocks.hpp"

namespace negawatt::trace {

struct SwitchCost {
  Seconds latency;
  Joules energy;
};

/// One domain: the cost of a change to any clock, and targets that differ from it.
struct DomainSwitch {
  struct Target {
    Clock clock;
    SwitchCost cost;
  };
  SwitchCost any;
  std::vector<Target> targets;  ///< sorted by clock, no clock twice

  [[nodiscard]] SwitchCost to(Clock target) const;
};

struct SwitchModel {
  DomainSwitch core;
  DomainSwitch memory;

  /// Both domains are asked at once: the later one decides the latency, energies add up.
  /// Nothing changes, nothing costs.
  [[nodiscard]] SwitchCost change(ClockPair from, ClockPair to) const;
};

/// "core=0.006,memory=0.015", seconds; a domain left out costs nothing.
[[nodiscard]] Result<SwitchModel> parse_switch_latencies(std::string_view text);

/// CSV `domain,target_mhz,latency_s[,energy_j]`, target_mhz a frequency, `auto`, or `any`.
[[nodiscard]] Result<SwitchModel> parse_switch_model(std::string_view bytes, std::string_view file);

}  // namespace negawatt::trace
