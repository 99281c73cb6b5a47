// SPDX-License-Identifier: Apache-2.0
//
// The transportation problem as a linear program for CLP, an independent solver: its optimum is
// that of the integral problem too. None: there is no solution.
#pragma once

#include <optional>

#include "solve/transport.hpp"

namespace negawatt::testing {

[[nodiscard]] std::optional<double> least_cost_by_clp(const solve::TransportProblem& problem);

}  // namespace negawatt::testing
