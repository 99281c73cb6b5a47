// SPDX-License-Identifier: Apache-2.0
//
// What the policies negawatt and clairvoyant are told at their start: docs/policies.md. Wrong
// parameters are told to `parameters`, whose status the caller looks at.
#pragma once

#include <span>
#include <string_view>

#include "core/units.hpp"
#include "route/flow.hpp"
#include "route/make_policy.hpp"
#include "route/policy_makers.hpp"
#include "route/request_cost.hpp"

namespace negawatt::route {

struct NegawattSettings {
  std::string_view name;
  double lambda = 1.0;   ///< of energy; the rest is of time
  double joules = 1.0;   ///< energies are divided by it
  double seconds = 1.0;  ///< times are divided by it
  Seconds patience;      ///< for a turn, where nothing was promised; and of the prices
  double miss = 0.01;    ///< share of requests that may miss any of their promises
  int nodes = 1;         ///< lengths at which the expected cost is taken
  Residuals residuals = Residuals::memoryless;
  bool plan = true;  ///< requests go where the plan of the fleet wants them, if they can
};

[[nodiscard]] NegawattSettings read_settings(std::string_view name, Parameters& parameters,
                                             const MakerContext& context);

/// The shortest time that was promised to any class; 0: none.
[[nodiscard]] Seconds tightest(std::span<const Slo> slos, Seconds Slo::* promise);

/// What may be missed of each promise so that no more than `miss` miss any of them (union bound).
[[nodiscard]] double miss_of_each(std::span<const Slo> slos, double miss);

/// Each promise as the class has it that was promised most; a first token within `patience` where
/// nobody was promised one.
[[nodiscard]] FlowPromise tightest_promise(std::span<const Slo> slos,
                                           const NegawattSettings& settings);

}  // namespace negawatt::route
