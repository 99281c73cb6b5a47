// SPDX-License-Identifier: Apache-2.0
//
// The words of `negawatt assign`: policies, capacities and thresholds as they are typed. Pure; a
// word that means nothing is an error `invalid` that says what was expected.
#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "core/result.hpp"
#include "plan/assign.hpp"

namespace negawatt::cli {

[[nodiscard]] Result<plan::AssignRequest> assign_request_of(const AssignArguments& arguments);

}  // namespace negawatt::cli
