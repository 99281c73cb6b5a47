// SPDX-License-Identifier: Apache-2.0
//
// What the charts of the page draw, as JSON for its script: points of the frontier chart, joules
// by group and kernel, lanes of the time axis. Bounded in size; names are made printable.
#pragma once

#include <string>
#include <vector>

#include "report/iteration.hpp"
#include "report/lanes.hpp"

namespace negawatt::report {

/// ASCII JSON, safe to stand inside a <script> element.
[[nodiscard]] std::string page_data(const ClockReport& report, const std::vector<KernelUse>& uses,
                                    const Iteration& iteration);

}  // namespace negawatt::report
