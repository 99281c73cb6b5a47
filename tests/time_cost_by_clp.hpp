// SPDX-License-Identifier: Apache-2.0
//
// The time-cost trade-off as one linear program, solved by CLP: an independent answer to hold ours
// against. Every activity mixes its options; CLP keeps rows to about 1e-7.
#pragma once

#include <optional>

#include "core/units.hpp"
#include "solve/time_cost.hpp"

namespace negawatt::testing {

/// Least energy of `project` within `deadline`; nothing when CLP finds no optimum.
std::optional<Joules> least_energy_by_clp(const solve::Project& project, Seconds deadline);

}  // namespace negawatt::testing
